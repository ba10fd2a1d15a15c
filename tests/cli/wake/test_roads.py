"""A ball notifies its person, or wakes its agent, once, by whatever road it comes."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.cli.claims.test_claims_between_clones import Clones
from tests.cli.notify.receiver import Receiver
from tests.cli.wake.test_waiting import Agents, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Repo

AGENT, PERSON = "Claude Code@fix (pat)", "Pat"
# A thread for each of them.
BALLS = {"for-agent": AGENT, "for-person": PERSON}
CODEX = ("--as", "Codex", "--force")
BACKGROUND = {"WATERCOOLER_SYNC": "background"}
SECONDS = 15.0
# Long enough for a second call.
AFTERWARDS = 1.0


class Play(NamedTuple):
    """Two clones; in Pat's, a person with a webhook and an agent in a worktree."""

    clones: Clones
    agents: Agents
    receiver: Receiver

    @property
    def pat(self) -> Repo:
        return self.agents.repo

    def ok(self, *words: str) -> None:
        self.pat.ok(*words, env=BACKGROUND)

    def send(self) -> None:
        """Sam passes the balls, and shares them."""
        for topic, holder in BALLS.items():
            self.clones.sam.ok("new", topic, "--title", "T", "--to", holder, *CODEX)
        self.clones.sam.ok("sync")


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    clones = Clones(tmp_path)
    pat = clones.pat
    agents = Agents(pat, pat.worktree("fix").path, pat.store)
    receiver = Receiver(tmp_path)
    config = ("config", "--global", "set")
    pat.ok(*config, "notify.command", receiver.command)
    pat.ok(*config, "wake.from", "anyone")
    # Balls from before that are nobody's news.
    pat.ok("sync", env=BACKGROUND)
    yield Play(clones, agents, receiver)
    for waiter in (agents.private / "waiters").glob("*:*"):
        waiter.unlink()  # ends what waits


def write(play: Play) -> Iterator[None]:
    yield
    for topic, holder in BALLS.items():
        play.ok("new", topic, "--title", "T", "--to", holder, *CODEX)


def sync(play: Play) -> Iterator[None]:
    play.send()
    yield
    play.ok("sync")


def watch(play: Play) -> Iterator[None]:
    watching = subprocess.Popen(
        [*play.pat.machine.wc_words, "sync", "--watch", "--every", "1"],
        cwd=play.pat.path,
        env=play.pat.machine.env | BACKGROUND,
        stdout=subprocess.DEVNULL,
    )
    yield
    play.send()
    yield
    watching.terminate()
    watching.wait()


def fetch(play: Play) -> Iterator[None]:
    """Any command starts a fetch that is due."""
    play.send()
    yield
    long_ago = time.time() - 3600
    os.utime(play.agents.layout.sync_state, (long_ago, long_ago))
    (play.pat.store / "config.toml").write_text("[sync]\nfetch_every = 1\n")
    play.pat.ok("list", env=BACKGROUND)


def unblocked(play: Play) -> Iterator[None]:
    play.ok("new", "first", "--title", "T", "--to", "anyone", *CODEX)
    for topic, holder in BALLS.items():
        play.ok("new", topic, "--title", "T", "--to", holder, *CODEX)
        play.pat.ok("read", topic, "--as", holder)
        play.ok("link", topic, "waits-for", "first", *CODEX[:2])
    yield
    play.ok("close", "first", "--title", "T", *CODEX)


def answered(play: Play) -> Iterator[None]:
    """The answer passes the ball back."""
    for topic, asker in BALLS.items():
        play.ok("new", topic, "--title", "T", "--to", asker, *CODEX)
        asks = ("ask", topic, "--title", "Why?", "--to", "Codex", "--as", asker)
        play.ok(*asks, "--force")
        play.ok("handoff", topic, "--to", "Codex", "--as", asker, "--force")
    yield
    for topic, asker in BALLS.items():
        words = ("--answers", "1", "--title", "So", "--to", asker)
        play.ok("say", topic, *words, *CODEX)


ROADS = (write, sync, watch, fetch, unblocked, answered)


@pytest.mark.parametrize("road", ROADS)
def test_a_ball_calls_its_holder_once(
    play: Play, road: Callable[[Play], Iterator[None]]
) -> None:
    steps = road(play)
    next(steps)
    before = len(play.receiver.told)
    client = play.agents.wait().sleeps()
    next(steps, None)
    ended = client.ended()
    assert (ended.code, ended.out) == (2, "")
    assert "- for-agent · OPEN" in ended.err
    until(lambda: len(play.receiver.told) > before)
    # Nothing that happens later calls anyone again.
    play.ok("sync")
    again = play.agents.wait(stop_hook_active=True).sleeps()
    time.sleep(AFTERWARDS)
    assert again.waits
    again.end()
    called = [request.fields["topic"] for request in play.receiver.told[before:]]
    assert called == ["for-person"]
    next(steps, None)

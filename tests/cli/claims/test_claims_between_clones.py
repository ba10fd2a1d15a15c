"""Claims of two clones with one remote: leases, lost races, and offline."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.cli.claims.test_claim_races import race, start
from tests.conftest import Machine
from tests.contract.inprocess import Here
from tests.smart_http import http
from wc_cli.edits.claims import travel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


class Clones:
    """A remote, and two clones of it on two machines."""

    def __init__(self, root: Path, url: str = "") -> None:
        self.hub = root / "hub.git"
        machines = [Machine(root / name, name) for name in ("Pat", "Sam")]
        for machine in machines:
            machine.env["WATERCOOLER_SYNC"] = "inline"
        pat, sam = machines
        pat.git("init", "-q", "--bare", "-b", "main", str(self.hub), cwd=root)
        pat.git("config", "http.receivepack", "true", cwd=self.hub)
        self.pat = Here(pat, pat.repo().path)
        self.pat.git("remote", "add", "origin", url or str(self.hub))
        self.pat.git("push", "-q", "-u", "origin", "main")
        self.pat.ok("new", "auth", "--title", "Auth")
        self.pat.ok("sync")
        sam.git("clone", "-q", url or str(self.hub), "app", cwd=sam.root)
        self.sam = Here(sam, sam.root / "app")
        self.sam.ok("sync")

    def refs(self, pattern: str = "refs/wc/claims") -> dict[str, str]:
        """The refs of the remote."""
        words = ("for-each-ref", "--format=%(refname) %(objectname)", pattern)
        lines = self.pat.machine.git(*words, cwd=self.hub).splitlines()
        pairs = (line.partition(" ") for line in lines)
        return {name: oid for name, _, oid in pairs}

    def hook(self, name: str, text: str) -> None:
        """Let the remote run a hook."""
        path = self.hub / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


def holders(repo: Here) -> dict[str, str]:
    return {claim["id"]: claim["holder"] for claim in repo.json("claims")["claims"]}


def commit(repo: Here, text: str = "more") -> str:
    """A commit on the branch of a clone."""
    with (repo.path / "code.txt").open("a") as file:
        file.write(f"{text}\n")
    repo.git("commit", "-qam", text)
    return repo.git("rev-parse", "HEAD")


def test_a_claim_holds_in_the_other_clone(clones: Clones) -> None:
    clones.pat.ok("claim", "src/a.py", *CODEX)
    problem = clones.sam.fails(20, "claim", "free.py", "src", *GEMINI)
    assert "Codex (Pat) edits src/a.py" in problem
    assert holders(clones.sam) == {"src/a.py": "Codex (Pat)"}
    clones.pat.ok("release", "src/a.py", *CODEX)
    assert clones.refs() == {}
    clones.sam.ok("claim", "src", *GEMINI)
    clones.pat.ok("sync")
    assert holders(clones.pat) == {"src": "Gemini CLI (Sam)"}


def test_the_remote_has_what_this_clone_has(clones: Clones) -> None:
    clones.pat.ok("claim", "a.py", "b.py", *CODEX)
    clones.pat.ok("claim", "a.py", *CODEX)
    words = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/wc/claims")
    own = dict(line.split(" ") for line in clones.pat.git(*words).splitlines())
    assert own == clones.refs()
    clones.pat.git("gc", "--quiet", "--prune=now")
    clones.pat.ok("claim", "c.py", *CODEX)
    assert len(clones.refs()) == 3


def test_who_claims_between_our_look_and_our_push_wins(clones: Clones) -> None:
    """A folder and a file in it are two refs: the turn tells that there was another."""
    clones.sam.ok("claim", "other.py", *GEMINI)
    flag = clones.hub / "once"
    words = f"cd {clones.sam.path} && {faster(clones)} claim src --as Gemini"
    # The hook runs when Pat pushes, before git looks at what the refs are.
    clones.hook(
        "pre-receive",
        f"[ -e {flag} ] && exit 0; touch {flag}; unset GIT_DIR GIT_QUARANTINE_PATH "
        f"GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES; {words} >&2",
    )
    problem = clones.pat.fails(20, "claim", "src/a.py", *CODEX)
    assert "Gemini CLI (Sam) edits src" in problem
    assert holders(clones.pat) == {
        "other.py": "Gemini CLI (Sam)",
        "src": "Gemini CLI (Sam)",
    }
    assert len(clones.refs()) == 2


def faster(clones: Clones) -> str:
    """The command line of Sam's wc, for a shell."""
    env = clones.sam.machine.env
    pairs = " ".join(f"{name}={env[name]!r}" for name in sorted(env) if env[name])
    return f"env -i {pairs} {sys.executable} -m wc_cli"


RACERS = 8 if amounts.is_long() else 4
TRANSPORTS = ["files", "http", "slow http"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_one_winner_in_each_round(tmp_path: Path, transport: str) -> None:
    with served(tmp_path, transport) as url:
        clones = Clones(tmp_path, url)
        racers = [
            start(repo, number)
            for number, repo in enumerate((clones.pat, clones.sam) * (RACERS // 2))
        ]
        try:
            for number in range(amounts.rounds(2, 50)):
                shapes = ("{0}", "{0}/a.txt", "{0}/a.txt::f", "{0}/a.txt {0}")
                lines = [shape.format(f"round{number}") for shape in shapes]
                codes = race(racers, lines * (RACERS // len(shapes)))
                assert sorted(codes) == [0] + [20] * (RACERS - 1), (number, codes)
        finally:
            for racer in racers:
                racer.communicate()
        for repo in (clones.pat, clones.sam):
            repo.ok("sync")
        assert holders(clones.pat) == holders(clones.sam)


@contextlib.contextmanager
def served(root: Path, transport: str) -> Iterator[str]:
    """The address of the remote, while it is served; empty for its path."""
    if transport == "files":
        yield ""
        return
    with http(root, delay=0.05 if transport == "slow http" else 0) as hub:
        yield hub.url("hub.git")


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_clone_whose_clock_is_wrong_takes_nothing(
    clones: Clones, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    """Ten minutes are more than one and a half times the time to live."""
    clones.pat.ok("claim", "a.py", "--ttl", "60s", *CODEX)
    wrong = time.time() + minutes * 60
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: wrong)
        assert "Codex (Pat) edits a.py" in clones.sam.fails(20, "claim", "a.py")
        clones.sam.ok("claim", "b.py", "--ttl", "60s", *GEMINI)
        clones.sam.fails(20, "claim", "a.py", *GEMINI)
    assert "Gemini CLI (Sam) edits b.py" in clones.pat.fails(20, "claim", "b.py")
    assert holders(clones.pat) == {"a.py": "Codex (Pat)", "b.py": "Gemini CLI (Sam)"}


def test_offline_and_back(clones: Clones) -> None:
    away = clones.hub.with_name("away.git")
    shutil.move(clones.hub, away)
    problem = clones.pat.fails(8, "claim", "a.py", *CODEX)
    assert "Nothing was claimed" in problem
    assert holders(clones.pat) == {}
    clones.pat.ok("new", "login", "--title", "x", "--as", "Pat")
    words = ("claim", "a.py", "b.py", "--local-only", "--thread", "login")
    done = clones.pat.ok(*words, *CODEX)
    assert "only this clone knows" in done.err
    shutil.move(away, clones.hub)
    clones.sam.ok("claim", "a.py", *GEMINI)
    clones.sam.ok("claim", "src", *GEMINI)
    result = clones.pat.ok("sync")
    assert "Codex (Pat) lost the claim on a.py to Gemini CLI (Sam)" in (
        result.out + result.err
    )
    expected = {
        "a.py": "Gemini CLI (Sam)",
        "b.py": "Codex (Pat)",
        "src": "Gemini CLI (Sam)",
    }
    assert holders(clones.pat) == expected
    clones.pat.ok("sync")
    clones.sam.ok("sync")
    assert holders(clones.sam) == expected
    _, told = clones.pat.entries("login")
    assert told["title"] == "Lost the claim on a.py to Gemini CLI (Sam)"
    assert "Codex (Pat)" in told.values()
    assert clones.pat.ball("login") == "Pat"


def test_a_holder_who_renewed_offline_hears_who_took_over(clones: Clones) -> None:
    clones.pat.ok("claim", "src/a.py", "--thread", "auth", *CODEX)
    away = clones.hub.with_name("away.git")
    clones.hub.rename(away)
    again = ("claim", "src/a.py", "--thread", "auth", "--local-only", *CODEX)
    assert "only this clone knows" in clones.pat.ok(*again).err
    away.rename(clones.hub)
    clones.sam.ok("claim", "src", "--takeover", "--reason", "silence", *GEMINI)
    result = clones.pat.ok("sync")
    note = "Codex (Pat) lost the claim on src/a.py to Gemini CLI (Sam)"
    assert note in result.out + result.err
    told = clones.pat.entries("auth")[-1]
    assert told["title"] == "Lost the claim on src/a.py to Gemini CLI (Sam)"
    assert holders(clones.pat) == {"src": "Gemini CLI (Sam)"}


def test_what_was_claimed_offline_yields_to_a_folder(clones: Clones) -> None:
    away = clones.hub.with_name("away.git")
    shutil.move(clones.hub, away)
    clones.pat.ok("claim", "src/a.py", "--local-only", *CODEX)
    shutil.move(away, clones.hub)
    clones.sam.ok("claim", "src", *GEMINI)
    clones.pat.ok("sync")
    assert holders(clones.pat) == {"src": "Gemini CLI (Sam)"}
    assert clones.pat.wc("check", "src/a.py", *CODEX).code == 35


def test_giving_up_without_the_remote_is_sent_later(clones: Clones) -> None:
    clones.pat.ok("claim", "a.py", "b.py", *CODEX)
    away = clones.hub.with_name("away.git")
    shutil.move(clones.hub, away)
    assert "only this clone" in clones.pat.ok("release", "a.py", *CODEX).err
    shutil.move(away, clones.hub)
    assert len(clones.refs()) == 2
    clones.pat.ok("sync")
    assert len(clones.refs()) == 1
    clones.sam.ok("claim", "a.py", *GEMINI)


def test_what_the_remote_has_counts_even_if_it_does_not_say_so(
    clones: Clones, monkeypatch: pytest.MonkeyPatch
) -> None:
    clones.hook("post-receive", "sleep 3")
    monkeypatch.setattr(travel, "LIMIT_SECONDS", 1)
    answer = clones.pat.ok("claim", "a.py", *CODEX)
    assert answer.out == "claimed for 15m: a.py\n"
    assert len(clones.refs()) == 1
    assert holders(clones.pat) == {"a.py": "Codex (Pat)"}
    clones.sam.fails(20, "claim", "a.py", *GEMINI)


def test_a_remote_that_goes_away_may_have_the_claim(
    clones: Clones, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = clones.hub.with_name("away.git")
    clones.hook("post-receive", f"mv '{clones.hub}' '{away}'; sleep 3")
    monkeypatch.setattr(travel, "LIMIT_SECONDS", 1)
    problem = clones.pat.fails(8, "claim", "a.py", *CODEX)
    monkeypatch.undo()
    assert "It is not known whether it has the claim" in problem
    assert holders(clones.pat) == {}
    away.rename(clones.hub)
    clones.hook("post-receive", "")
    clones.pat.ok("sync")
    assert holders(clones.pat) == {"a.py": "Codex (Pat)"}


def test_a_takeover_takes_the_remote(clones: Clones) -> None:
    clones.pat.ok("claim", "a.py", *CODEX)
    clones.sam.ok("sync")
    clones.hub.rename(clones.hub.with_name("away.git"))
    words = ("claim", "a.py", "--takeover", "--reason", "gone")
    problem = clones.sam.fails(8, *words, *GEMINI)
    assert "Nothing was claimed.\n    Try again when the remote is back." in problem
    assert holders(clones.sam) == {"a.py": "Codex (Pat)"}


def test_a_killed_claim_leaves_nothing_half(clones: Clones) -> None:
    """Killed while the remote works: the claims are ours at the next look."""
    clones.hook("post-receive", "sleep 2")
    words = [sys.executable, "-m", "wc_cli", "claim", "a.py", "b.py", *CODEX]
    with subprocess.Popen(
        words, cwd=clones.pat.path, env=clones.pat.machine.env
    ) as process:
        for _ in range(200):
            if clones.refs():
                break
        process.kill()
    assert len(clones.refs()) == 2
    assert holders(clones.pat) == {}
    clones.hook("post-receive", "")
    clones.pat.ok("sync")
    assert holders(clones.pat) == {"a.py": "Codex (Pat)", "b.py": "Codex (Pat)"}
    clones.pat.ok("release", "--all", *CODEX)
    assert clones.refs() == {}


REFUSED = 'case "$1" in refs/wc/*) echo no >&2; exit 1;; esac'


@pytest.mark.parametrize("reason", ["refs", "atomic pushes"])
def test_at_a_remote_that_takes_no_claims_they_hold_here(
    clones: Clones, reason: str
) -> None:
    if reason == "refs":
        clones.hook("update", REFUSED)
    else:
        clones.pat.machine.git(
            "config", "receive.advertiseAtomic", "false", cwd=clones.hub
        )
    note = "only this clone knows; the remote takes no claims: "
    assert note in clones.pat.ok("claim", "a.py", "b.py", *CODEX).err
    assert clones.refs() == {}
    clones.pat.fails(20, "claim", "a.py", *GEMINI)
    # The exchanges wait for a day; who claims something asks again.
    clones.hook("update", "")
    clones.pat.machine.git("config", "receive.advertiseAtomic", "true", cwd=clones.hub)
    clones.pat.ok("sync")
    assert clones.refs() == {}
    clones.pat.ok("claim", "c.py", *CODEX)
    assert len(clones.refs()) == 1
    clones.pat.ok("sync")
    assert len(clones.refs()) == 3


def test_what_was_claimed_in_a_branch_is_kept_and_sent(clones: Clones) -> None:
    """An earlier version kept the claims in a branch, where the remote took no refs."""
    clones.pat.ok("claim", "a.py", "b.py", *CODEX)
    clones.sam.ok("sync")
    for ref in clones.refs("refs/wc"):
        clones.pat.machine.git("update-ref", "-d", ref, cwd=clones.hub)
    for clone in (clones.pat, clones.sam):
        base = clone.git("for-each-ref", "--format=%(refname)", "refs/wc/base")
        digest = base.split("/")[3]
        clone.git("update-ref", f"refs/wc/combined/{digest}/claims", "HEAD")
    clones.sam.fails(20, "claim", "a.py", *GEMINI)
    clones.pat.ok("sync")
    assert holders(clones.pat) == {"a.py": "Codex (Pat)", "b.py": "Codex (Pat)"}
    assert len(clones.refs()) == 2
    clones.sam.ok("sync")
    clones.pat.ok("release", "--all", *CODEX)
    clones.sam.ok("claim", "a.py", *GEMINI)
    assert holders(clones.sam) == {"a.py": "Gemini CLI (Sam)"}

"""``wc wait``: woken by the ball, never by what was there before."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import SECONDS, Machine, Repo
from wc_cli.bridges.notify import local
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

CODEX = ("--as", "Codex")
# No test waits for so long: it is what it takes if nothing wakes the waiting.
LONG = ("--timeout", "60")


class Waiting:
    """A `wc wait` in a process of its own."""

    def __init__(
        self, repo: Repo, *words: str, env: Mapping[str, str] | None = None
    ) -> None:
        # It waits once it has imported watchfiles, which leaves a trace.
        told = (
            # watchfiles imports platform when it is asked, so an interrupt could
            # come in the middle of that import.
            "import sys, platform, watchfiles as w; real = w.watch\n"
            "def watch(*a, **k):\n"
            "    sys.stderr.write('listening\\n'); sys.stderr.flush()\n"
            "    return real(*a, **k)\n"
            "w.watch = watch\n"
            "from wc_cli.run.main import main; main()"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", told, "wait", *words],
            cwd=repo.path,
            env=repo.machine.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def listen(self) -> None:
        """Return once it listens."""
        stream = self.process.stderr
        assert stream is not None
        assert stream.readline() == "listening\n"

    def ends(self) -> tuple[int, str, str]:
        """Its exit status, and what it says."""
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@contextmanager
def waiting(repo: Repo, *words: str, **how: Any) -> Iterator[Waiting]:
    """Someone who waits, and listens."""
    one = Waiting(repo, *words, **how)
    try:
        one.listen()
        yield one
    finally:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def auth(repo: Repo) -> Repo:
    """A thread that Codex has passed to Pat, and an old ball of Codex's."""
    repo.ok("new", "old", "--title", "Old", "--to", "Codex", "--force")
    repo.ok("new", "auth", "--title", "Passkeys", *CODEX)
    repo.ok("handoff", "auth", "--to", "Pat", *CODEX)
    return repo


def test_the_ball_wakes_who_waits_and_the_thread_is_shown(auth: Repo) -> None:
    with waiting(auth, *LONG, *CODEX) as one:
        auth.ok("ack", "auth", "--title", "Not yet")
        auth.ok("say", "auth", "--title", "Please review", "--to", "Codex")
        code, out, err = one.ends()
    assert (code, err) == (0, "")
    assert "Please review" in out
    assert "Not yet" in out
    assert "Old" not in out
    # It counts as read.
    assert "new" not in auth.ok("list", *CODEX).out.split("auth")[1].split("\n")[0]


def test_an_answer_that_came_before_the_waiting_began_is_not_missed(auth: Repo) -> None:
    auth.ok("say", "auth", "--title", "Quick", "--to", "Codex")
    assert "Quick" in auth.ok("wait", *CODEX).out
    # Now it was read, and is not news.
    assert "No ball came" in auth.fails(10, "wait", "--timeout", "0", *CODEX)


def test_a_ball_that_was_there_before_wakes_nobody(auth: Repo) -> None:
    message = auth.fails(10, "wait", "--timeout", "0.05", *CODEX)
    assert "No ball came to you within 0.05 s." in message
    auth.ok("say", "auth", "--title", "Take it", "--to", "Codex")
    auth.ok("take", "auth", *CODEX)
    auth.fails(10, "wait", "--timeout", "0", *CODEX)
    # Who waits for a thread whose ball they have need not wait.
    assert "Old" in auth.ok("wait", "old", *CODEX).out


def test_what_cannot_be_read_wakes_nobody(auth: Repo) -> None:
    auth.ok("handoff", "auth", "--to", "Codex")
    auth.ok("new", "third", "--title", "T")
    auth.ok("handoff", "third", "--to", "Eve", "--force")
    for topic in ("old", "third"):
        auth.log(topic).unlink()
        auth.log(topic).mkdir()
    assert "Passkeys" in auth.ok("wait", *CODEX).out
    auth.fails(10, "wait", "old", "--timeout", "0", *CODEX)


def test_the_lot_of_who_never_wrote_is_what_they_have(repo: Repo) -> None:
    repo.ok("new", "first", "--title", "One", "--to", "Codex", "--force")
    repo.ok("new", "second", "--title", "Two", "--to", "Codex")
    done = repo.ok("wait", *CODEX, "--peek")
    assert "One" in done.out
    assert done.err == "also: second\n"
    assert repo.json("wait", *CODEX)["topic"] == "first"
    assert repo.json("wait", *CODEX)["topic"] == "second"


def test_only_the_threads_named_wake(auth: Repo) -> None:
    auth.ok("new", "other", "--title", "T")
    with waiting(auth, "auth", *LONG, *CODEX) as one:
        auth.ok("handoff", "other", "--to", "Codex")
        auth.ok("handoff", "auth", "--to", "Codex")
        _, out, _ = one.ends()
    assert out.startswith("auth: Passkeys")
    assert "There is no thread" in auth.fails(3, "wait", "aut", *CODEX)


def test_a_thread_that_is_closed_is_not_waited_for(auth: Repo) -> None:
    with waiting(auth, "auth", *CODEX, *LONG) as one:
        auth.ok("set-status", "auth", "CLOSED")
        code, _, said = one.ends()
    assert code == 4
    assert "closed" in said
    assert "wc read auth" in auth.fails(4, "wait", "auth", *CODEX, *LONG)


def test_new_entries_wake_who_wants_that(auth: Repo) -> None:
    with waiting(auth, "--new", "--json", *LONG, *CODEX) as one:
        auth.ok("new", "theirs", "--title", "Of no interest")
        auth.ok("ack", "auth", "--title", "Still at it")
        code, out, _ = one.ends()
    assert code == 0
    told = json.loads(out)
    assert (told["topic"], told["ball"]) == ("auth", "Pat")
    assert [one["title"] for one in told["entries"]][-1] == "Still at it"
    with waiting(auth, "theirs", "--new", *LONG, *CODEX) as one:
        auth.ok("ack", "theirs", "--title", "Named")
        assert "Named" in one.ends()[1]


def test_a_store_that_is_made_later_is_waited_for(repo: Repo) -> None:
    one = Waiting(repo, *LONG, *CODEX)
    time.sleep(0.3)  # it need not have begun; the next test is about that
    repo.ok("new", "auth", "--title", "Begin", "--to", "Codex", "--force")
    code, out, err = one.ends()
    assert code == 0, err
    assert "Begin" in out


def test_a_store_may_be_gone_for_a_moment(auth: Repo) -> None:
    with waiting(auth, *LONG, *CODEX) as one:
        store = auth.store
        store.rename(store.with_name("away"))
        time.sleep(1.2)
        store.with_name("away").rename(store)
        auth.ok("handoff", "auth", "--to", "Codex")
        code, _, err = one.ends()
    assert code == 0, err


def test_where_there_can_be_no_store_it_says_so(auth: Repo) -> None:
    auth.settled("ack", "auth")
    shutil.rmtree(auth.store)
    assert "missing" in auth.fails(6, "wait", "--timeout", "60")


def test_interrupted_it_ends_like_any_command(auth: Repo) -> None:
    with waiting(auth, *CODEX) as one:
        one.process.send_signal(signal.SIGINT)
        assert one.ends() == (130, "", "")


def test_what_comes_from_another_clone_wakes(machine: Machine, tmp_path: Path) -> None:
    machine.git("init", "-q", "--bare", str(tmp_path / "hub.git"), cwd=tmp_path)
    here, there = machine.repo(), machine.repo("there")
    for clone in (here, there):
        clone.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    here.ok("new", "auth", "--title", "T", "--to", "Codex", "--force", "--sync")
    there.ok("sync")
    there.ok("say", "auth", "--title", "From afar", "--to", "Pat", *CODEX, "--sync")
    with waiting(here, *LONG) as one:
        here.ok("sync")
        assert "From afar" in one.ends()[1]


_BETWEEN = """
import os, subprocess, sys, watchfiles
real = watchfiles.watch
def watch(*words, **how):
    subprocess.run([sys.executable, "-c", "from wc_cli.run.main import main; main()",
                    "handoff", "auth", "--to", "Codex"], check=True)
    return real(*words, **how)
watchfiles.watch = watch
from wc_cli.run.main import main
main()
"""


def test_what_comes_between_the_look_and_the_listening_is_seen(auth: Repo) -> None:
    words = [sys.executable, "-c", _BETWEEN, "wait", *LONG, *CODEX]
    begun = time.monotonic()
    done = auth.machine.run(words, auth.path)
    assert done.code == 0, done
    assert "ball: Codex" in done.out
    assert time.monotonic() - begun < 30


_DEAF = """
import watchfiles
def watch(*words, **how):
    raise OSError("OS file watch limit reached.")
watchfiles.watch = watch
from wc_cli.run.main import main
main()
"""


def test_where_the_kernel_tells_nothing_it_looks(auth: Repo) -> None:
    words = [sys.executable, "-c", _DEAF, "wait", *LONG, *CODEX]
    process = subprocess.Popen(
        words, cwd=auth.path, env=auth.machine.env, stdout=subprocess.PIPE
    )
    time.sleep(0.5)
    auth.ok("handoff", "auth", "--to", "Codex")
    out, _ = process.communicate(timeout=SECONDS)
    assert b"ball: Codex" in out


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.2, 0.3])
def test_at_whatever_moment_it_comes_it_wakes(auth: Repo, delay: float) -> None:
    one = Waiting(auth, *LONG, *CODEX)
    time.sleep(delay)
    auth.ok("handoff", "auth", "--to", "Codex")
    assert one.ends()[0] == 0


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("", None), ("0", 0.0), ("90", 90.0), ("1.5", 1.5), ("5m", 300.0), ("2h", 7200.0)],
)
def test_how_long_to_wait(said: str, seconds: float | None) -> None:
    assert vocabulary.wait_seconds(said) == seconds


@pytest.mark.parametrize("said", ["-1", "soon", "1.2.3", "inf", "9" * 12, "m", "."])
def test_what_is_not_a_time_to_wait(said: str) -> None:
    with pytest.raises(InvalidInputError):
        vocabulary.wait_seconds(said)


@pytest.fixture
def desktop(tmp_path: Path) -> Path:
    """A folder with a program that keeps the arguments it is given."""
    program = tmp_path / "bin/notify-send"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"${0%/*}/told"\n')
    program.chmod(0o755)
    return program.parent


def test_a_desktop_notification_has_no_active_text(auth: Repo, desktop: Path) -> None:
    auth.ok("new", "evil", "--title", "$(touch x); <b>-x", "--to", "Codex")
    env = {"PATH": f"{desktop}:{auth.machine.env['PATH']}"}
    auth.ok("wait", "--notify", "--peek", *CODEX, env=env)
    told = (desktop / "told").read_text().splitlines()
    text = "$(touch x); &lt;b&gt;-x"
    assert told == ["--app-name=Watercooler", "--", "Your move: evil", text]
    assert not (auth.path / "x").exists()


def test_what_cannot_be_done_is_reported(auth: Repo) -> None:
    auth.ok("handoff", "auth", "--to", "Codex")
    done = auth.ok("wait", "--notify", *CODEX, env={"PATH": "/nonexistent"})
    problem = "there is neither notify-send nor osascript"
    assert done.err.splitlines() == [f"note: not notified: {problem}"]


def test_a_program_that_fails_fails_nothing_else(desktop: Path) -> None:
    (desktop / "notify-send").write_text("#!/bin/sh\nexit 1\n")
    env = {"PATH": f":{desktop}", "HOME": str(desktop)}
    assert local.show(env, "a", "b") == "notify-send exited with 1"
    (desktop / "notify-send").unlink()
    (desktop / "osascript").write_text('#!/bin/sh\necho "$7" >"${0%/*}/told"\n')
    (desktop / "osascript").chmod(0o755)
    env["PATH"] = f"{desktop}:/bin:/usr/bin"
    assert local.show(env, 'a" & b', "c") == ""
    assert (desktop / "told").read_text() == 'a" & b\n'
    (desktop / "osascript").write_text("no program")
    assert "cannot be run" in local.show(env, "a", "b")


def test_the_bell_rings_in_the_terminal_wherever_results_go() -> None:
    pid, terminal = pty.fork()
    if not pid:
        os._exit(len(local.ring()))
    assert os.read(terminal, 1000) == b"\a"
    assert os.waitpid(pid, 0)[1] == 0
    os.close(terminal)


def test_without_a_terminal_no_bell_rings() -> None:
    pid = os.fork()
    if not pid:
        os.setsid()
        os._exit(len(local.ring()) > 0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1

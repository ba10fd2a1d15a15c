"""The process after a write is a copy of the command, where that is safe."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.settle.test_settler import until_settled
from wc_cli.ledger.store import locks

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Machine, Repo

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only copied on Linux")
WRITE = ("say", "auth", "--title", "x")
# Seconds after which what should happen soon is taken for failed.
LONG = 20


def real_words(machine: Machine) -> list[str]:
    """The command as a process of its own, not a copy of the tests' server."""
    return ["env", "WATERCOOLER_SYNC=background", *machine.wc_words]


def write(repo: Repo) -> None:
    done = repo.machine.run([*real_words(repo.machine), *WRITE], repo.path)
    assert not done.code, done


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def helper_of(repo: Repo) -> int:
    """The process that has the git lock; 0 if none has."""
    path = str(repo.store / ".local/locks/git")
    handle = locks.try_acquire(path)
    if handle is None:
        text = (repo.store / ".local/locks/git").read_text().partition("\n")[0]
        return int(text or 0)
    os.close(handle)
    return 0


def test_the_copy_settles_and_has_nothing_of_the_terminal(repo: Repo) -> None:
    repo.settled(*WRITE)
    reader, writer = os.pipe()
    command = subprocess.Popen(
        [*real_words(repo.machine), *WRITE],
        cwd=repo.path,
        env=repo.machine.env,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer,
        start_new_session=True,
    )
    os.close(writer)
    with open(reader, "rb") as output:
        assert b"saved auth #1" in output.read()
    assert command.wait(LONG) == 0
    wait_for(lambda: not (repo.store / ".local/unsettled/auth").exists())
    assert "auth" in repo.machine.git("log", "-1", "--format=%s", cwd=repo.store)
    assert not repo.machine.git("status", "--porcelain", cwd=repo.store)


def test_no_marker_is_left_by_a_write_at_the_end_of_the_helper(repo: Repo) -> None:
    """Each write begins when the helper of the one before is about to end."""
    for _ in range(6):
        write(repo)
        wait_for(lambda: not helper_of(repo))
    write(repo)
    until_settled(repo)
    assert len(repo.entries("auth")) == 7
    log = (repo.store / "graph/baseline/threads/auth/entries.jsonl").read_text()
    committed = repo.machine.git(
        "show", "HEAD:graph/baseline/threads/auth/entries.jsonl", cwd=repo.store
    )
    assert committed.strip() == log.strip()


def test_what_a_killed_copy_left_is_settled_after_the_next_write(repo: Repo) -> None:
    write(repo)
    wait_for(lambda: helper_of(repo))
    helper = helper_of(repo)
    if helper:  # it may have ended just now
        os.kill(helper, signal.SIGKILL)
        wait_for(lambda: helper_of(repo) != helper)
    write(repo)
    until_settled(repo)
    assert not repo.machine.git("status", "--porcelain", cwd=repo.store)


def test_a_process_with_threads_starts_a_new_one(repo: Repo) -> None:
    program = (
        "import sys, threading\n"
        "import os\n"
        "def refuse(): raise SystemExit('forked')\n"
        "os.fork = refuse\n"
        f"sys.argv[1:] = {list(WRITE)}\n"
        "from wc_cli.run.main import main; main()\n"
    )
    words = [*real_words(repo.machine)[:-1], program]
    assert not repo.machine.run(words, repo.path).code
    until_settled(repo)


def test_a_signal_to_the_group_of_the_command_does_not_end_the_copy(
    repo: Repo,
) -> None:
    """As from a terminal that is closed, or a program that ends what it started."""
    repo.settled(*WRITE)
    words = [*real_words(repo.machine), *WRITE]
    for _ in range(3):
        command = subprocess.Popen(
            words,
            cwd=repo.path,
            env=repo.machine.env,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        with command, contextlib.suppress(ProcessLookupError):
            assert command.stdout is not None
            assert b"saved" in command.stdout.read(5)
            os.killpg(command.pid, signal.SIGKILL)
        wait_for(lambda: not (repo.store / ".local/unsettled/auth").exists())

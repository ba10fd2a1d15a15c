"""Someone holds a lock and does not let go: who waits is told whom for, nobody
waits for nothing, and nothing is broken by age."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.contract.judging import THREADS, settle, start

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Repo

YEARS = 10 * 365 * 86_400


def lock_of(repo: Repo) -> Path:
    return repo.store / ".local/locks/threads/auth"


@pytest.fixture
def holder(repo: Repo) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock of a thread, stopped in its tracks, the lock
    file being years old."""
    repo.ok("new", "auth", "--title", "x", "--to", "anyone")
    repo.ok("new", "billing", "--title", "y")
    process = start(repo, "hold", topic="auth")
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGSTOP)
    past = time.time() - YEARS
    os.utime(lock_of(repo), (past, past))
    yield process
    process.kill()
    process.communicate()


def test_a_waiter_hears_who_has_the_lock(
    repo: Repo, holder: subprocess.Popen[str]
) -> None:
    before = repo.log("auth").read_bytes()
    begun = time.monotonic()
    said = repo.fails(5, "say", "auth", "--title", "x", "--lock-timeout", "0.5")
    assert time.monotonic() - begun >= 0.5
    _, since, *_ = lock_of(repo).read_text().splitlines()
    assert f"Cursor (Pat) (process {holder.pid}, since {since})" in said
    # However old its file is: the holder lives.
    assert "--lock-timeout" in said
    assert repo.log("auth").read_bytes() == before


@pytest.mark.parametrize("end", ["it goes on", "it is killed"])
def test_the_next_write_goes_through_at_once(
    repo: Repo, holder: subprocess.Popen[str], end: str
) -> None:
    repo.fails(5, "ack", "auth", "--lock-timeout", "0")
    if end == "it is killed":
        holder.kill()
    else:
        holder.send_signal(signal.SIGCONT)
    holder.communicate()
    # Not a moment is granted: the lock is free as soon as its holder is gone.
    repo.ok("ack", "auth", "--lock-timeout", "0")
    assert len(repo.entries("auth")) == 2


def test_others_are_not_held_up(repo: Repo, holder: subprocess.Popen[str]) -> None:
    assert holder.poll() is None
    repo.ok("say", "billing", "--title", "x", "--lock-timeout", "0")
    repo.ok("read", "auth", "--peek")
    assert len(repo.json("list")["threads"]) == 2
    repo.ok("search", "x")
    repo.ok("updates")
    repo.ok("doctor")
    # The read succeeds, although it cannot be recorded.
    done = repo.ok("read", "auth")
    assert "not marked as read" in done.err


def test_a_lock_file_of_the_dead_delays_nobody(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "x")
    # The number of a process that lives: only the kernel knows who holds it.
    text = f"{os.getpid()}\n2020-01-01T00:00:00Z\nCursor (Pat)\n"
    lock_of(repo).write_text(text)
    repo.ok("ack", "auth", "--lock-timeout", "0")
    with lock_of(repo).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert "Pat" in file.read()


def test_a_helper_holds_the_lock_of_settling_from_its_first_moment(
    repo: Repo, tmp_path: Path
) -> None:
    """Else every write of a burst would start one while the first is starting."""
    repo.ok("new", "auth", "--title", "x")
    slow = tmp_path / "slow"
    slow.mkdir()
    git = shutil.which("git", path=repo.machine.env["PATH"])
    wait = f"while ! [ -e {slow}/go ]; do sleep 0.01; done"
    (slow / "git").write_text(f'#!/bin/sh\n{wait}\nexec {git} "$@"\n')
    (slow / "git").chmod(0o755)
    path = f"{slow}:{repo.machine.env['PATH']}"
    repo.ok("ack", "auth", env={"WATERCOOLER_SYNC": "background", "PATH": path})
    with (repo.store / ".local/locks/git").open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (slow / "go").touch()
        fcntl.flock(file, fcntl.LOCK_EX)
    settle(repo)
    assert repo.git("log", "--format=%B", THREADS).count("Watercooler-Entry-ID") == 2

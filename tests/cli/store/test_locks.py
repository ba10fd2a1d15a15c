"""Locks end with their process, are never broken by age, and name their holder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.leaving import leave
from wc_cli.store import locks
from wc_core.errors import LockTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Repo

ALLOWED = {"WATERCOOLER_ALLOW_BREAK_LOCK": "1"}
# Holds a lock as a file system does that has lost its process.
HOLD = "import fcntl, sys; fcntl.flock(0, fcntl.LOCK_EX); print(); sys.stdout.flush()"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store."""
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


@pytest.fixture
def path(root: Path) -> str:
    return str(root / ".local/locks/threads/t")


def test_a_broken_lock_is_a_new_one(root: Path, path: str) -> None:
    first = locks.acquire(path, "Codex (pat)", 0, str(root))
    with pytest.raises(LockTimeoutError, match=r"Codex \(pat\)"):
        locks.acquire(path, "Pat", 0, str(root))
    locks.break_lock(path, str(root))
    second = locks.acquire(path, "Pat", 0, str(root))
    assert locks.holder_of(path).name == "Pat"
    # The one that was broken does not come back when its holder is done.
    os.close(first)
    assert locks.try_acquire(path, str(root)) is None
    os.close(second)
    assert len(os.listdir(f"{os.path.dirname(path)}.broken")) == 1


def test_who_waited_for_a_broken_lock_takes_the_new_one(root: Path, path: str) -> None:
    first = locks.acquire(path, "Codex", 0, str(root))
    waiter = os.fork()
    if not waiter:
        same = False
        os.close(first)
        try:
            handle = locks.acquire(path, "waiter", 20, str(root))
            same = os.path.samestat(os.fstat(handle), os.stat(path))
        finally:
            leave(0 if same else 1)
    locks.break_lock(path, str(root))
    assert os.waitpid(waiter, 0)[1] == 0


def test_the_holder_is_named_with_its_machine(root: Path, path: str) -> None:
    os.close(locks.acquire(path, "Codex (pat)", 0, str(root)))
    holder = locks.holder_of(path)
    assert holder.is_alive
    assert f"Codex (pat) (process {os.getpid()}, since " in str(holder)
    away = holder._replace(machine="elsewhere")
    assert not away.is_alive
    assert " on elsewhere, since " in str(away)


def in_turn(path: str, root: str, seconds: float, turns: int) -> int:
    """A process that takes a lock so many times, and keeps it so long."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            for _ in range(turns):
                handle = locks.acquire(path, "crowd", 60, root)
                os.write(writing, b".")
                time.sleep(seconds)
                os.close(handle)
        finally:
            leave(0)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    return pid


def test_a_crowd_is_waited_for_one_who_stays_is_not(root: Path, path: str) -> None:
    crowd = [in_turn(path, str(root), 0.3, 5) for _ in range(2)]
    # Longer than any of them holds it, shorter than all of them do.
    os.close(locks.acquire(path, "Pat", 2, str(root)))
    for pid in crowd:
        os.waitpid(pid, 0)
    stays = in_turn(path, str(root), 60, 1)
    with pytest.raises(LockTimeoutError, match="crowd"):
        locks.acquire(path, "Pat", 0.5, str(root))
    os.kill(stays, signal.SIGKILL)
    os.waitpid(stays, 0)


@pytest.mark.parametrize("pid", ["", "x", "-1", "99999999", "9" * 40])
def test_what_is_no_process_is_not_alive(pid: str) -> None:
    holder = locks.Holder(pid, "Pat", "", os.uname().nodename)
    assert not holder.is_alive


@pytest.fixture
def stuck(repo: Repo) -> Iterator[Repo]:
    """A thread whose lock is held, in the name of a process that is gone."""
    repo.ok("new", "auth", "--title", "x", "--as", "Codex")
    path = repo.store / ".local/locks/threads/auth"
    words = [sys.executable, "-c", f"{HOLD}; import time; time.sleep(300)"]
    with (
        path.open("rb") as lock,
        subprocess.Popen(words, stdin=lock, stdout=subprocess.PIPE) as holder,
    ):
        assert holder.stdout is not None
        holder.stdout.readline()
        yield repo
        holder.kill()


WAIT = ("--lock-timeout", "0.1")


@pytest.mark.parametrize(
    ("words", "env"),
    [
        ([], ALLOWED),
        (["--force"], {}),
        (["--force"], {"WATERCOOLER_ALLOW_BREAK_LOCK": "0"}),
    ],
)
def test_a_lock_is_not_broken_by_half_asking(
    stuck: Repo, words: list[str], env: dict[str, str]
) -> None:
    said = stuck.fails(4, "break-lock", "auth", *words, env=env)
    assert "auth is being written by Codex (Pat) (process " in said
    assert "WATERCOOLER_ALLOW_BREAK_LOCK=1 wc break-lock auth --force" in said
    stuck.fails(5, "ack", "auth", *WAIT)


def test_a_lock_of_nobody_alive_is_broken(stuck: Repo) -> None:
    said = stuck.fails(5, "ack", "auth", *WAIT)
    assert "Codex (Pat) (process " in said
    done = stuck.ok("break-lock", "auth", "--force", env=ALLOWED)
    assert done.out.startswith("The lock of auth is broken; it was held by Codex")
    stuck.ok("ack", "auth", *WAIT)
    assert len(stuck.entries("auth")) == 2
    done = stuck.ok("break-lock", "auth", "--force", "--json", env=ALLOWED)
    assert done.json == {"topic": "auth", "broken": False}


def test_a_lock_of_a_running_process_is_never_broken(stuck: Repo) -> None:
    path = stuck.store / ".local/locks/threads/auth"
    since = "2026-01-01T00:00:00Z"
    lines = (str(os.getpid()), since, "Codex (pat)", os.uname().nodename, "")
    path.write_text("\n".join(lines))
    done = stuck.wc("break-lock", "auth", "--force", "--json", env=ALLOWED)
    assert done.code == 4
    error = json.loads(done.err)["error"]
    assert f"kill {os.getpid()}" in error["hint"]
    stuck.fails(5, "ack", "auth", *WAIT)


def test_nothing_to_break(repo: Repo) -> None:
    repo.fails(3, "break-lock", "auth", "--force")
    repo.ok("new", "auth", "--title", "x")
    assert "nothing to break" in repo.ok("break-lock", "auth").out

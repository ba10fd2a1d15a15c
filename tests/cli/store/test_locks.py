"""Locks end with their process, are never broken by age, and name their holder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.leaving import leave
from wc_cli.commands.stores import check_breakable
from wc_cli.ledger.store import lockowners, locks
from wc_cli.ledger.store.lockowners import LockOwners
from wc_core.base.errors import ConflictError, LockTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    assert lockowners.holder_of(path).name == "Pat"
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
    holder = lockowners.holder_of(path)
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
    holder = lockowners.Holder(pid, "Pat", "", os.uname().nodename)
    assert not holder.is_alive


class Stuck(NamedTuple):
    """A thread whose lock another program holds, in the name of a process that is
    gone."""

    repo: Repo
    lock: Path
    pid: int


@pytest.fixture
def stuck(repo: Repo) -> Iterator[Stuck]:
    repo.ok("new", "auth", "--title", "x", "--as", "Codex")
    path = repo.store / ".local/locks/threads/auth"
    words = [sys.executable, "-c", f"{HOLD}; import time; time.sleep(300)"]
    with path.open("rb") as lock:
        holder = subprocess.Popen(words, stdin=lock, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield Stuck(repo, path, holder.pid)
        holder.kill()


WAIT = ("--lock-timeout", "0.1")


@pytest.mark.parametrize("words", [[], ["--force"]])
@pytest.mark.parametrize("env", [{}, ALLOWED])
@pytest.mark.parametrize("signed", ["by one that is gone", "by another", "by nobody"])
def test_a_lock_that_a_process_holds_is_never_broken(
    stuck: Stuck, words: list[str], env: dict[str, str], signed: str
) -> None:
    path = stuck.lock
    if signed == "by another":
        since = "2026-01-01T00:00:00Z"
        lines = (str(os.getpid()), since, "Codex (pat)", os.uname().nodename, "")
        path.write_text("\n".join(lines))
    elif signed == "by nobody":
        path.write_text("")
    words = ["break-lock", "auth", *words, "--json"]
    done = stuck.repo.wc(*words, env=env)
    assert done.code == 4
    error = json.loads(done.err)["error"]
    # Whatever the file says, the kernel knows better.
    assert f"(process {stuck.pid})" in error["message"]
    assert "Codex" not in error["message"]
    assert f"kill {stuck.pid})" in error["hint"]
    said = stuck.repo.fails(5, "ack", "auth", *WAIT)
    assert f"(process {stuck.pid})" in said
    assert not path.with_name("threads.broken").exists()


def test_a_lock_that_a_child_inherited_is_held_by_the_child(
    root: Path, path: str
) -> None:
    """Of git, for example, which outlives a wc that was killed."""
    reading, writing = os.pipe()
    parent = os.fork()
    if not parent:
        locks.acquire(path, "Codex (pat)", 0, str(root))
        child = os.fork()
        if not child:
            time.sleep(300)
        os.write(writing, str(child).encode())
        leave(0)
    assert os.waitpid(parent, 0)[1] == 0
    child = int(os.read(reading, 20))
    try:
        assert lockowners.holder_of(path).pid == str(parent)
        assert lockowners.lock_owners(path) == LockOwners((child,), local=True)
        assert f"(process {child})" in str(lockowners.current_holder(path))
    finally:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    os.close(writing)


def test_the_name_in_the_file_counts_if_the_kernel_agrees(
    root: Path, path: str
) -> None:
    handle = locks.acquire(path, "Codex (pat)", 0, str(root))
    assert lockowners.current_holder(path) == lockowners.holder_of(path)
    # A file that is open holds no lock.
    os.close(handle)
    with open(path):
        assert lockowners.lock_owners(path) == LockOwners((), local=True)
        assert str(lockowners.current_holder(path)) == "another process"
    os.unlink(path)
    assert lockowners.lock_owners(path) == LockOwners()


def test_a_holder_in_another_machine_is_believed(root: Path, path: str) -> None:
    os.close(locks.acquire(path, "Codex (pat)", 0, str(root)))
    text = Path(path).read_text().splitlines()
    Path(path).write_text("\n".join([*text[:3], "elsewhere", ""]))
    assert " on elsewhere, since " in str(lockowners.current_holder(path))


NAMESPACES = ["unshare", "-Urpf", "--mount-proc"]


@pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run(
        [*NAMESPACES, "true"], capture_output=True, check=False
    ).returncode
    != 0,
    reason="containers cannot be made here",
)
def test_a_holder_outside_of_the_container_is_not_gone(stuck: Stuck) -> None:
    machine = stuck.repo.machine
    words = [*NAMESPACES, *machine.wc_words, "break-lock", "auth", "--force"]
    done = machine.run(words, stuck.repo.path, env=ALLOWED)
    assert done.code == 4
    assert "auth is being written by another process." in done.err
    assert "in a container" in done.err
    stuck.repo.fails(5, "ack", "auth", *WAIT)


@pytest.mark.skipif(shutil.which("lsof") is None, reason="needs lsof")
def test_without_proc_lsof_is_asked(stuck: Stuck) -> None:
    assert stuck.pid in lockowners.pids_by_lsof(str(stuck.lock))
    assert list(lockowners.pids_by_lsof("/nonexistent")) == []


@pytest.mark.parametrize(
    ("owners", "agreed", "refusal"),
    [
        (LockOwners(()), True, ""),
        (LockOwners(()), False, "WORDS"),
        (LockOwners((12, 34)), True, "kill 12 34"),
        (LockOwners((12,), local=True), True, "kill 12"),
        (LockOwners((), local=True), True, "in a container"),
        (LockOwners((), local=True), False, "in a container"),
    ],
)
def test_what_is_broken(owners: LockOwners, refusal: str, *, agreed: bool) -> None:
    """Only what nobody here holds, where another machine may."""
    if not refusal:
        check_breakable("held", owners, "WORDS", agreed=agreed)
        return
    with pytest.raises(ConflictError, match="held") as caught:
        check_breakable("held", owners, "WORDS", agreed=agreed)
    assert refusal in caught.value.hint


def test_nothing_to_break(repo: Repo) -> None:
    repo.fails(3, "break-lock", "auth", "--force")
    repo.ok("new", "auth", "--title", "x")
    assert "nothing to break" in repo.ok("break-lock", "auth").out

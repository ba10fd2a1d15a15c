"""Locks of the kernel: they end with their process, so none is ever stale.

A lock is a file that stays; who holds it is written in it. Nothing is broken
by age, and only for file systems that keep the locks of processes which are
gone is there a way to break one at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.store import durable
from wc_core.errors import LockTimeoutError
from wc_core.files import NotPlainError, read_plain
from wc_core.processes import is_running

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_NAP = 0.0005
_LONGEST_NAP = 0.004
# How many times longer than for one holder a writer waits for many in turn.
_CROWD = 10


class Holder(NamedTuple):
    """Who says in a lock file that they hold it, and on which machine."""

    pid: str
    who: str
    since: str
    machine: str

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        there = "" if self.machine == os.uname().nodename else f" on {self.machine}"
        return f"{self.who} (process {self.pid}{there}, since {self.since})"

    @property
    def is_alive(self) -> bool:
        """Whether the process is known to run: on this machine."""
        here = self.machine == os.uname().nodename and self.pid.isdecimal()
        return here and is_running(int(self.pid))


@contextlib.contextmanager
def locked(path: str, who: str, seconds: float, root: str = "") -> Iterator[None]:
    """Hold the lock ``path`` for the block.

    A kernel lock: it ends with its process, so none is ever stale and none
    is broken by age. The file stays. Raises LockTimeoutError, naming the
    holder, when one has held it for ``seconds``, or many in turn for ten
    times as long.
    """
    handle = acquire(path, who, seconds, root)
    try:
        yield
    finally:
        os.close(handle)


def acquire(path: str, who: str, seconds: float, root: str = "") -> int:
    """Take a lock and return the handle whose closing releases it."""
    handle = _open_lock(path, root)
    start = since = time.monotonic()
    signed = 0
    nap = _FIRST_NAP
    while not _try_lock(handle, path) or not _counts(handle, path):
        now = time.monotonic()
        # In a crowd the lock changes hands all the time. That is no reason to
        # give up; one who keeps it is.
        if signed != (signed := _signed_ns(path)):
            since = now
        if now - since >= seconds or now - start >= seconds * _CROWD:
            os.close(handle)
            raise LockTimeoutError(
                f"{os.path.basename(path)} is being written by {holder_of(path)}.",
                "Nothing was written. Try again, or wait longer: --lock-timeout 10",
            )
        time.sleep(nap)
        nap = min(nap * 2, _LONGEST_NAP)
        if not _counts(handle, path):
            os.close(handle)
            handle = _open_lock(path, root)
    sign(handle, who)
    return handle


def try_acquire(path: str, root: str = "") -> int | None:
    """Take a lock if nobody holds it, without waiting."""
    handle = _open_lock(path, root)
    if _try_lock(handle, path) and _counts(handle, path):
        return handle
    os.close(handle)
    return None


def _open_lock(path: str, root: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    try:
        durable.make_folder(folder, root)
        with durable.opened(folder, root) as within:
            handle = os.open(name, flags, 0o666, dir_fd=within)
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
    except OSError as error:
        durable.failed("cannot be locked", path, error)
    if not regular:
        os.close(handle)
        strange = NotPlainError(0, "is not a regular file", path)
        durable.failed("cannot be locked", path, strange)
    return handle


def _try_lock(handle: int, path: str) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(handle)
        durable.failed("cannot be locked", path, error)
    return True


def _counts(handle: int, path: str) -> bool:
    """Whether a lock is the one at ``path``: who broke it, or took the whole
    store away, left us with another one."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
    except OSError as error:
        os.close(handle)
        durable.failed("cannot be locked", path, error)


def _signed_ns(path: str) -> int:
    """When a lock was last signed; 0 where that cannot be known."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def sign(handle: int, who: str) -> None:
    """Say in a lock who holds it."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    lines = (str(os.getpid()), now, who, os.uname().nodename, "")
    text = "\n".join(lines).encode(errors="replace")
    with contextlib.suppress(OSError):  # on a full disk the lock itself holds
        # Of a file with two names the other one may be anybody's.
        if os.fstat(handle).st_nlink == 1:
            os.pwrite(handle, text, 0)
            os.ftruncate(handle, len(text))


def break_lock(path: str, root: str) -> None:
    """Let the next one have a lock, whoever holds it.

    Its file is moved aside: the holder keeps that one, and a new one counts.
    Only for file systems that keep locks of processes which are gone.
    """
    aside = f"{os.path.dirname(path)}.broken"
    durable.make_folder(aside, root)
    durable.move(path, f"{aside}/{os.path.basename(path)}.{time.time_ns()}", root)


def holder_of(path: str) -> Holder:
    """What the lock file says of its last holder."""
    try:
        text = (read_plain(path) or b"").decode(errors="replace")
    except OSError:
        text = ""
    pid, since, who, machine = [*text.splitlines(), "", "", "", ""][:4]
    return Holder(pid, who, since, machine)

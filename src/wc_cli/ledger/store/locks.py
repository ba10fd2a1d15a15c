"""Kernel locks (flock): they end with their process, so they never get stale.

A lock is a permanent file that contains the name of its holder. No lock is broken
because of its age. `break_lock` is for file systems that keep the locks of processes
which have ended.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

from wc_cli.ledger.store import durable
from wc_core.base.errors import LockTimeoutError
from wc_core.base.files import NotPlainError
from wc_core.base.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.004
# If many processes take turns, a writer waits this many times longer than for one
# process that keeps the lock.
_CROWD = 10


@contextlib.contextmanager
def locked(path: str, holder: str, seconds: float, root: str = "") -> Iterator[None]:
    """Hold the lock ``path`` for a block.

    Raises LockTimeoutError, with the holder, when one process has held it for
    ``seconds``, or many in turn for ten times as long.
    """
    handle = acquire(path, holder, seconds, root)
    try:
        yield
    finally:
        os.close(handle)


def acquire(path: str, holder: str, seconds: float, root: str = "") -> int:
    """Take a lock. Returns a handle; closing it releases the lock."""
    handle = _open_lock(path, root)
    start = since = time.monotonic()
    signed = 0
    pause = _FIRST_PAUSE
    while not _try_lock(handle, path) or not _is_current(handle, path):
        now = time.monotonic()
        # With many writers, the lock changes hands all the time. That is no reason to
        # give up, unlike a process that keeps it.
        if signed != (signed := _signed_ns(path)):
            since = now
        if now - since >= seconds or now - start >= seconds * _CROWD:
            os.close(handle)
            # 2 ms, only for a lock that is held
            from wc_cli.ledger.store import lockowners

            current = lockowners.current_holder(path)
            raise LockTimeoutError(
                f"{os.path.basename(path)} is being written by {current}.",
                "Nothing was written. Try again, or wait longer: --lock-timeout 10",
            )
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
        if not _is_current(handle, path):
            os.close(handle)
            handle = _open_lock(path, root)
    sign(handle, holder)
    return handle


def try_acquire(path: str, root: str = "") -> int | None:
    """Take a lock without waiting. Returns its handle, or ``None`` if it is held."""
    handle = _open_lock(path, root)
    if _try_lock(handle, path) and _is_current(handle, path):
        return handle
    os.close(handle)
    return None


def _open_lock(path: str, root: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    try:
        with durable.made_folder_handle(folder, root) as within:
            handle = os.open(name, flags, 0o666, dir_fd=within)
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
    except OSError as error:
        durable.raise_storage_error("cannot be locked", path, error)
    if not regular:
        os.close(handle)
        reason = NotPlainError(0, "is not a regular file", path)
        durable.raise_storage_error("cannot be locked", path, reason)
    return handle


def _try_lock(handle: int, path: str) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(handle)
        durable.raise_storage_error("cannot be locked", path, error)
    return True


def _is_current(handle: int, path: str) -> bool:
    """Return whether a handle belongs to the file at ``path``. It does not if the lock
    was broken, or the whole store removed, in the meantime."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
    except OSError as error:
        os.close(handle)
        durable.raise_storage_error("cannot be locked", path, error)


def _signed_ns(path: str) -> int:
    """The time at which a lock was last signed; 0 if unknown."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def sign(handle: int, holder: str) -> None:
    """Write the name of its holder, process and machine into a lock file."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    lines = (str(os.getpid()), now, holder, os.uname().nodename, "")
    text = "\n".join(lines).encode(errors="replace")
    with contextlib.suppress(OSError):  # the lock itself works on a full disk
        # The second name of a hard-linked file may be outside the store.
        if os.fstat(handle).st_nlink == 1:
            os.pwrite(handle, text, 0)
            os.ftruncate(handle, len(text))


def break_lock(path: str, root: str) -> None:
    """Free a held lock for the next process.

    Its file is moved aside: the holder keeps that one, and the next process makes a new
    one. Only for file systems that keep the locks of processes which have ended; the
    caller has checked with `lockowners`.
    """
    aside = f"{os.path.dirname(path)}.broken"
    durable.make_folder(aside, root)
    durable.move(path, f"{aside}/{os.path.basename(path)}.{time.time_ns()}", root)

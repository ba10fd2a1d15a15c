"""The only code that changes the bytes of a store.

What is promised here is promised to the disk: an append that returned is
flushed, in a file whose name is flushed as well; one that failed left the
file as long as it was. A replacement is whole or absent, never half.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from typing import NamedTuple

from wc_core.errors import CorruptError, LockTimeoutError, StorageError
from wc_core.files import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

_FIRST_NAP = 0.0005
_LONGEST_NAP = 0.01
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

_HINTS = {
    errno.ENOSPC: "The disk is full: make room, then run the same command again.",
    errno.EDQUOT: "Your quota is used up: make room, then run it again.",
    errno.EROFS: "The file system is read-only: remount it, or set WATERCOOLER_DIR.",
    errno.EACCES: "Check who owns the store and its permissions: wc doctor",
    errno.EPERM: "Check who owns the store and its permissions: wc doctor",
}


def _failed(what: str, path: str, error: OSError) -> NoReturn:
    hint = _HINTS.get(error.errno or 0, "Nothing was written. Check the disk.")
    raise StorageError(f"{path} {what}: {error.strerror}.", hint) from error


def make_folder(path: str, *, flush: bool = True) -> None:
    """Make a folder and those above it, each name flushed to disk unless
    what it will hold can be rendered anew.

    Raises StorageError, or CorruptError where a file is in the way.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    make_folder(parent, flush=flush)
    check_inside(parent)
    try:
        # A store with a shared group keeps it: the umask decides, not we.
        os.mkdir(path)
        if flush:
            flush_folder(parent)
    except FileExistsError as error:
        if not os.path.isdir(path):
            raise CorruptError(
                f"{path} is in the way: a folder belongs there.",
                "Move it elsewhere and run the command again.",
            ) from error
    except OSError as error:
        _failed("cannot be made", path, error)


def check_inside(folder: str) -> None:
    """Refuse a folder of a store that a symbolic link stands for: whoever put
    it there would have us write somewhere else. Raises CorruptError."""
    if os.path.realpath(folder) != folder:
        raise CorruptError(
            f"{folder} is reached through a symbolic link.",
            "Nothing outside the store is written. Replace the link by a folder.",
        )


def flush_folder(path: str) -> None:
    """Flush the names in a folder."""
    handle = os.open(path, _FOLDER_FLAGS)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append(path: str, line: bytes, root: str) -> int:
    """Append one complete line and flush it; the new length of the file.

    The names of a new file and of its folders up to ``root`` are flushed as
    well: whoever made the folders may have died before they were. A last
    line that somebody never finished stays as it is: ours starts on
    a new one. The caller holds the lock of the file. Raises StorageError,
    the file being as long as before.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    created = not os.path.lexists(path)
    try:
        handle = os.open(path, flags, 0o666)
    except OSError as error:
        _failed("cannot be opened for writing", path, error)
    try:
        before = os.fstat(handle).st_size
        if before and os.pread(handle, 1, before - 1) != b"\n":
            line = b"\n" + line
        _append_whole(handle, line, before)
        if created:
            _flush_names(path, root)
    except OSError as error:
        if created:
            # Empty again, and ours: a thread that never was has no log.
            remove(path)
        _failed("could not be written", path, error)
    finally:
        os.close(handle)
    return before + len(line)


def create(path: str, data: bytes, scratch: str) -> None:
    """Make a file with all of ``data`` at one moment, flushed, name included.

    Raises StorageError, the file being absent.
    """
    half = f"{scratch}/{os.getpid()}.{time.monotonic_ns()}"
    try:
        write_new(half, data, flush=True)
        os.rename(half, path)
        flush_folder(os.path.dirname(path))
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(half)
        _failed("could not be written", path, error)


def _flush_names(path: str, root: str) -> None:
    """Flush the names of a file and of the folders it is in, up to ``root``."""
    while path != root:
        path = os.path.dirname(path)
        flush_folder(path)


def _append_whole(handle: int, data: bytes, before: int) -> None:
    """Write all and flush, or take back what was written of it."""
    try:
        written = os.write(handle, data)
        while written < len(data):
            written += os.write(handle, data[written:])
        os.fsync(handle)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
            os.fsync(handle)
        raise


def replace(path: str, data: bytes, scratch: str) -> None:
    """Put ``data`` in the place of ``path`` at one moment.

    Not flushed: what is replaced are projections, which a power cut may take
    and the log gives back. ``scratch`` is a folder of the same file system
    for the half-made file, so that a crash leaves none beside real ones.
    Raises StorageError.
    """
    half = f"{scratch}/{os.getpid()}.{time.monotonic_ns()}"
    try:
        write_new(half, data)
        os.rename(half, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(half)
        _failed("could not be replaced", path, error)


def write_new(path: str, data: bytes, *, flush: bool = False) -> None:
    """Write a file that must not exist yet; raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        if flush:
            os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: str) -> None:
    """Remove a file of ours that may be gone already; raises StorageError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        _failed("could not be removed", path, error)


def move(path: str, to: str) -> None:
    """Move what is at ``path``, whatever it is, both names flushed; raises
    StorageError."""
    try:
        os.rename(path, to)
        flush_folder(os.path.dirname(to))
        flush_folder(os.path.dirname(path))
    except OSError as error:
        _failed("could not be moved", path, error)


def touch(path: str) -> None:
    """See to it that an empty marker file is there; raises StorageError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        os.close(os.open(path, flags, 0o666))
    except OSError as error:
        _failed("could not be made", path, error)


class Holder(NamedTuple):
    """Who says in a lock file that they hold it."""

    pid: str
    who: str
    since: str

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        return f"{self.who} (process {self.pid}, since {self.since})"


@contextlib.contextmanager
def locked(path: str, who: str, seconds: float) -> Iterator[None]:
    """Hold the lock ``path`` for the block.

    A kernel lock: it ends with its process, so none is ever stale and none
    is broken by age. The file stays. Raises LockTimeoutError, naming the
    holder, after ``seconds``.
    """
    handle = acquire(path, who, seconds)
    try:
        yield
    finally:
        os.close(handle)


def acquire(path: str, who: str, seconds: float) -> int:
    """Take a lock and return the handle whose closing releases it."""
    handle = _open_lock(path)
    deadline = time.monotonic() + seconds
    nap = _FIRST_NAP
    while not _try_lock(handle):
        if time.monotonic() >= deadline:
            os.close(handle)
            raise LockTimeoutError(
                f"{os.path.basename(path)} is being written by {holder_of(path)}.",
                "Nothing was written. Try again, or wait longer: --lock-timeout 10",
            )
        time.sleep(nap)
        nap = min(nap * 2, _LONGEST_NAP)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = f"{os.getpid()}\n{now}\n{who}\n".encode(errors="replace")
    with contextlib.suppress(OSError):  # on a full disk the lock itself holds
        os.pwrite(handle, text, 0)
        os.ftruncate(handle, len(text))
    return handle


def try_acquire(path: str) -> int | None:
    """Take a lock if nobody holds it, without waiting."""
    handle = _open_lock(path)
    if _try_lock(handle):
        return handle
    os.close(handle)
    return None


def _open_lock(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            return os.open(path, flags, 0o666)
        except FileNotFoundError:
            make_folder(os.path.dirname(path))
            return os.open(path, flags, 0o666)
    except OSError as error:
        _failed("cannot be locked", path, error)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def holder_of(path: str) -> Holder:
    """What the lock file says of its last holder."""
    try:
        text = (read_plain(path) or b"").decode(errors="replace")
    except OSError:
        text = ""
    pid, since, who = [*text.splitlines(), "", "", ""][:3]
    return Holder(pid, who, since)

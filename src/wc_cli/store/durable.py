"""The only code that changes the bytes of a store.

What is promised here is promised to the disk: an append that returned is
flushed, in a file whose name is flushed as well; one that failed left the
file as long as it was. A replacement is whole or absent, never half.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from typing import TYPE_CHECKING, NoReturn

from wc_core.errors import ConflictError, CorruptError, StorageError, WcError
from wc_core.files import NotPlainError, open_folder, read_plain
from wc_core.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# File systems without hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})

# A store whose entries nobody commits is not to be there twice.
_MAX_SPARE = 16 << 20

_HINTS = {
    errno.ENOSPC: "The disk is full: make room, then run the same command again.",
    errno.EDQUOT: "Your quota is used up: make room, then run it again.",
    errno.EROFS: "The file system is read-only: remount it, or set WATERCOOLER_DIR.",
    errno.EACCES: "Check who owns the store and its permissions: wc doctor",
    errno.EPERM: "Check who owns the store and its permissions: wc doctor",
}


def failed(what: str, path: str, error: OSError) -> NoReturn:
    """Raise the error that says what the disk did not let us do."""
    if isinstance(error, NotPlainError):
        raise CorruptError(
            f"{path} {what}: it {error.strerror}.",
            "Nothing outside the store is written. See what is there: wc doctor",
        ) from error
    hint = _HINTS.get(error.errno or 0, "Nothing was written. Check the disk.")
    raise StorageError(f"{path} {what}: {error.strerror}.", hint) from error


def make_folder(path: str, root: str = "", *, flush: bool = True) -> None:
    """Make a folder and those above it, each name flushed to disk unless
    what it will hold can be rendered anew.

    A ``root`` must be there: what was a store is never made anew by the way.
    Raises StorageError, or CorruptError where a file, or a link, is in the
    way.
    """
    if _is_folder(path, root):
        return
    if path == root:
        raise StorageError(f"{root} is gone.", "See what became of it: wc doctor")
    parent, name = os.path.split(path)
    make_folder(parent, root, flush=flush)
    try:
        with opened(parent, root) as handle:
            # A store with a shared group keeps it: the umask decides, not we.
            os.mkdir(name, dir_fd=handle)
            if flush:
                os.fsync(handle)
    except FileExistsError as error:
        if not os.path.isdir(path):
            raise CorruptError(
                f"{path} is in the way: a folder belongs there.",
                "Move it elsewhere and run the command again.",
            ) from error
    except OSError as error:
        failed("cannot be made", path, error)


def _is_folder(path: str, root: str) -> bool:
    if not root:
        return os.path.isdir(path)
    try:
        os.close(open_folder(path, root))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        failed("cannot be opened", path, error)
    return True


@contextlib.contextmanager
def opened(folder: str, root: str) -> Iterator[int]:
    """A folder for the block: what is done by its handle is done in it,
    whatever somebody puts in its place. Raises OSError."""
    handle = open_folder(folder, root)
    try:
        yield handle
    finally:
        os.close(handle)


def flush_folder(path: str, root: str = "") -> None:
    """Flush the names in a folder; raises OSError."""
    with opened(path, root) as handle:
        os.fsync(handle)


def begin(path: str, data: bytes, root: str) -> int:
    """Make a log with all of ``data`` at one moment: nobody ever sees it empty.
    Its length.

    It is flushed, and so are its name and those of its folders up to
    ``root``: whoever made the folders may have died before they were. The
    caller holds the lock of the file; where a lock was no good, and somebody
    else began the log, that one stays. Raises ConflictError then, StorageError
    or CorruptError, the file being as it was.
    """
    try:
        _put(path, data, root, flush=True, how=_link)
        flush_names(path, root)
    except WcError:
        # A thread that never was has no log.
        _take_back(path, data, root)
        raise
    return len(data)


def _link(half: str, name: str, scratch: int, within: int) -> None:
    """Rename a file, unless something has the new name already.

    By a second name, which replaces nothing; a file system without hard links
    leaves a moment between the look and the renaming.
    """
    begun = ConflictError(
        f"{name} was begun by somebody else this moment.",
        "Nothing was written. Run the same command again.",
    )
    with contextlib.suppress(FileNotFoundError):
        info = os.lstat(name, dir_fd=within)
        if not stat.S_ISREG(info.st_mode) or info.st_size:
            raise begun
        os.unlink(name, dir_fd=within)  # what an older wc died at
    try:
        os.link(half, name, src_dir_fd=scratch, dst_dir_fd=within)
    except FileExistsError as error:
        raise begun from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename(half, name, scratch, within)
    else:
        os.unlink(half, dir_fd=scratch)


def _rename(half: str, name: str, scratch: int, within: int) -> None:
    os.rename(half, name, src_dir_fd=scratch, dst_dir_fd=within)


def _take_back(path: str, data: bytes, root: str) -> None:
    """Remove a file that has just these bytes: ours, and nobody wrote to it."""
    # What is raised is why we are here, not that this failed as well.
    with contextlib.suppress(OSError, WcError):
        if read_plain(path, root) == data:
            remove(path, root)


def append(path: str, line: bytes, root: str) -> int:
    """Append one complete line and flush it; the new length of the file.

    A last line that somebody never finished stays as it is: ours starts on
    a new one. A file that has another name as well, in a copy made of links
    or outside of the store, gets bytes of its own first. The caller holds
    the lock of the file. Raises StorageError, the file being as long as
    before.
    """
    try:
        handle = _open_to_append(path, root)
    except OSError as error:
        failed("cannot be opened for writing", path, error)
    try:
        before = os.fstat(handle).st_size
        if before and os.pread(handle, 1, before - 1) != b"\n":
            line = b"\n" + line
        _append_whole(handle, line, before)
    except OSError as error:
        failed("could not be written", path, error)
    finally:
        os.close(handle)
    return before + len(line)


def _open_to_append(path: str, root: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    with opened(folder, root) as within:
        handle = os.open(name, flags, dir_fd=within)
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            os.close(handle)
            raise NotPlainError(0, "is not a regular file", path)
        if info.st_nlink > 1:
            os.close(handle)
            create(path, read_plain(path, root) or b"", root)
            handle = os.open(name, flags, dir_fd=within)
        return handle


def create(path: str, data: bytes, root: str) -> None:
    """Make a file with all of ``data`` at one moment, flushed, name included.

    Raises StorageError: the file is then as it was, or it has all of
    ``data`` and a power cut may undo that.
    """
    _put(path, data, root, flush=True)
    try:
        flush_folder(os.path.dirname(path), root)
    except OSError as error:
        failed("could not be flushed", path, error)


def replace(path: str, data: bytes, root: str) -> None:
    """Put ``data`` in the place of ``path`` at one moment.

    Not flushed: what is replaced are projections, which a power cut may take
    and the log gives back. Raises StorageError.
    """
    _put(path, data, root, flush=False)


def _put(
    path: str,
    data: bytes,
    root: str,
    *,
    flush: bool,
    how: Callable[[str, str, int, int], None] = _rename,
) -> None:
    # Half-made in a folder of the same file system where a crash leaves none
    # beside real ones.
    half = f"{os.getpid()}.{time.monotonic_ns()}"
    folder, name = os.path.split(path)
    place = Layout(root).scratch
    make_folder(place, root, flush=False)
    try:
        with opened(place, root) as scratch:
            try:
                write_new(half, data, scratch, flush=flush)
                with opened(folder, root) as within:
                    how(half, name, scratch, within)
            except (OSError, WcError):
                with contextlib.suppress(OSError):
                    os.unlink(half, dir_fd=scratch)
                raise
    except OSError as error:
        failed("could not be written", path, error)


def ensure_line(path: str, line: str, root: str) -> bool:
    """See to it that a file has a line, keeping the others; whether it lacked
    it. Raises StorageError or CorruptError."""
    data = f"{line}\n".encode()
    try:
        found = read_plain(path, root)
    except OSError as error:
        failed("cannot be read", path, error)
    if found is not None and line.encode() in found.splitlines():
        return False
    if found is None:
        create(path, data, root)
    else:
        append(path, data, root)
    return True


def flush_names(path: str, root: str) -> None:
    """Flush the names of a file and of the folders it is in, up to ``root``;
    raises StorageError."""
    folder = path
    try:
        while folder != root:
            folder = os.path.dirname(folder)
            flush_folder(folder, root)
    except OSError as error:
        failed("could not be flushed", folder, error)


def _append_whole(handle: int, data: bytes, before: int) -> None:
    """Write all and flush, or take back what was written of it."""
    try:
        written = os.write(handle, data)
        while written < len(data):
            written += os.write(handle, data[written:])
        os.fsync(handle)
        if not os.fstat(handle).st_nlink:  # somebody removed it meanwhile
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
            os.fsync(handle)
        raise


def write_new(
    path: str, data: bytes, within: int | None = None, *, flush: bool = False
) -> None:
    """Write a file that must not exist yet, in the folder of the handle
    ``within`` if one is given; raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o666, dir_fd=within)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        if flush:
            os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: str, root: str = "") -> None:
    """Remove a file of ours that may be gone already; raises StorageError."""
    folder, name = os.path.split(path)
    try:
        with opened(folder, root) as within:
            os.unlink(name, dir_fd=within)
    except FileNotFoundError:
        pass
    except OSError as error:
        failed("could not be removed", path, error)


def move(path: str, to: str, root: str) -> None:
    """Move what is at ``path``, whatever it is, both names flushed; raises
    StorageError."""
    folder, name = os.path.split(path)
    there, called = os.path.split(to)
    try:
        with opened(folder, root) as source, opened(there, root) as target:
            os.rename(name, called, src_dir_fd=source, dst_dir_fd=target)
            os.fsync(target)
            os.fsync(source)
    except OSError as error:
        failed("could not be moved", path, error)


def touch(path: str, root: str) -> None:
    """See to it that an empty marker file is there; raises StorageError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    try:
        with opened(folder, root) as within:
            os.close(os.open(name, flags, 0o666, dir_fd=within))
    except OSError as error:
        failed("could not be made", path, error)


def spare(path: str, line: bytes, root: str) -> None:
    """Add a line to a file as a second copy of what is safe already: it is
    not flushed, and that it cannot be written is no failure."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    with contextlib.suppress(OSError), opened(folder, root) as within:
        handle = os.open(name, flags, dir_fd=within)
        try:
            info = os.fstat(handle)
            # Of a file with two names the other one may be anybody's.
            single = stat.S_ISREG(info.st_mode) and info.st_nlink == 1
            if single and info.st_size < _MAX_SPARE:
                os.write(handle, line)
        finally:
            os.close(handle)

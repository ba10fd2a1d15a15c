"""The only code that changes the bytes of a store.

When an append returns, the line and the file's name are flushed; a failed append leaves
the file's length unchanged. A replacement is atomic: complete or absent.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from wc_cli.ledger.flushing import flush_handle
from wc_core.base.errors import ConflictError, CorruptError, StorageError, WcError
from wc_core.base.files import NotPlainError, open_folder, read_plain
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import NoReturn, TypeAlias

    # The content of a file, at once or in pieces.
    Data: TypeAlias = bytes | Iterable[bytes]

# File systems without hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})

# In a store that is never committed, spare copies must not double its size.
_MAX_SPARE = 16 << 20

# How often a log may be replaced while a line is being appended.
_MAX_REPLACEMENTS = 100

_PERMISSIONS_HINT = (
    "Check who owns the store and its permissions: wc doctor; in an agent's sandbox: "
    "run the same command outside the sandbox."
)
_HINTS = {
    errno.ENOSPC: "The disk is full: make room, then run the same command again.",
    errno.EDQUOT: "Your quota is used up: make room, then run it again.",
    errno.EROFS: (
        "The file system is read-only here. In an agent's sandbox: run the same "
        "command outside the sandbox."
    ),
    errno.EACCES: _PERMISSIONS_HINT,
    errno.EPERM: _PERMISSIONS_HINT,
}


def raise_storage_error(problem: str, path: str, error: OSError) -> NoReturn:
    """Raise StorageError for an error of the disk, CorruptError for a link or another
    object that must not be written to."""
    if isinstance(error, NotPlainError):
        raise CorruptError(
            f"{path} {problem}: it {error.strerror}.",
            "Nothing outside the store is written. See what is there: wc doctor",
        ) from error
    hint = _HINTS.get(error.errno or 0, "Nothing was written. Check the disk.")
    raise StorageError(f"{path} {problem}: {error.strerror}.", hint) from error


def make_folder(path: str, root: str = "", *, flush: bool = True) -> None:
    """Make a folder and its parents; flush each name, unless the folder's content can
    be rendered again.

    A ``root`` must exist: a removed store must not be made again as a side effect.
    Raises StorageError, or CorruptError if a file or a link is in the way.
    """
    if _is_folder(path, root):
        return
    if path == root:
        raise StorageError(f"{root} is gone.", "See what happened to it: wc doctor")
    parent, name = os.path.split(path)
    make_folder(parent, root, flush=flush)
    try:
        with folder_handle(parent, root) as handle:
            # The umask decides the mode, so a store shared by a group stays shared.
            os.mkdir(name, dir_fd=handle)
            if flush:
                flush_handle(handle)
    except FileExistsError as error:
        if not os.path.isdir(path):
            raise CorruptError(
                f"{path} is in the way: a folder belongs there.",
                "Move it elsewhere and run the command again.",
            ) from error
    except OSError as error:
        raise_storage_error("cannot be created", path, error)


def make_private_folder(path: str) -> None:
    """Make a folder and its parents; only the user can read or change what is in it.
    Raises StorageError."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    make_folder(parent)
    try:
        if os.stat(parent).st_uid != os.geteuid():
            # Such as root in the folder of a user, who could not remove it again.
            raise PermissionError(errno.EACCES, "belongs to another user", parent)
        os.mkdir(path, 0o700)
        flush_folder(parent)
    except FileExistsError:
        pass  # another process made it
    except OSError as error:
        raise_storage_error("cannot be created", path, error)


def make_in_private_folder(path: str, root: str) -> None:
    """Make a folder in the private folder ``root``, and that one. Not flushed. Raises
    StorageError."""
    make_private_folder(root)
    make_folder(path, root, flush=False)


def _is_folder(path: str, root: str) -> bool:
    if not root:
        return os.path.isdir(path)
    try:
        os.close(open_folder(path, root))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise_storage_error("cannot be opened", path, error)
    return True


@contextlib.contextmanager
def folder_handle(folder: str, root: str) -> Iterator[int]:
    """Open a folder for a block. Operations through its handle happen in this folder,
    even if another one replaces it in the meantime. Raises OSError."""
    handle = open_folder(folder, root)
    try:
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def made_folder_handle(folder: str, root: str, *, flush: bool = True) -> Iterator[int]:
    """Open a folder for a block like `folder_handle`, and first make it like
    `make_folder` if it is missing. Raises what these raise."""
    try:
        handle = open_folder(folder, root)
    except (FileNotFoundError, NotADirectoryError):
        make_folder(folder, root, flush=flush)
        handle = open_folder(folder, root)
    try:
        yield handle
    finally:
        os.close(handle)


def flush_folder(path: str, root: str = "") -> None:
    """Flush the names in a folder. Raises OSError."""
    with folder_handle(path, root) as handle:
        flush_handle(handle)


def begin_log(path: str, data: bytes, root: str) -> int:
    """Create a log with all of ``data`` atomically: no reader ever sees it empty.
    Returns its length.

    The log is flushed, and so are its name and those of its folders up to ``root``: the
    process that made the folders may have died before doing so. The caller holds the
    lock of the file. If locks do not work and another process began the log, that log
    stays, and this raises ConflictError. Also raises StorageError or CorruptError; the
    file is unchanged then.
    """
    try:
        write = _writing(data, flush=True)
        _write_then_move(path, write, root, _move_to_free_name)
        flush_names(path, root)
    except WcError:
        # The write failed, so it must leave no log.
        _remove_if_equal(path, data, root)
        raise
    return len(data)


def _move_to_free_name(half: str, name: str, scratch: int, target: int) -> None:
    """Rename a file unless the new name is taken.

    A hard link never replaces anything. On a file system without hard links, there is a
    gap between the check and the renaming.
    """
    begun = ConflictError(
        f"{name} was started by someone else just now.",
        "Nothing was written. Run the same command again.",
    )
    with contextlib.suppress(FileNotFoundError):
        info = os.lstat(name, dir_fd=target)
        if not stat.S_ISREG(info.st_mode) or info.st_size:
            raise begun
        os.unlink(name, dir_fd=target)  # left by a crash of an older wc
    try:
        os.link(half, name, src_dir_fd=scratch, dst_dir_fd=target)
    except FileExistsError as error:
        raise begun from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _move_over(half, name, scratch, target)
    else:
        os.unlink(half, dir_fd=scratch)


def _move_over(half: str, name: str, scratch: int, target: int) -> None:
    os.rename(half, name, src_dir_fd=scratch, dst_dir_fd=target)


def _remove_if_equal(path: str, data: bytes, root: str) -> None:
    """Remove a file if it has exactly these bytes: then no other process wrote it."""
    # The caller raises the first error; a second error must not hide it.
    with contextlib.suppress(OSError, WcError):
        if read_plain(path, root) == data:
            remove(path, root)


def append(path: str, line: bytes, root: str, mark: bytes = b"") -> int:
    """Append one complete line and flush it. Returns the new length of the file.

    After an unfinished last line, the new one starts on its own line. A file with a
    second hard link, in a copy of the store or outside it, is copied first. The caller
    holds the file's lock. If another program replaces the file in the meantime, and the
    new file lacks the line, of which ``mark`` is a part, the line is appended again.
    Raises StorageError; the file's length is unchanged then.
    """
    for _ in range(_MAX_REPLACEMENTS):
        size = _append_once(path, line, root)
        if size is not None:
            return size
        data = read_plain(path, root) or b""
        if mark and mark in data:
            return len(data)
    raise ConflictError(
        f"Another program keeps replacing {path}.",
        "Nothing was written. Try again when that program has finished.",
    )


def append_rows(path: str, rows: bytes, root: str, before: int) -> None:
    """Append bytes to a file of ``before`` bytes, and flush them. The caller holds the
    file's lock. Raises StorageError, ConflictError if it has another length; it is
    unchanged then."""
    try:
        handle = _open_to_append(path, root)
    except OSError as error:
        raise_storage_error("cannot be opened for writing", path, error)
    try:
        if os.fstat(handle).st_size != before or not _append_whole(
            handle, rows, before, path
        ):
            raise ConflictError(
                f"Another program changed {path}.", "Run the same command again."
            )
    except OSError as error:
        raise_storage_error("could not be written", path, error)
    finally:
        os.close(handle)


def _append_once(path: str, line: bytes, root: str) -> int | None:
    """Append a line. Returns the new length; ``None`` if ``path`` is another file by
    now. Raises StorageError."""
    try:
        handle = _open_to_append(path, root)
    except OSError as error:
        raise_storage_error("cannot be opened for writing", path, error)
    try:
        before = os.fstat(handle).st_size
        if before and os.pread(handle, 1, before - 1) != b"\n":
            line = b"\n" + line
        is_current = _append_whole(handle, line, before, path)
        return before + len(line) if is_current else None
    except OSError as error:
        raise_storage_error("could not be written", path, error)
    finally:
        os.close(handle)


def _open_to_append(path: str, root: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    with folder_handle(folder, root) as within:
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


def create(path: str, data: Data, root: str) -> None:
    """Write a file with all of ``data`` atomically, flushed, name included.

    Raises StorageError; the file is unchanged then, or has all of ``data`` until the
    next power cut. Raises what ``data`` raises, if that comes in pieces.
    """
    _write_then_move(path, _writing(data, flush=True), root)
    try:
        flush_folder(os.path.dirname(path), root)
    except OSError as error:
        raise_storage_error("could not be flushed", path, error)


def create_new(path: str, data: bytes, root: str) -> bool:
    """Write a file that must not exist yet, atomically, not flushed. Returns False if
    its name is taken. Raises StorageError."""
    try:
        write = _writing(data, flush=False)
        _write_then_move(path, write, root, _move_to_free_name)
    except ConflictError:
        return False
    return True


def replace(path: str, data: bytes, root: str) -> None:
    """Replace the content of ``path`` with ``data`` atomically.

    Not flushed: for projections, which can be rendered from the log after a power cut.
    Raises StorageError.
    """
    _write_then_move(path, _writing(data, flush=False), root)


def replace_if_changed(path: str, data: bytes, root: str) -> bool:
    """Replace the content of ``path`` with ``data``, unless it `has_content` already.
    Returns whether it had other bytes. Raises StorageError or CorruptError."""
    if has_content(path, data, root):
        return False
    replace(path, data, root)
    return True


def has_content(path: str, data: bytes, root: str) -> bool:
    """Return whether a file has exactly these bytes; false for an unreadable file, so
    that wc replaces it.

    Raises CorruptError if it is not a file: wc does not remove that.
    """
    try:
        return read_plain(path, root) == data
    except NotPlainError as error:
        name = os.path.relpath(path, root)
        raise CorruptError(f"{name} {error.strerror}", "See: wc doctor") from error
    except OSError:
        return False


def _writing(data: Data, *, flush: bool) -> Callable[[str, int], None]:
    """A function that writes ``data`` to a new file in a folder."""

    def write(half: str, scratch: int) -> None:
        write_new(half, data, scratch, flush=flush)

    return write


def _write_then_move(
    path: str,
    write: Callable[[str, int], None],
    root: str,
    move_half: Callable[[str, str, int, int], None] = _move_over,
) -> None:
    # In a scratch folder of the same file system, so that a crash leaves no
    # half-written file beside real ones.
    half = f"{os.getpid()}.{time.monotonic_ns()}"
    folder, name = os.path.split(path)
    scratch_path = Layout(root).scratch
    try:
        with made_folder_handle(scratch_path, root, flush=False) as scratch:
            try:
                write(half, scratch)
                with folder_handle(folder, root) as target:
                    move_half(half, name, scratch, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(half, dir_fd=scratch)
                raise
    except OSError as error:
        raise_storage_error("could not be written", path, error)


def ensure_line(path: str, line: str, root: str) -> bool:
    """Append a line to a file unless the file has it. Returns whether it was missing.
    Raises StorageError or CorruptError."""
    data = f"{line}\n".encode()
    try:
        content = read_plain(path, root)
    except OSError as error:
        raise_storage_error("cannot be read", path, error)
    if content is not None and line.encode() in content.splitlines():
        return False
    if content is None:
        create(path, data, root)
    else:
        append(path, data, root)
    return True


def flush_names(path: str, root: str) -> None:
    """Flush the names of a file and of its folders, up to ``root``. Raises
    StorageError."""
    folder = path
    try:
        while folder != root:
            folder = os.path.dirname(folder)
            flush_folder(folder, root)
    except OSError as error:
        raise_storage_error("could not be flushed", folder, error)


def flush_parents(path: str, count: int) -> None:
    """Flush the names of ``path`` and of the ``count`` - 1 folders above it: git, or a
    process that has died, may have made them. Raises StorageError."""
    folder = path
    for _ in range(count):
        folder = os.path.dirname(folder)
        try:
            flush_folder(folder)
        except PermissionError:
            return  # whoever may not read a folder has not made it
        except OSError as error:
            raise_storage_error("could not be flushed", folder, error)


def _append_whole(handle: int, data: bytes, before: int, path: str) -> bool:
    """Write all of ``data`` and flush it, or truncate the file to ``before`` bytes.

    Returns whether it is still the file at ``path``; raises FileNotFoundError if
    nothing is there.
    """
    try:
        written = os.write(handle, data)
        while written < len(data):
            written += os.write(handle, data[written:])
        flush_handle(handle)
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
            flush_handle(handle)
        raise


def write_new(
    path: str,
    data: Data,
    within: int | None = None,
    *,
    flush: bool = False,
    mode: int = 0o666,
    time_ns: int = 0,
) -> os.stat_result:
    """Write a file that must not exist yet, relative to the folder handle ``within``,
    if given. ``time_ns`` is the time that it gets, by default that of now. Returns its
    state. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, mode, dir_fd=within)
    try:
        for piece in [data] if isinstance(data, bytes) else data:
            view = memoryview(piece)
            while view:
                view = view[os.write(handle, view) :]
        if flush:
            flush_handle(handle)
        if time_ns:
            os.utime(handle, ns=(time_ns, time_ns))
        return os.fstat(handle)
    finally:
        os.close(handle)


def point(path: str, target: str) -> None:
    """Make a symbolic link, or replace one. Raises system errors."""
    half = f"{path}.{os.getpid()}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(half)  # a process of this number was killed
    os.symlink(target, half)
    os.rename(half, path)


def replace_beside(path: str, data: bytes) -> None:
    """Replace a file or link outside of a store, by way of one beside it. Raises system
    errors."""
    half = f"{path}.{os.getpid()}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(half)  # a process of this number was killed
    write_new(half, data)
    os.rename(half, path)


def remove(path: str, root: str = "") -> None:
    """Remove a file, which may be gone already. Raises StorageError."""
    folder, name = os.path.split(path)
    try:
        with folder_handle(folder, root) as within:
            os.unlink(name, dir_fd=within)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise_storage_error("could not be removed", path, error)


def remove_tree(path: str, root: str) -> None:
    """Remove a file, or a folder with everything in it; links are not followed. Raises
    StorageError and OSError."""
    if os.path.islink(path) or not os.path.isdir(path):
        remove(path, root)
        return
    for folder, folders, files in os.walk(path, topdown=False):
        for name in (*files, *folders):
            item = f"{folder}/{name}"
            if os.path.islink(item) or not os.path.isdir(item):
                os.unlink(item)
            else:
                os.rmdir(item)
    os.rmdir(path)


def move(path: str, to: str, root: str) -> None:
    """Move a file, folder or link, and flush both names. Raises StorageError."""
    folder, name = os.path.split(path)
    new_folder, new_name = os.path.split(to)
    try:
        with (
            folder_handle(folder, root) as source,
            folder_handle(new_folder, root) as target,
        ):
            os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
            flush_handle(target)
            flush_handle(source)
    except OSError as error:
        raise_storage_error("could not be moved", path, error)


def touch(path: str, root: str) -> None:
    """Create an empty marker file unless it exists. Raises StorageError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    try:
        with folder_handle(folder, root) as within:
            os.close(os.open(name, flags, 0o666, dir_fd=within))
    except OSError as error:
        raise_storage_error("could not be made", path, error)


def append_unflushed(path: str, line: bytes, root: str) -> bool:
    """Append a line to an existing, unimportant file, such as a second copy of safe
    data. Not flushed. Errors are ignored: returns whether all of it was written."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    folder, name = os.path.split(path)
    with contextlib.suppress(OSError), folder_handle(folder, root) as within:
        handle = os.open(name, flags, dir_fd=within)
        try:
            info = os.fstat(handle)
            # The second name of a hard-linked file may be outside the store.
            single = stat.S_ISREG(info.st_mode) and info.st_nlink == 1
            if single and info.st_size < _MAX_SPARE:
                return os.write(handle, line) == len(line)
        finally:
            os.close(handle)
    return False

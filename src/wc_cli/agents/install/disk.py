"""People's files: read, replaced atomically, removed.

Symbolic links are followed: settings are often links into a dotfiles folder, and the
file there is replaced. Its permissions stay. In a repository, whose links others can
push, they are only followed within it (`require_inside`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys

from wc_cli.ledger.flushing import flush_handle
from wc_core.base.errors import ConflictError, CorruptError, StorageError, WcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NoReturn

# Arguments of renameat2(2).
_CURRENT, _RENAME_EXCHANGE = -100, 2

# More than any settings file has.
_MAX_BYTES = 32 << 20


def real_path(path: str) -> str:
    """The file that a path leads to. Raises StorageError for a cycle of links."""
    try:
        return os.path.realpath(path)
    except OSError as error:
        _raise_failure("cannot be followed", path, error)


def require_inside(path: str, top: str) -> None:
    """Raise ConflictError if a path leads out of the repository with this top folder,
    or into git's own folder."""
    target = real_path(path)
    names = os.path.relpath(target, real_path(top)).split(os.sep)
    if os.pardir in names or ".git" in map(str.casefold, names):
        raise ConflictError(
            f"{path} leads out of the repository, to {target}.",
            "It was left as it is. Remove the link, then run it again.",
        )


def read(path: str) -> bytes | None:
    """The bytes of a file, or ``None`` if it does not exist.

    Raises StorageError, and CorruptError for anything that is not a settings file.
    """
    try:
        # Non-blocking: opening a named pipe would wait for its writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_BYTES:
                raise CorruptError(
                    f"{path} is not a settings file.", "See what is there: ls -la"
                )
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        _raise_failure("cannot be read", path, error)


def check(path: str) -> None:
    """Raise StorageError if a file cannot be changed or created."""
    try:
        info = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        folder = _existing(os.path.dirname(path))
        if not os.path.isdir(folder):
            raise StorageError(
                f"{path} cannot be created: {folder} is not a folder.",
                "Move that file elsewhere.",
            ) from None
        if not os.access(folder, os.W_OK):
            raise StorageError(
                f"{path} cannot be created: {folder} is not writable.",
                f"Check its permissions: ls -ld {folder}",
            ) from None
        return
    except OSError as error:
        _raise_failure("cannot be examined", path, error)
    if info.st_uid != os.geteuid():
        raise StorageError(
            f"{path} belongs to another user.",
            "It was left as it is. Run wc install as that user, without sudo.",
        )
    if not info.st_mode & stat.S_IWUSR or not os.access(os.path.dirname(path), os.W_OK):
        raise StorageError(
            f"{path} is read-only.",
            "It was left as it is. If another tool generates it, change its source.",
        )


def _existing(folder: str) -> str:
    """The folder, or its nearest ancestor that exists."""
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def missing_folders(folder: str) -> tuple[str, ...]:
    """The folder and its ancestors that do not exist, the innermost last."""
    folders: list[str] = []
    while not os.path.isdir(folder):
        folders.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(folders))


def make_folders(folders: Iterable[str]) -> None:
    """Create missing folders, in order. Raises StorageError."""
    for folder in folders:
        try:
            os.mkdir(folder)
        except FileExistsError:
            continue  # another process has just created it
        except OSError as error:
            _raise_failure("cannot be created", folder, error)


def remove_folders(folders: Iterable[str]) -> None:
    """Remove the empty folders among these, the last first."""
    for folder in reversed(tuple(folders)):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def half_of(path: str) -> str:
    """Where a file is written before it is renamed into place. A killed process leaves
    it behind; its fixed name lets the next process find it."""
    return f"{path}.wc-half"


def write(path: str, data: bytes, *, mode: int | None = None) -> None:
    """Write a file atomically, and flush it. An existing file keeps its permissions; a
    new one gets ``mode``, or the usual permissions. Raises StorageError."""
    half = half_of(path)
    try:
        with _no_half_left(half):
            _write_half(path, data, mode)
            os.rename(half, path)
        _flush_folder(os.path.dirname(path))
    except OSError as error:
        _raise_failure("could not be written", path, error)


def _write_half(path: str, data: bytes, mode: int | None) -> None:
    half = half_of(path)
    remove(half)
    with contextlib.suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(path).st_mode)
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(handle, "wb") as file:
        if mode is not None:
            os.fchmod(handle, mode)
        file.write(data)
        file.flush()
        flush_handle(handle)


@contextlib.contextmanager
def _no_half_left(half: str) -> Iterator[None]:
    try:
        yield
    except (OSError, WcError):
        with contextlib.suppress(OSError):
            os.unlink(half)
        raise


def replace(
    path: str, before: bytes | None, after: bytes | None, *, mode: int | None = None
) -> None:
    """Replace a file as `take_place` does, and forget the replaced one."""
    replaced = take_place(path, before, after, mode=mode)
    if replaced is not None:
        os.close(replaced)


def take_place(
    path: str, before: bytes | None, after: bytes | None, *, mode: int | None = None
) -> int | None:
    """Replace the content ``before`` by ``after``; ``None`` stands for no file. A new
    file gets ``mode``, or the usual permissions.

    Returns the file that was replaced, opened, for `content`: a program that had opened
    it may still write to it. Raises ConflictError, with that program's version in
    place, if another one wrote in the meantime; StorageError.
    """
    half, old = half_of(path), None
    try:
        with _no_half_left(half):
            if after is not None:
                _write_half(path, after, mode)
            if before is not None:
                old = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            if read(path) != before:
                raise changed_error(path)
            _move_into_place(path, before, after)
        _flush_folder(os.path.dirname(path))
    except (OSError, WcError) as error:
        if old is not None:
            os.close(old)
        if isinstance(error, FileNotFoundError | FileExistsError):
            raise changed_error(path) from error
        if isinstance(error, WcError):
            raise
        _raise_failure("could not be written", path, error)
    return old


def _move_into_place(path: str, before: bytes | None, after: bytes | None) -> None:
    """Put the half-written file into its place. What another program wrote since it was
    compared with ``before`` comes back. Raises OSError, ConflictError, StorageError."""
    half = half_of(path)
    if after is None:
        os.rename(path, half)
    elif before is None:
        os.link(half, path)
    elif not _exchange(half, path):
        os.rename(half, path)
        return
    try:
        replaced = None if before is None else read(half)
    except WcError:
        os.rename(half, path)
        raise
    if replaced != before:
        if read(path) == after:
            os.rename(half, path)
        raise changed_error(path)
    os.unlink(half)


def _exchange(first: str, second: str) -> bool:
    """Exchange two files atomically. Returns False where that is not possible."""
    if sys.platform != "linux":
        return False
    import ctypes  # 4 ms, only when a file of settings is changed

    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    paths = (_CURRENT, os.fsencode(first), _CURRENT, os.fsencode(second))
    if function is None:
        return False
    if function(*paths, _RENAME_EXCHANGE) == 0:
        return True
    if ctypes.get_errno() == errno.ENOENT:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), second)
    return False


def content(handle: int) -> bytes:
    """The content of an opened file, whatever its name is now. Raises StorageError."""
    try:
        return os.pread(handle, _MAX_BYTES, 0)
    except OSError as error:
        _raise_failure("cannot be read", "The file that was replaced", error)


def changed_error(path: str) -> ConflictError:
    """The error for a file that someone else changes at the same time."""
    return ConflictError(
        f"{path} was changed by another program just now.",
        "Its version was kept. Run the same command again.",
    )


def remove(path: str) -> None:
    """Remove a file if it exists. Raises StorageError."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        _raise_failure("cannot be removed", path, error)


def _flush_folder(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flush_handle(handle)
    finally:
        os.close(handle)


def _raise_failure(problem: str, path: str, error: OSError) -> NoReturn:
    raise StorageError(
        f"{path} {problem}: {error.strerror}.", "It was left as it is."
    ) from error

"""Opening files for reading, inside one folder and nowhere else.

Whoever names a ``root`` is never led out of it: each folder on the way is
opened from the one above, and a link is refused, also one that somebody puts
there this very moment. Without a root links are followed up to the file.
"""

from __future__ import annotations

import errno
import math
import os
import stat
import time
from typing import TYPE_CHECKING, Self

from wc_core.errors import CorruptError, StorageError

if TYPE_CHECKING:
    from types import TracebackType

# Above this nothing is read: it would not fit into memory with all that is
# made of it, and one such file would end the server for all threads.
MAX_BYTES = 1 << 30

# O_NONBLOCK: a FIFO somebody left in the store must not hang a reader.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CHUNK = 1 << 20
_TAIL = 4096
# Nothing can be there: a folder on the way is missing, is a file, or the name
# is longer than any the file system has.
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class NotPlainError(OSError):
    """Where a file should be there is a folder, a link or something stranger,
    or a link where a folder should be on the way to it."""


def open_folder(path: str, root: str = "") -> int:
    """A handle of a folder.

    Raises NotPlainError for a link at ``path`` or between ``root`` and it,
    another OSError for what cannot be opened.
    """
    handle = os.open(root or path, _FOLDER)
    for name in _below(path, root):
        try:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=handle)
        except OSError as error:
            if _is_link(name, handle):
                raise NotPlainError(
                    errno.ELOOP, "is reached through a symbolic link", path
                ) from error
            raise
        finally:
            os.close(handle)
        handle = inner
    return handle


def _below(path: str, root: str) -> list[str]:
    """The names that lead from ``root`` to ``path``."""
    if not root or path == root:
        return []
    names = path.removeprefix(f"{root}/").split("/")
    if not path.startswith(f"{root}/") or {"", ".", ".."} & set(names):
        raise ValueError(f"{path!r} is not below {root!r}")
    return names


def _is_link(name: str, within: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=within).st_mode)
    except OSError:
        return False


class Folder:
    """A folder that may be missing, open for the block; its files by name.

    The names are those of the folder as it was opened, whatever is put in
    its place meanwhile. Raises OSError where it is there and cannot be
    opened.
    """

    def __init__(self, path: str, root: str = "") -> None:
        self.path = path
        self.handle: int | None = None
        try:
            self.handle = open_folder(path, root)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.handle is not None:
            os.close(self.handle)

    def read(self, path: str, limit: int = MAX_BYTES) -> bytes | None:
        """The bytes of the file whose path (or name) ends in here, as
        `read_plain`."""
        if self.handle is None:
            return None
        return _read(os.path.basename(path), self.handle, limit)

    def size(self, path: str) -> int:
        """The length of a file in here, as `size_of`."""
        if self.handle is None:
            return -1
        return _size(os.path.basename(path), self.handle)

    def is_recent(self, path: str, seconds: float) -> bool:
        """Whether a file in here was written to within so many seconds, by a
        clock that may be off either way; one that is gone was not."""
        changed = self.changed_ns(path)
        return changed >= 0 and abs(time.time() - changed / 1e9) <= seconds

    def changed_ns(self, path: str) -> int:
        """When a file in here was last written to, in nanoseconds since 1970;
        -1 for one that is gone."""
        if self.handle is None:
            return -1
        try:
            info = os.lstat(os.path.basename(path), dir_fd=self.handle)
        except OSError:
            return -1
        return info.st_mtime_ns

    def last_line(self, path: str, size: int) -> bytes:
        """The last line of a file of ``size`` bytes, at a cost that does not
        grow with the file. Raises OSError."""
        handle = os.open(os.path.basename(path), _FLAGS, dir_fd=self.handle)
        try:
            length = _TAIL
            while True:
                start = max(0, size - length)
                data = os.pread(handle, size - start, start)
                end = data.rfind(b"\n", 0, len(data) - 1)
                if end >= 0 or not start:
                    return data[end + 1 :]
                length *= 8
        finally:
            os.close(handle)


def read_plain(path: str, root: str = "", limit: int = MAX_BYTES) -> bytes | None:
    """The bytes of a regular file, ``None`` where there is none.

    Raises NotPlainError for a symbolic link, a folder, a device or a file of
    more than ``limit`` bytes, OSError for what may not be read.
    """
    if not root:
        return _read(path, None, limit)
    with Folder(os.path.dirname(path), root) as folder:
        return folder.read(path, limit)


def _read(path: str, within: int | None, limit: int) -> bytes | None:
    try:
        handle = os.open(path, _FLAGS, dir_fd=within)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        if _is_link(path, within):
            raise NotPlainError(error.errno, "is a symbolic link", path) from error
        raise
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise NotPlainError(0, "is not a regular file", path)
        if info.st_size > limit:
            raise NotPlainError(errno.EFBIG, f"has more than {limit} bytes", path)
        chunks = []
        wanted = info.st_size + 1
        while chunk := os.read(handle, wanted):
            chunks.append(chunk)
            if len(chunk) < wanted:
                break
            wanted = _CHUNK
    finally:
        os.close(handle)
    return b"".join(chunks)


def read_from(path: str, root: str, start: int, length: int = 0) -> bytes:
    """The bytes of a regular file from ``start`` on, ``length`` at most (0: up
    to its end). Raises OSError."""
    with Folder(os.path.dirname(path), root) as folder:
        if folder.handle is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        handle = os.open(os.path.basename(path), _FLAGS, dir_fd=folder.handle)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise NotPlainError(0, "is not a regular file", path)
        chunks = []
        left = min(length or MAX_BYTES, max(0, info.st_size - start))
        while left and (chunk := os.pread(handle, left, start)):
            chunks.append(chunk)
            start, left = start + len(chunk), left - len(chunk)
    finally:
        os.close(handle)
    return b"".join(chunks)


def age_of(path: str) -> float:
    """Seconds since a file was written; infinite if there is none, or if it cannot
    be looked up."""
    try:
        # A clock that was set back must not make a file look new for long.
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return math.inf


def size_of(path: str, root: str = "") -> int:
    """The length of a regular file; -1 where there is none.

    Raises OSError where a folder on the way may not be entered or is a link.
    """
    if not root:
        return _size(path, None)
    with Folder(os.path.dirname(path), root) as folder:
        return folder.size(path)


def _size(path: str, within: int | None) -> int:
    try:
        info = os.lstat(path, dir_fd=within)
    except OSError as error:
        if error.errno in _ABSENT:
            return -1
        raise
    return info.st_size if stat.S_ISREG(info.st_mode) else -1


def names_in(folder: str, root: str = "") -> list[str]:
    """The names in a folder, sorted; none where it does not exist.

    Raises StorageError where the folder may not be read, CorruptError where a
    link leads to it: neither is the same as there being nothing.
    """
    try:
        with Folder(folder, root) as one:
            return [] if one.handle is None else sorted(os.listdir(one.handle))
    except NotPlainError as error:
        raise CorruptError(
            f"{folder} {error.strerror}; nothing outside the store is read.",
            "Replace the link with the folder it stands for.",
        ) from error
    except OSError as error:
        raise StorageError(f"{folder} cannot be read: {error.strerror}.") from error

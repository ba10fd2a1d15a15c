"""Opens files for reading, inside one root folder and nowhere else.

With a ``root``, no path leads out of it: each folder on the way is opened
relative to the one above, and symbolic links are refused, even if they are
created during the call. Without a root, links in the path are followed, except
for the file itself.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from wc_core.base.errors import CorruptError, StorageError
from wc_core.base.lean.contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

# Larger files are not read: with everything computed from it, a larger file would not
# fit into memory, and would end the server for all threads.
MAX_BYTES = 1 << 30

# O_NONBLOCK: a FIFO in the store must not block a reader.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CHUNK = 1 << 20
# Python reuses a buffer of this size for the next piece instead of requesting new
# memory: reading 5 MB takes a third of the time.
_PIECE = 1 << 16
_TAIL = 4096
# As math.inf: to import math takes 0.2 ms.
INFINITE = float("inf")
# The errors that mean that no file can exist: a folder on the way is missing or is a
# file, or the name is longer than the file system allows.
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


# Inside `keeping_folders`, the handles of the folders that it keeps open, by path.
_kept: dict[str, int] | None = None


class NotPlainError(OSError):
    """A path is not a regular file, or a folder on the way to it is a link."""


def open_folder(path: str, root: str = "") -> int:
    """Open a folder. Returns its file descriptor.

    Raises NotPlainError for a link at ``path`` or between ``root`` and it, and
    another OSError if it cannot be opened.
    """
    names = _path_parts(path, root)
    if _kept is not None and names:
        return _open_inside(_kept_folder(root, names[:-1], _kept), names[-1], path)
    handle = os.open(root or path, _FOLDER)
    for name in names:
        try:
            inner = _open_inside(handle, name, path)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _open_inside(parent: int, name: str, path: str) -> int:
    """Open the folder of that name in another one, on the way to ``path``."""
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        # For a link, the error is another one. A brief looks for many missing folders.
        if error.errno != errno.ENOENT and _is_link(name, parent):
            raise NotPlainError(
                errno.ELOOP, "is reached through a symbolic link", path
            ) from error
        raise


@contextmanager
def keeping_folders() -> Iterator[None]:
    """In the block, keep the folders on the way to others open, and start from them.

    Opening the folder of a thread then takes a third of the time. A folder that is
    replaced in the block is read as it was, so the block should be short. Only for
    processes with a single thread.
    """
    global _kept
    before, _kept = _kept, {}
    try:
        yield
    finally:
        handles, _kept = _kept.values(), before
        for handle in handles:
            os.close(handle)


def _kept_folder(root: str, names: Sequence[str], kept: dict[str, int]) -> int:
    """The handle of a folder below ``root`` that stays open, like those above it."""
    path = root
    handle = kept.get(path)
    if handle is None:
        handle = kept[path] = os.open(path, _FOLDER)
    for name in names:
        path = f"{path}/{name}"
        inner = kept.get(path)
        if inner is None:
            inner = kept[path] = _open_inside(handle, name, path)
        handle = inner
    return handle


def _path_parts(path: str, root: str) -> list[str]:
    """The names of the folders that lead from ``root`` to ``path``."""
    if not root or path == root:
        return []
    names = path.removeprefix(f"{root}/").split("/")
    if not path.startswith(f"{root}/") or {"", ".", ".."} & set(names):
        raise ValueError(f"{path!r} is not below {root!r}")
    return names


def _is_link(name: str, folder: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    except OSError:
        return False


class Folder:
    """A context manager for an open folder, which may be missing.

    Its methods read the files of the folder that was opened, even if its path is
    replaced in the meantime. Raises OSError if the folder exists but cannot be opened.
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
        self.close()

    def close(self) -> None:
        """Close it; it can no longer be read."""
        if self.handle is not None:
            os.close(self.handle)

    def read(self, path: str, limit: int = MAX_BYTES) -> bytes | None:
        """The bytes of a file in this folder, like `read_plain`.

        Of ``path``, only the name of the file counts.
        """
        if self.handle is None:
            return None
        # The same as basename, in half the time: some commands read thousands.
        return _read(path.rpartition("/")[2], self.handle, limit)

    def has(self, path: str) -> bool:
        """Whether there is anything of that name in this folder."""
        if self.handle is None:
            return False
        return os.access(os.path.basename(path), os.F_OK, dir_fd=self.handle)

    def size(self, path: str) -> int:
        """The length of a file in this folder, like `size_of`."""
        if self.handle is None:
            return -1
        return _size(os.path.basename(path), self.handle)

    def is_recent(self, path: str, seconds: float) -> bool:
        """Whether a file in this folder was changed in the last seconds.

        Times in the near future count as well, because clocks differ.
        """
        changed = self.changed_ns(path)
        return changed >= 0 and abs(time.time() - changed / 1e9) <= seconds

    def changed_ns(self, path: str) -> int:
        """The time of a file's last change, in ns since 1970; -1 if it is missing."""
        if self.handle is None:
            return -1
        try:
            info = os.lstat(os.path.basename(path), dir_fd=self.handle)
        except OSError:
            return -1
        return info.st_mtime_ns

    def heads(self, names: Iterable[str], length: int) -> Iterator[bytes]:
        """Yields at most the first ``length`` bytes of each file with these names,
        which is empty if it is missing or cannot be read. It does not check that a file
        is a regular one, but never waits for a special one. There may be thousands, so
        each takes three system calls."""
        handle = self.handle
        for name in () if handle is None else names:
            try:
                file = os.open(name, _FLAGS, dir_fd=handle)
                try:
                    data = os.read(file, length)
                finally:
                    os.close(file)
            except OSError:
                data = b""  # missing, a link or a folder
            yield data

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yields the bytes of a regular file in this folder in pieces of at most 64 KB,
        so that they need not all be in memory. Raises OSError."""
        handle = self._open_regular(path)
        try:
            while piece := os.read(handle, _PIECE):
                yield piece
        finally:
            os.close(handle)

    def tail(self, path: str, length: int) -> bytes:
        """At most the last ``length`` bytes of a regular file in this folder. Raises
        OSError."""
        handle = self._open_regular(path)
        try:
            size = os.fstat(handle).st_size
            return os.pread(handle, length, max(0, size - length))
        finally:
            os.close(handle)

    def _open_regular(self, path: str) -> int:
        """Open a file in this folder. Raises NotPlainError if it is not a regular one,
        and another OSError if it cannot be opened."""
        if self.handle is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        handle = os.open(os.path.basename(path), _FLAGS, dir_fd=self.handle)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise NotPlainError(0, "is not a regular file", path)
        return handle

    def last_line(self, path: str, size: int, most: int) -> bytes:
        """The last line of a file of ``size`` bytes; empty if it has more than about
        ``most``.

        The cost does not grow with the file. Raises OSError.
        """
        handle = os.open(os.path.basename(path), _FLAGS, dir_fd=self.handle)
        try:
            length = _TAIL
            while True:
                start = max(0, size - length)
                data = os.pread(handle, size - start, start)
                end = data.rfind(b"\n", 0, len(data) - 1)
                if end >= 0 or not start:
                    return data[end + 1 :]
                if length >= most + _TAIL:
                    return b""
                length = min(8 * length, most + _TAIL)
        finally:
            os.close(handle)


class OpenFolders:
    """A context manager that reads files below ``root`` and opens each of their folders
    once. A folder that is replaced in the block is read as it was."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[str, Folder] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for folder in self._folders.values():
            folder.close()

    def read(self, path: str, limit: int = MAX_BYTES) -> bytes | None:
        """The bytes of a file, like `read_plain`."""
        parent, _, name = path.rpartition("/")
        folder = self._folders.get(parent)
        if folder is None:
            folder = self._folders[parent] = Folder(parent, self._root)
        return folder.read(name, limit)


def read_plain(path: str, root: str = "", limit: int = MAX_BYTES) -> bytes | None:
    """The bytes of a regular file; ``None`` if it does not exist.

    Raises NotPlainError for a symbolic link, a folder, a device or a file of
    more than ``limit`` bytes, and OSError for a file that may not be read.
    """
    if not root:
        return _read(path, None, limit)
    with Folder(os.path.dirname(path), root) as folder:
        return folder.read(path, limit)


def _read(path: str, folder: int | None, limit: int) -> bytes | None:
    try:
        handle = os.open(path, _FLAGS, dir_fd=folder)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        if _is_link(path, folder):
            raise NotPlainError(error.errno, "is a symbolic link", path) from error
        raise
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise NotPlainError(0, "is not a regular file", path)
        if info.st_size > limit:
            raise NotPlainError(errno.EFBIG, f"has more than {limit} bytes", path)
        chunks = []
        length = info.st_size + 1
        while chunk := os.read(handle, length):
            chunks.append(chunk)
            if len(chunk) < length:
                break
            length = _CHUNK
    finally:
        os.close(handle)
    return b"".join(chunks)


def pieces_of(path: str, root: str) -> Iterator[bytes]:
    """Yields the bytes of a regular file in pieces, see `Folder.pieces`. Raises
    OSError."""
    with Folder(os.path.dirname(path), root) as folder:
        yield from folder.pieces(path)


def read_from(path: str, root: str, start: int, length: int = 0) -> bytes:
    """At most ``length`` bytes of a regular file from ``start`` on (0: all of them).

    Raises OSError.
    """
    with Folder(os.path.dirname(path), root) as folder:
        if folder.handle is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        handle = os.open(os.path.basename(path), _FLAGS, dir_fd=folder.handle)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise NotPlainError(0, "is not a regular file", path)
        chunks = []
        remaining = min(length or MAX_BYTES, max(0, info.st_size - start))
        while remaining and (chunk := os.pread(handle, remaining, start)):
            chunks.append(chunk)
            start, remaining = start + len(chunk), remaining - len(chunk)
    finally:
        os.close(handle)
    return b"".join(chunks)


def age_of(path: str) -> float:
    """Seconds since a file was changed; infinite if it is missing or inaccessible."""
    try:
        # abs(): after a clock was set back, a file must not look new for long.
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return INFINITE


def size_of(path: str, root: str = "") -> int:
    """The length of a regular file; -1 if there is none.

    Raises OSError if a folder on the way may not be entered or is a link.
    """
    if not root:
        return _size(path, None)
    with Folder(os.path.dirname(path), root) as folder:
        return folder.size(path)


def _size(path: str, folder: int | None) -> int:
    try:
        info = os.lstat(path, dir_fd=folder)
    except OSError as error:
        if error.errno in _ABSENT:
            return -1
        raise
    return info.st_size if stat.S_ISREG(info.st_mode) else -1


def names_in(folder: str, root: str = "") -> list[str]:
    """The names in a folder, sorted; see `unordered_names_in`."""
    return sorted(unordered_names_in(folder, root))


def unordered_names_in(folder: str, root: str = "") -> list[str]:
    """The names in a folder; none if it does not exist.

    Raises StorageError if the folder may not be read, and CorruptError if a
    link leads to it: neither means that it is empty.
    """
    try:
        with Folder(folder, root) as opened:
            return [] if opened.handle is None else os.listdir(opened.handle)
    except NotPlainError as error:
        raise CorruptError(
            f"{folder} {error.strerror}; nothing outside the store is read.",
            "Replace the link with the folder it stands for.",
        ) from error
    except OSError as error:
        raise StorageError(f"{folder} cannot be read: {error.strerror}.") from error

"""Opening files for reading, inside one folder and nowhere else."""

from __future__ import annotations

import errno
import os
import stat

from wc_core.errors import StorageError

# O_NONBLOCK: a FIFO somebody left in the store must not hang a reader.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CHUNK = 1 << 20
_TAIL = 4096
# Nothing can be there: a folder on the way is missing, is a file, or the name
# is longer than any the file system has.
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class NotPlainError(OSError):
    """Where a file should be there is a folder, a link or something stranger."""


def read_plain(path: str) -> bytes | None:
    """The bytes of a regular file, ``None`` where there is none.

    Raises NotPlainError for a symbolic link, a folder or a device, OSError
    for what may not be read.
    """
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        if os.path.islink(path):
            raise NotPlainError(error.errno, "is a symbolic link", path) from error
        raise
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise NotPlainError(0, "is not a regular file", path)
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


def size_of(path: str) -> int:
    """The length of a regular file; -1 where there is none.

    Raises OSError where a folder on the way may not be entered.
    """
    try:
        info = os.lstat(path)
    except OSError as error:
        if error.errno in _ABSENT:
            return -1
        raise
    return info.st_size if stat.S_ISREG(info.st_mode) else -1


def last_line(path: str, size: int) -> bytes:
    """The last line of a file of ``size`` bytes, at a cost that does not grow
    with the file. Raises OSError."""
    handle = os.open(path, _FLAGS)
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


def names_in(folder: str) -> list[str]:
    """The names in a folder, sorted; none where it does not exist.

    Raises StorageError where the folder may not be read: that is not the
    same as there being nothing.
    """
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        if error.errno in _ABSENT:
            return []
        raise StorageError(f"{folder} cannot be read: {error.strerror}.") from error

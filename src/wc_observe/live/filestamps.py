"""What tells that a file is another one than before, or was written to."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple


class Stamp(NamedTuple):
    """What tells that a file is another one, has other bytes in it, or may be
    read by others. A tool that sets the time of writing cannot set ``ctime_ns``."""

    inode: int = 0
    size: int = -1
    mtime_ns: int = 0
    ctime_ns: int = 0


def stamp_of(path: str) -> Stamp:
    """The stamp of a file or folder; that of nothing where there is none, or
    what nobody reads: a link."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return Stamp()
    if stat.S_ISLNK(info.st_mode):
        return Stamp()
    return Stamp(info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)

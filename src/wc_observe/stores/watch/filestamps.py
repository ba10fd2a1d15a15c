"""File stamps, which show whether a file was replaced or written to."""

from __future__ import annotations

import os
import stat

from wc_core.base.values import NamedTuple


class Stamp(NamedTuple):
    """Values that change when a file is replaced, gets other bytes, or other
    permissions. A tool that sets the modification time cannot set ``ctime_ns``."""

    inode: int = 0
    size: int = -1
    mtime_ns: int = 0
    ctime_ns: int = 0


def stamp_of(path: str) -> Stamp:
    """Returns the stamp of a file or folder. A missing one and a link, which is never
    read, have the empty stamp."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return Stamp()
    if stat.S_ISLNK(info.st_mode):
        return Stamp()
    return Stamp(info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)

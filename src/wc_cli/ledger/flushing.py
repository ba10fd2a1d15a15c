"""Flushes files and folders to the drive; nothing else does."""

from __future__ import annotations

import errno
import fcntl
import os

# macOS: fsync(2) there leaves the data in the drive's own memory, where a power cut
# destroys it. This request also flushes that.
_FULL_FLUSH: int | None = getattr(fcntl, "F_FULLFSYNC", None)

# What file systems answer that do not know the request, such as those of a network.
_UNKNOWN = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOTTY})


def flush_handle(handle: int) -> None:
    """Flush an open file, or the names in an open folder, so that they survive a power
    cut. Raises OSError."""
    if _FULL_FLUSH is not None:
        try:
            fcntl.fcntl(handle, _FULL_FLUSH)
        except OSError as error:
            if error.errno not in _UNKNOWN:
                raise
        else:
            return
    os.fsync(handle)

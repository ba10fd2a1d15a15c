"""`sqlite3` without its converters of dates, which import `datetime`.

Gains about 1 ms of `wc search`, where SQLite itself imports `collections`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import (
        SQLITE_ATTACH,
        SQLITE_DENY,
        SQLITE_OK,
        Connection,
        Error,
        connect,
        threadsafety,
    )
else:
    try:
        import _sqlite3 as _module
    except ImportError:  # other implementations of Python; or there is no SQLite
        import sqlite3 as _module

    SQLITE_ATTACH = _module.SQLITE_ATTACH
    SQLITE_DENY = _module.SQLITE_DENY
    SQLITE_OK = _module.SQLITE_OK
    Connection = _module.Connection
    Error = _module.Error
    connect = _module.connect
    threadsafety = _module.threadsafety

__all__ = [
    "SQLITE_ATTACH",
    "SQLITE_DENY",
    "SQLITE_OK",
    "Connection",
    "Error",
    "connect",
    "threadsafety",
]

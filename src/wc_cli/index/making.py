"""Makes the index of all threads, and says what it lacks."""

from __future__ import annotations

import time

from wc_cli.index import entriesfile, overviewfile
from wc_cli.index.keeping import locked
from wc_core.errors import WcError
from wc_core.index import keys, overview
from wc_core.index.entries import EntryFile, UnusableIndexError
from wc_core.threads.reader import StoreReader

# So many are read within milliseconds.
_FEW_THREADS = 100


def rebuild(root: str) -> None:
    """Makes the index what it has to be, whatever it is. Raises WcError."""
    with locked(StoreReader(root)):
        rebuild_locked(root)


def remake(root: str) -> None:
    """Makes the index from nothing, whatever was written just now. Raises WcError."""
    reader = StoreReader(root)
    if not reader.topics():
        return
    with locked(reader):
        time.sleep(keys.TICK_SECONDS)
        overviewfile.remake(reader)
        entriesfile.remake(reader)


def rebuild_locked(root: str) -> None:
    """Like `rebuild`, for a caller that has the lock of the index."""
    reader = StoreReader(root)
    overviewfile.rebuild(reader)
    entriesfile.rebuild(reader)


def problem(root: str) -> str:
    """Returns why reading the store is slower than it could be; empty if it is not."""
    reader = StoreReader(root)
    try:
        if len(reader.topics()) <= _FEW_THREADS:
            return ""
        if not overview.is_usable(reader.layout):
            return "index: lists read every thread: the index is missing or damaged"
        EntryFile(reader.layout)
    except WcError:
        return ""  # what is wrong with the folders is among the findings
    except UnusableIndexError as error:
        return f"index: searches read every log: {error}"
    return ""

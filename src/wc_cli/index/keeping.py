"""Keeps the index: all of it, or what belongs to a few threads."""

from __future__ import annotations

import time

from wc_cli.index import entriesfile, overviewfile
from wc_cli.store import locks
from wc_core.errors import WcError
from wc_core.index import keys, overview
from wc_core.index.entries import EntryFile, UnusableIndexError
from wc_core.lean import contextlib
from wc_core.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_PATIENCE_SECONDS = 5.0
# So many are read within milliseconds.
_FEW_THREADS = 100


def rebuild(root: str) -> None:
    """Makes the index what it has to be, whatever it is. Raises WcError."""
    with _locked(StoreReader(root)):
        rebuild_locked(root)


def remake(root: str) -> None:
    """Makes the index from nothing, whatever was written just now. Raises WcError."""
    reader = StoreReader(root)
    if not reader.topics():
        return
    with _locked(reader):
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


def update(root: str, topics: Iterable[str]) -> None:
    """Brings what the index has of these threads up to date, as far as that can be
    done now; errors are ignored."""
    reader = StoreReader(root)
    with contextlib.suppress(WcError), _locked(reader):
        overviewfile.update(reader, topics)
        entriesfile.update(reader, topics)


def update_when_settled(root: str, topics: Collection[str]) -> None:
    """Like `update`, for threads whose files were written just now: once a later change
    will show in their keys."""
    if topics:
        time.sleep(keys.TICK_SECONDS)
        update(root, topics)


@contextlib.contextmanager
def _locked(reader: StoreReader) -> Iterator[None]:
    layout = reader.layout
    lock = layout.index_lock
    with locks.locked(lock, "indexing", _PATIENCE_SECONDS, layout.root):
        yield

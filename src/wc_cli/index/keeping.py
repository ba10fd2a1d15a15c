"""Keeps the index: all of it, or what belongs to a few threads."""

from __future__ import annotations

import time

from wc_cli.index import entriesfile, overviewfile
from wc_cli.store import locks
from wc_core.errors import WcError
from wc_core.index import keys
from wc_core.lean import contextlib
from wc_core.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_PATIENCE_SECONDS = 5.0


def rebuild(root: str) -> None:
    """Makes the index what it has to be, whatever it is. Raises WcError."""
    with _locked(StoreReader(root)):
        rebuild_locked(root)


def rebuild_locked(root: str) -> None:
    """Like `rebuild`, for a caller that has the lock of the index."""
    reader = StoreReader(root)
    overviewfile.rebuild(reader)
    entriesfile.rebuild(reader)


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

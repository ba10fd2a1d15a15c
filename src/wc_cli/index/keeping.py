"""Keeps the index up to date after writes."""

from __future__ import annotations

import os
import time

from wc_cli.index import overviewfile
from wc_cli.store import durable, locks
from wc_core.errors import WcError
from wc_core.files import read_plain, size_of
from wc_core.index import keys
from wc_core.lean import contextlib
from wc_core.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from wc_core.layout import Layout

# While all of it is made, nobody waits for longer: what is not indexed is read.
_PATIENCE_SECONDS = 1.0
# What a search reads in the logs of threads that were written to, at most.
_MOST_BEHIND = 20
_MOST_BYTES_BEHIND = 1 << 17


def update(root: str, topics: Iterable[str]) -> None:
    """Brings what the index has of these threads up to date, as far as that can be
    done now; errors are ignored."""
    reader = StoreReader(root)
    # A few builds of Python have no SQLite to import.
    with contextlib.suppress(WcError, ImportError), locked(reader):
        overviewfile.update(reader, topics)
        behind = _behind(reader.layout).union(topics)
        if _is_due(reader.layout, behind):
            # 9 ms (sqlite3), not after every write.
            from wc_cli.index import entriesfile

            entriesfile.update(reader, behind)
            behind = set()
        _note_behind(reader.layout, behind)


def update_when_settled(root: str, topics: Collection[str]) -> None:
    """Like `update`, for threads whose files were written just now: once a later change
    will show in their keys."""
    if topics:
        time.sleep(keys.TICK_SECONDS)
        update(root, topics)


def _behind(layout: Layout) -> set[str]:
    """The threads whose new entries a search finds in their logs."""
    try:
        names = read_plain(layout.index_behind, layout.root) or b""
    except OSError:
        return set()
    return set(names.decode(errors="replace").split("\n")) - {""}


def _is_due(layout: Layout, topics: Collection[str]) -> bool:
    """Whether reading the logs of these threads takes longer than a moment."""
    if len(topics) > _MOST_BEHIND or not os.path.isfile(layout.entry_index):
        return True
    try:
        sizes = (size_of(layout.log(topic), layout.root) for topic in topics)
        return sum(sizes) > _MOST_BYTES_BEHIND
    except (OSError, WcError):
        return True  # a topic that is none


def _note_behind(layout: Layout, topics: Collection[str]) -> None:
    names = "".join(f"{topic}\n" for topic in sorted(topics)).encode(errors="replace")
    durable.replace_if_changed(layout.index_behind, names, layout.root)


@contextlib.contextmanager
def locked(reader: StoreReader) -> Iterator[None]:
    """Holds the lock of changing the index. Raises LockTimeoutError."""
    layout = reader.layout
    lock = layout.index_lock
    with locks.locked(lock, "indexing", _PATIENCE_SECONDS, layout.root):
        yield

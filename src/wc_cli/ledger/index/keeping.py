"""Keeps the index up to date after writes."""

from __future__ import annotations

import os
import time

from wc_cli.ledger.index import overviewfile
from wc_cli.ledger.store import durable, locks
from wc_core.base.errors import WcError
from wc_core.base.files import size_of
from wc_core.base.layout import file_name
from wc_core.base.lean import contextlib
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.index import decisions, keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from wc_core.base.layout import Layout

# Nobody waits longer while the index is rebuilt: unindexed logs are read.
_PATIENCE_SECONDS = 1.0
# The most that a search reads from the logs of recently changed threads.
_MOST_BEHIND = 20
_MOST_BYTES_BEHIND = 1 << 17


def update(root: str, topics: Iterable[str]) -> set[str]:
    """Bring these threads up to date in the index, as far as possible now; errors are
    ignored. Returns the threads whose new entries were indexed: entries are collected
    until indexing them is worthwhile."""
    reader = StoreReader(root)
    # A few builds of Python lack SQLite.
    with contextlib.suppress(WcError, ImportError), locked(reader):
        was_rebuilt = overviewfile.update(reader, topics)
        behind = note_behind(reader.layout, topics)
        is_whole = not was_rebuilt and decisions.load(reader.layout) is not None
        if not is_whole or _is_due(reader.layout, behind):
            # 4 ms (SQLite), not after every write.
            from wc_cli.ledger.index import entriesfile

            if is_whole:
                index_entries(reader, lambda: entriesfile.update(reader, behind))
            else:
                index_entries(reader, lambda: entriesfile.rebuild(reader))
            return behind
    return set()


def index_entries(reader: StoreReader, write: Callable[[], set[str]]) -> None:
    """Index the missing entries: ``write`` indexes those of the threads that
    `note_behind` has collected, and maybe others, and returns the threads that still
    lack some. Raises WcError; nothing is forgotten then."""
    from wc_cli.ledger.index import entriesfile  # as in `update`

    lacking = write()
    entriesfile.write_decisions(reader)
    _write_behind(reader.layout, lacking)


def note_settled(layout: Layout, topic: str) -> None:
    """Record that a thread is about to lose its marker and must be indexed. Raises
    WcError if a brief would miss its decisions."""
    try:
        durable.make_folder(layout.index_settled, layout.root, flush=False)
        durable.touch(f"{layout.index_settled}/{file_name(topic)}", layout.root)
    except WcError:
        # Without the list of decisions, a brief reads the logs.
        if decisions.load(layout) is not None:
            durable.remove(layout.recent_decisions, layout.root)


def note_behind(layout: Layout, topics: Iterable[str] = ()) -> set[str]:
    """Return the threads whose entries must be indexed: these, those settled since the
    last time, and those left over then. Records all of them in one file. Raises
    WcError."""
    settled = decisions.topics_in(layout, layout.index_settled)
    remaining = decisions.load_behind(layout)
    if remaining is None:
        # Its content is unknown, so all threads must be checked.
        durable.remove(layout.recent_decisions, layout.root)
    behind = {*topics, *settled, *(remaining or ())}
    _write_behind(layout, behind)
    # Threads settled again in the meantime are indexed after this.
    for topic in settled:
        durable.remove(f"{layout.index_settled}/{file_name(topic)}", layout.root)
    return behind


def update_when_settled(root: str, topics: Collection[str]) -> set[str]:
    """Like `update`, for threads whose files were just written: waits until a later
    change would show in their keys."""
    if not topics:
        return set()
    time.sleep(keys.TICK_SECONDS)
    return update(root, topics)


def _is_due(layout: Layout, topics: Collection[str]) -> bool:
    """Return whether reading the logs of these threads takes longer than a moment."""
    if len(topics) > _MOST_BEHIND or not os.path.isfile(layout.entry_index):
        return True
    try:
        sizes = (size_of(layout.log(topic), layout.root) for topic in topics)
        return sum(sizes) > _MOST_BYTES_BEHIND
    except (OSError, WcError):
        return True  # not a valid topic


def _write_behind(layout: Layout, topics: Collection[str]) -> None:
    data = decisions.render_lines(sorted(topics))
    durable.make_folder(layout.index_folder, layout.root, flush=False)
    durable.replace_if_changed(layout.index_behind, data, layout.root)


@contextlib.contextmanager
def locked(reader: StoreReader) -> Iterator[None]:
    """Hold the lock for changing the index. Raises LockTimeoutError."""
    layout = reader.layout
    lock = layout.index_lock
    with locks.locked(lock, "indexing", _PATIENCE_SECONDS, layout.root):
        yield

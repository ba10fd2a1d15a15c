"""The entries of a thread since some entry.

If the seal of a log allows it, hardly any other entry is decoded. The result is the
same.
"""

from __future__ import annotations

from wc_core.ledger.threads.excerpts.sealed import excerpt, sealed_thread
from wc_core.ledger.threads.excerpts.suffix import first_after
from wc_core.lookup.search.mentions import is_written_on
from wc_core.reading.views.entries import Numbered, numbered
from wc_core.reading.views.excerpts.spans import numbered_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.ledger.threads.excerpts.sealed import SealedThread
    from wc_core.ledger.threads.reader import StoreReader, Thread


def entries_since(
    reader: StoreReader, topic: str, floor: str, branch: str = ""
) -> tuple[Numbered, ...]:
    """Returns the entries with an id greater than ``floor``, or a correction with such
    an id, or whose author had seen such an id; of a ``branch``, only those written on
    it.

    Raises NotFoundError for a thread that does not exist, and CorruptError for a log
    that cannot be read.
    """
    sealed = sealed_thread(reader, topic)
    if sealed is not None and not sealed.state.forked:
        new = _of_sealed(sealed, floor, branch)
        if new is not None:
            return new
    return whole_entries_since(reader.thread(topic), floor, branch)


def whole_entries_since(
    thread: Thread, floor: str, branch: str = ""
) -> tuple[Numbered, ...]:
    """Returns the result of `entries_since` for a thread that was read completely."""
    return _changed_since(numbered(thread), floor, branch)


def _of_sealed(
    thread: SealedThread, floor: str, branch: str
) -> tuple[Numbered, ...] | None:
    """Returns the result of `entries_since` for a thread that is not forked;
    ``None`` if it has to be read completely."""
    start = first_after(thread, floor)
    if start is None:
        return None
    corrected = {
        original
        for original, correction in thread.seal.corrections
        if correction >= start
    }
    part = excerpt(thread, corrected.union(range(start, thread.entry_count)))
    if part is None:
        return None
    return _changed_since(numbered_part(part), floor, branch)


def _changed_since(
    items: Iterable[Numbered], floor: str, branch: str
) -> tuple[Numbered, ...]:
    return tuple(
        item
        for item in items
        if item.changed_id > floor and is_written_on(item.entry, branch)
    )

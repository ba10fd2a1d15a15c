"""The end of a sealed thread: where it begins."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.excerpts.sealed import SealedThread


def first_after(thread: SealedThread, entry_id: str) -> int | None:
    """The position of the first entry with an id greater than this one, which need not
    be in the thread; ``None`` if the log has changed."""
    lines, stop = thread.lines, thread.entry_count
    start = lines.start
    if start:
        entry = thread.entry(start) if start < stop else None
        if entry is None or entry.id > entry_id:
            start = 0
            if not lines.keep(0, stop):
                return None
    while start < stop:
        middle = (start + stop) // 2
        entry = thread.entry(middle)
        if entry is None:
            return None
        if entry.id > entry_id:
            stop = middle
        else:
            start = middle + 1
    return start

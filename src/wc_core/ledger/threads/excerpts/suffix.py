"""The end of a sealed thread: where it begins, and the state before it."""

from __future__ import annotations

from wc_core.ledger.threads import folding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.ledger.threads.excerpts.sealed import SealedThread
    from wc_core.ledger.threads.model import Entry

# In the line of an entry that has the field, or the state with which a thread was taken
# over, which has both. Other programs may spell a field with an escape.
_STATUS, _BALL = b'"status"', b'"ball"'
_ESCAPE = b"\\u"


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


def status_and_ball_before(
    thread: SealedThread, position: int, later: Sequence[Entry]
) -> tuple[str, str | None] | None:
    """The status and the holder of the ball after the entries before ``position``, for
    a thread whose state is in its log alone. ``later`` are all entries from there on.
    It is ``None`` if that takes all entries, or if the log has changed."""
    if any(entry.base is not None for entry in later):
        return None
    sets_status = any(entry.status for entry in later)
    sets_ball = any(entry.ball is not None for entry in later)
    missing = {_STATUS} if sets_status else set()
    missing |= {_BALL} if sets_ball else set()
    lines, number = thread.lines, position
    latest: list[Entry] = []
    while missing and number:
        number -= 1
        if number < lines.start and not lines.keep(0, position):
            return None
        line = lines.line(number) or b""
        if not any(mark in line for mark in (*missing, _ESCAPE)):
            continue
        entry = thread.entry(number)
        if entry is None:
            return None
        latest.append(entry)
        if entry.status:
            missing.discard(_STATUS)
        if entry.ball is not None:
            missing.discard(_BALL)
    state, before = thread.state, folding.fold(thread.state.topic, latest[::-1])
    return (
        before.status if sets_status else state.status,
        before.ball if sets_ball else state.ball,
    )

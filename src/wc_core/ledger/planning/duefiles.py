"""When time gates open: an index of small files, which saves looking for them.

``.local/due/<milliseconds>.<topic>`` is an empty file for the next gate of each thread
that opens by itself. Nothing is written when it does: the next command that finds the
file overdue has the thread's status files written again.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import key_of, safe_name
from wc_core.ledger.planning.gates import next_end
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import State

# Relative to ``.local``.
_FOLDER = "due"


def end_file(state: State, now_ms: int) -> str:
    """The file of a thread, relative to ``.local``; empty if none of its gates opens by
    itself."""
    end = next_end(state.gates, now_ms) if state.status != CLOSED else None
    return f"{_FOLDER}/{end}.{safe_name(state.topic)}" if end else ""


def files_of(layout: Layout, topic: str) -> list[str]:
    """The files that a thread has, relative to ``.local``."""
    key = safe_name(topic)
    names = (name for name in _names(layout) if name.partition(".")[2] == key)
    return [f"{_FOLDER}/{name}" for name in names]


def due_topics(layout: Layout, now_ms: int) -> list[str]:
    """The threads with a gate that has opened since their status files were written."""
    topics = []
    for name in _names(layout):
        end, _, topic = name.partition(".")
        if end.isdecimal() and int(end) <= now_ms:
            topics.append(key_of(topic))
    return topics


def next_ms(layout: Layout) -> int | None:
    """When the next gate opens, or has opened; ``None`` if none opens by itself."""
    ends = (name.partition(".")[0] for name in _names(layout))
    return min((int(end) for end in ends if end.isdecimal()), default=None)


def _names(layout: Layout) -> list[str]:
    try:
        return names_in(layout.due, layout.root)
    except WcError:
        return []  # doctor reports what is in its place

"""Some entries of a thread: those from a position on, the new ones, those of a kind.

Of a long thread, no other entry is decoded if the cache has the thread. The result is
the same.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.index.parts import read_part
from wc_core.ledger.threads.folding import is_linear
from wc_core.ledger.threads.revisions import Revision
from wc_core.lookup.mentions import is_of_kind, is_written_on
from wc_core.reading.views.entries import (
    Numbered,
    first_index,
    is_early,
    new_ids,
    numbered,
    with_ticks,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.ledger.index.parts import ThreadPart
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader, Thread
    from wc_core.ledger.threads.snapshot import Cursor
    from wc_core.people.identity.viewer import Viewer


class SpanQuery(NamedTuple):
    """Which entries: at most ``limit`` (0: all) from position ``start`` on; a negative
    number counts from the end. Only those that are ``new``, written on a ``branch`` or
    of a ``kind``. ``history`` returns every text that was written."""

    start: int = 0
    limit: int = 0
    new: bool = False
    history: bool = False
    branch: str = ""
    kind: str = ""

    def fits(self, item: Numbered) -> bool:
        """Whether an entry has the branch and the kind."""
        on_branch = is_written_on(item.entry, self.branch)
        return on_branch and is_of_kind(item.entry, self.kind)


class ThreadSpan(NamedTuple):
    """The entries, and their thread. ``left_out_count`` entries were left out, the
    first of them at position ``following``."""

    thread: Thread | ThreadPart
    entries: list[Numbered]
    left_out_count: int = 0
    following: int = -1


def thread_span(
    reader: StoreReader, topic: str, query: SpanQuery, viewer: Viewer
) -> ThreadSpan:
    """Returns some entries of a thread. ``viewer`` determines which are new.

    Raises NotFoundError for a thread that does not exist, and CorruptError for a log
    that cannot be read.
    """
    cursor = reader.cursor(topic, viewer.key)
    part = read_part(
        reader, topic, lambda state: _positions(state, query, viewer, cursor)
    )
    span = None if part is None else _part_span(part, query, viewer, cursor)
    return span or whole_span(reader, reader.thread(topic), query, viewer)


def whole_span(
    reader: StoreReader, thread: Thread, query: SpanQuery, viewer: Viewer
) -> ThreadSpan:
    """Returns some entries of a thread that was read completely."""
    start = first_index(query.start, len(thread.entries))
    items = numbered(thread, history=query.history)
    if query.new:
        new = new_ids(thread, viewer, reader.cursor(thread.state.topic, viewer.key))
        items = [item for item in items if item.entry.id in new]
    fitting = [item for item in items if item.idx >= start and query.fits(item)]
    return _cut(thread, fitting, query.limit, [])


def _cut(
    thread: Thread | ThreadPart,
    fitting: list[Numbered],
    limit: int,
    unread: Iterable[int],
) -> ThreadSpan:
    """The first ``limit`` entries of those that fit; those at the ``unread`` positions
    follow, and fit as well."""
    shown = fitting[: limit or None]
    hidden = [*(item.idx for item in fitting[len(shown) :]), *unread]
    return ThreadSpan(thread, shown, len(hidden), hidden[0] if hidden else -1)


def _positions(
    state: State, query: SpanQuery, viewer: Viewer, cursor: Cursor
) -> range | None:
    """The positions of the entries to read; ``None`` if all are needed."""
    count = state.entry_count
    start, stop = first_index(query.start, count), count
    if query.new:
        # With the one before them, which tells whether these are the new ones.
        start = min(_first_new(state, viewer, cursor), count) - 1
    elif query.limit and not (query.branch or query.kind):
        stop = min(count, start + query.limit)
    is_part = 0 <= start <= stop and stop - start < count
    return range(start, stop) if is_part else None


def _first_new(state: State, viewer: Viewer, cursor: Cursor) -> int:
    """The position of the first entry that is new, if the thread never was forked."""
    own = state.entry_count - state.new_for(viewer.is_me)
    return max(own, cursor.entry_count) if cursor.heads else own


def _part_span(
    part: ThreadPart, query: SpanQuery, viewer: Viewer, cursor: Cursor
) -> ThreadSpan | None:
    """Returns some entries of a thread, of which these parts were read; ``None`` if it
    has to be read completely."""
    count = part.state.entry_count
    start = first_index(query.start, count)
    if query.new:
        if not _follows_what_was_read(part, viewer, cursor):
            return None
        start = max(start, part.start + 1)
    texts = [Revision(idx, entry) for idx, entry in enumerate(part.entries, part.start)]
    if not query.history:
        texts = with_ticks(texts, part.state)
    items = [
        Numbered(text.idx, text.entry, early=is_early(text.entry)) for text in texts
    ]
    fitting = [item for item in items if item.idx >= start and query.fits(item)]
    unread = range(part.start + len(part.entries), count)
    return _cut(part, fitting, query.limit, unread)


def _follows_what_was_read(part: ThreadPart, viewer: Viewer, cursor: Cursor) -> bool:
    """Whether exactly the entries of a part after its first one are new: each follows
    the one before, and the first is the viewer's last one, or the last that they
    read."""
    first, *others = part.entries
    own = part.state.entry_count - part.state.new_for(viewer.is_me)
    is_seen = own == part.start + 1 or cursor.heads == (first.id,)
    is_last_seen = all(head <= first.id for head in cursor.heads)
    return is_seen and is_last_seen and is_linear([first._replace(parents=()), *others])

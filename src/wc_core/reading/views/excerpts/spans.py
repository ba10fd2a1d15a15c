"""Some entries of a thread: those from a position on, the new ones, those of a kind.

If the seal of a log allows it, no other entry is decoded. The result is the same.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import revisions
from wc_core.ledger.threads.excerpts.sealed import excerpt, sealed_thread
from wc_core.lookup.mentions import is_of_kind, is_written_on
from wc_core.reading.views.entries import (
    Numbered,
    first_index,
    new_ids,
    numbered,
    with_ticks,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.ledger.threads.excerpts.sealed import Excerpt, SealedThread
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

    thread: Thread | Excerpt
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
    sealed = sealed_thread(reader, topic)
    if sealed is not None and not sealed.state.forked:
        span = _sealed_span(reader, sealed, query, viewer)
        if span is not None:
            return span
    return whole_span(reader, reader.thread(topic), query, viewer)


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
    hidden = [item.idx for item in fitting[query.limit :]] if query.limit else []
    shown = fitting[: query.limit or None]
    return _span(thread, shown, hidden)


def _span(
    thread: Thread | Excerpt, entries: list[Numbered], hidden: list[int]
) -> ThreadSpan:
    return ThreadSpan(thread, entries, len(hidden), hidden[0] if hidden else -1)


def _sealed_span(
    reader: StoreReader, thread: SealedThread, query: SpanQuery, viewer: Viewer
) -> ThreadSpan | None:
    """Returns some entries of a thread that is not forked; ``None`` if it has to be
    read completely."""
    count = thread.entry_count
    positions: Iterable[int] = range(first_index(query.start, count), count)
    if query.new:
        cursor = reader.cursor(thread.state.topic, viewer.key)
        new = _new_positions(thread, viewer, cursor)
        if new is None:
            return None
        positions = sorted(new.intersection(positions))
    if not query.history:
        corrections = {correction for _, correction in thread.seal.corrections}
        positions = [idx for idx in positions if idx not in corrections]
    chosen = [*positions]
    hidden: list[int] = []
    if query.limit and not (query.branch or query.kind):
        chosen, hidden = chosen[: query.limit], chosen[query.limit :]
    part = excerpt(thread, chosen)
    if part is None:
        return None
    chosen_positions = set(chosen)
    items = [
        item
        for item in numbered_part(part, history=query.history)
        if item.idx in chosen_positions and query.fits(item)
    ]
    if query.limit and not hidden:
        hidden = [item.idx for item in items[query.limit :]]
        items = items[: query.limit]
    return _span(part, items, hidden)


def _new_positions(
    thread: SealedThread, viewer: Viewer, cursor: Cursor
) -> set[int] | None:
    """Returns the positions of entries that are NEW for the viewer, themselves or
    through a correction, like `new_ids`; ``None`` if that takes all entries."""
    if not thread.seal.linear:
        return None
    count = thread.entry_count
    first = count - thread.state.new_for(viewer.is_me)
    if cursor.heads:
        if not 0 < cursor.entry_count <= count:
            return None
        head = thread.entry(cursor.entry_count - 1)
        if head is None or cursor.heads != (head.id,):
            return None
        first = max(first, cursor.entry_count)
    corrected = {
        original
        for original, correction in thread.seal.corrections
        if correction >= first
    }
    return corrected.union(range(first, count))


def numbered_part(part: Excerpt, *, history: bool = False) -> Iterator[Numbered]:
    """Yields entries that are not forked, like `numbered`."""
    positions, entries = [*part.entries], [*part.entries.values()]
    texts = revisions.history(entries) if history else revisions.revisions(entries)
    if not history:
        texts = with_ticks(texts, part.state)
    for idx, entry, ids, retracted in texts:
        yield Numbered(positions[idx], entry, False, ids, retracted)

"""The entries since a given time, over all threads."""

from __future__ import annotations

from wc_core.base import times, ulid
from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.lookup.mentions import is_written_on
from wc_core.reading.views.entries import Numbered, numbered
from wc_core.reading.views.listing import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.search.indexed import IndexedSearch
    from wc_core.reading.views.search.query import EntryPlace

# Nearly the last character there is; it is printable.
_BEHIND = "\uffee"


class Updates(NamedTuple):
    """Entries since a given time, oldest first; ``more`` were left out.

    ``next_since`` continues after the last one shown.
    """

    entries: tuple[tuple[str, Numbered], ...]
    more: int = 0
    next_since: str = ""
    unreadable: tuple[str, ...] = ()

    def to_json(self, store: str) -> dict[str, Any]:
        """Returns the updates shape: entries without their bodies, each with its
        topic."""
        entries = []
        for topic, numbered_entry in self.entries:
            fields = numbered_entry.to_json()
            del fields["body"]
            entries.append({"topic": topic, **fields})
        result: dict[str, Any] = {"store": store, "entries": entries}
        if self.more:
            result |= {"truncated": True, "next_since": self.next_since}
        if self.unreadable:
            result["unreadable"] = list(self.unreadable)
        return result


def updates(
    overview: Overview,
    since: str,
    now_ms: int,
    limit: int = 0,
    *,
    branch: str = "",
    open_engine: Callable[[], IndexedSearch] | None = None,
) -> Updates:
    """Returns at most ``limit`` (0: all) entries written or corrected after ``since``:
    a time, an age or an entry's id (see `times.since_id`); of a ``branch``, those
    written on it. With a limit and a search engine, which ``open_engine`` returns, only
    the necessary logs are read.

    Raises InvalidInputError for an invalid ``since``.
    """
    floor = times.since_id(since, now_ms)
    # A continuation after an entry that a wrong clock dated (`changed_id`) is greater
    # than the thread's last id, but begins with it.
    start = ulid.prefix(floor)
    moved = Selection("(last_id >= ? OR last_id = '')", (start,))
    rows = [
        row
        for row in overview.listing().rows(moved)
        if not row.last_id or row.last_id >= start
    ]
    if open_engine is not None and limit:
        engine = open_engine()
        indexed = _indexed_updates(overview, rows, engine, floor, limit, branch)
        if indexed is not None:
            return indexed
    entries: list[tuple[str, Numbered]] = []
    unreadable = []
    for row in rows:
        new = _new(overview, row, floor, branch)
        if new is None:
            unreadable.append(row.topic)
        else:
            entries += [(row.name, numbered_entry) for numbered_entry in new]
    entries.sort(key=_by_change)
    visible = entries[:limit] if limit else entries
    following = (
        continuation(visible[-1][1].changed_id) if len(visible) < len(entries) else ""
    )
    hidden = len(entries) - len(visible)
    return Updates(tuple(visible), hidden, following, tuple(unreadable))


def joined(
    entries: Iterable[tuple[str, Numbered]],
) -> list[tuple[str, list[Numbered]]]:
    """Returns the entries in groups, to be shown together: those next to each other in
    which one author says nothing of their own in one thread, such as changes of tags
    and of the status. Each other entry is alone."""
    groups: list[tuple[str, list[Numbered]]] = []
    for topic, item in entries:
        if groups and not item.has_own_text:
            last_topic, items = groups[-1]
            previous = items[-1]
            is_same = (topic, item.entry.agent) == (last_topic, previous.entry.agent)
            if is_same and not previous.has_own_text:
                items.append(item)
                continue
        groups.append((topic, [item]))
    return groups


def numbers_text(items: Sequence[Numbered]) -> str:
    """Returns the numbers of the first and the last of some entries: ``#3`` or
    ``#3-#5``."""
    start, end = items[0].idx, items[-1].idx
    return f"#{start}" if start == end else f"#{start}-#{end}"


def titles_text(items: Iterable[Numbered]) -> str:
    """Returns the titles of some entries."""
    return "; ".join(item.entry.title for item in items)


def _indexed_updates(
    overview: Overview,
    changed: Iterable[ThreadRow],
    engine: IndexedSearch,
    floor: str,
    limit: int,
    branch: str,
) -> Updates | None:
    """Returns the result of `updates` for the changed threads, from the index and from
    the logs of those that it lacks; ``None`` if an entry was removed in the
    meantime."""
    rows = {row.topic: row for row in changed}
    straight = [row.topic for row in rows.values() if row.last_id and not row.forked]
    indexed = engine.written_after(straight, floor, branch, limit)
    entries: list[tuple[str, str, EntryPlace | Numbered]] = [
        (entry.id, entry.topic, entry) for entry in indexed.entries
    ]
    count, unreadable = indexed.total, []
    unindexed = {*indexed.unindexed}
    if len(straight) < len(rows):
        unindexed |= rows.keys() - set(straight)
    for topic in [topic for topic in rows if topic in unindexed] if unindexed else ():
        new = _new(overview, rows[topic], floor, branch)
        if new is None:
            unreadable.append(topic)
        else:
            entries += [(item.changed_id, topic, item) for item in new]
            count += len(new)
    order = {topic: place for place, topic in enumerate(rows)}
    entries.sort(key=lambda item: (item[0], order[item[1]]))
    visible: list[tuple[str, Numbered]] = []
    for _, topic, entry in entries[:limit]:
        try:
            numbered_entry = (
                entry if isinstance(entry, Numbered) else engine.read(entry)
            )
        except WcError:
            return None
        visible.append((rows[topic].name, numbered_entry))
    hidden = count - len(visible)
    following = continuation(visible[-1][1].changed_id) if hidden else ""
    return Updates(tuple(visible), hidden, following, tuple(unreadable))


def _new(
    overview: Overview, row: ThreadRow, floor: str, branch: str
) -> tuple[Numbered, ...] | None:
    """Returns the entries of a thread with an id greater than ``floor``, or a
    correction with such an id, or whose author had seen such an id; of a ``branch``,
    only those written on it. ``None`` if the thread cannot be read."""
    try:
        thread = overview.reader.thread(row.topic)
    except WcError:
        return None
    return tuple(
        item
        for item in numbered(thread)
        if item.changed_id > floor and is_written_on(item.entry, branch)
    )


def continuation(entry_id: str) -> str:
    """Returns a ``since`` that continues after an entry: its id or, if that contains
    unprintable characters, its beginning with a letter that sorts after it."""
    unfit = (i for i, char in enumerate(entry_id) if not char.isprintable())
    end = next(unfit, len(entry_id.rstrip()))
    if end == len(entry_id):
        return entry_id
    while end and entry_id[end] > _BEHIND:
        end -= 1
    return f"{entry_id[:end]}{_BEHIND}"


def _by_change(pair: tuple[str, Numbered]) -> str:
    return pair[1].changed_id

"""The entries since a given time, over all threads."""

from __future__ import annotations

from wc_core import times
from wc_core.errors import WcError
from wc_core.search.mentions import is_written_on
from wc_core.values import NamedTuple
from wc_core.views.entries import Numbered, numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_core.index.entries import IndexedEntry
    from wc_core.threads.reader import Thread
    from wc_core.views.overview import Overview
    from wc_core.views.rows import ThreadRow
    from wc_core.views.search.query import Engine

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
    engine: Engine | None = None,
) -> Updates:
    """Returns at most ``limit`` (0: all) entries written or corrected after ``since``:
    a time, an age or an entry's id (see `times.since_id`); of a ``branch``, those
    written on it. With an ``engine``, only the necessary logs are read.

    Raises InvalidInputError for an invalid ``since``.
    """
    if engine is not None and limit:
        floor = times.since_id(since, now_ms)
        first = _first_updates(overview, engine, floor, limit, branch)
        if first is not None:
            return first
    entries: list[tuple[str, Numbered]] = []
    unreadable = []
    for row, new in _since(overview, times.since_id(since, now_ms), branch):
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


def _first_updates(
    overview: Overview, engine: Engine, floor: str, limit: int, branch: str
) -> Updates | None:
    """Returns the result of `updates`, from the index and the logs of other threads;
    ``None`` if an entry was removed in the meantime."""
    rows = {
        row.topic: row
        for row in overview.rows()
        if not row.last_id or row.last_id > floor
    }
    straight = [row.topic for row in rows.values() if row.last_id and not row.forked]
    indexed = engine.written_after(straight, floor, branch, limit)
    entries: list[tuple[str, str, IndexedEntry | Numbered]] = [
        (entry.id, topic, entry) for topic, entry in indexed.entries
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
                entry if isinstance(entry, Numbered) else engine.read(topic, entry)
            )
        except WcError:
            return None
        visible.append((rows[topic].name, numbered_entry))
    hidden = count - len(visible)
    following = continuation(visible[-1][1].changed_id) if hidden else ""
    return Updates(tuple(visible), hidden, following, tuple(unreadable))


def _since(
    overview: Overview, floor: str, branch: str
) -> Iterator[tuple[ThreadRow, list[Numbered] | None]]:
    """Yields the threads that changed with their entries after ``floor``; ``None`` for
    a thread that cannot be read."""
    for row in overview.rows():
        if not row.last_id or row.last_id > floor:
            yield row, _new(overview, row, floor, branch)


def _new(
    overview: Overview, row: ThreadRow, floor: str, branch: str
) -> list[Numbered] | None:
    """Returns the entries of a thread written or corrected after ``floor``, on
    ``branch`` if that is not empty; ``None`` if the thread cannot be read."""
    try:
        thread = overview.reader.thread(row.topic)
    except WcError:
        return None
    return entries_since(thread, floor, branch)


def entries_since(thread: Thread, floor: str, branch: str = "") -> list[Numbered]:
    """Returns the entries of a thread that were written or corrected after the id
    ``floor``, on ``branch`` if that is not empty."""
    return [
        item
        for item in numbered(thread)
        if item.changed_id > floor and is_written_on(item.entry, branch)
    ]


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

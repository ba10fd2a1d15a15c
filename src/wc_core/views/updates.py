"""What happened since a moment, over all threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import times
from wc_core.errors import WcError
from wc_core.views.rows import Numbered, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.views.overview import Overview
    from wc_core.views.rows import ThreadRow

# Nearly the last letter there is; it prints.
_BEHIND = "\uffee"


class Updates(NamedTuple):
    """Entries since a moment, the oldest first; ``more`` were left out.

    ``next_since`` continues after the last one shown.
    """

    found: tuple[tuple[str, Numbered], ...]
    more: int = 0
    next_since: str = ""
    unreadable: tuple[str, ...] = ()

    def to_json(self, store: str) -> dict[str, Any]:
        """The updates shape: entries without their bodies, each with its topic."""
        entries = []
        for topic, one in self.found:
            fields = one.to_json()
            del fields["body"]
            entries.append({"topic": topic, **fields})
        result: dict[str, Any] = {"store": store, "entries": entries}
        if self.more:
            result |= {"truncated": True, "next_since": self.next_since}
        if self.unreadable:
            result["unreadable"] = list(self.unreadable)
        return result


class News(NamedTuple):
    """What a thread came to: its row now, how many entries are since the
    moment, who wrote them, and the last one."""

    row: ThreadRow
    new: int
    authors: tuple[str, ...]
    last: Numbered

    def to_json(self) -> dict[str, Any]:
        """The thread of the digest shape."""
        last = self.last.to_json()
        del last["body"]
        fields = {"entries": self.new, "authors": list(self.authors), "last": last}
        return self.row.to_json() | fields


class Digest(NamedTuple):
    """Threads with entries since a moment, the latest move first; ``more`` were
    left out."""

    found: tuple[News, ...]
    more: int = 0
    unreadable: tuple[str, ...] = ()

    def to_json(self, store: str) -> dict[str, Any]:
        """The digest shape."""
        result: dict[str, Any] = {
            "store": store,
            "threads": [one.to_json() for one in self.found],
        }
        if self.more:
            result |= {"truncated": True, "more": self.more}
        if self.unreadable:
            result["unreadable"] = list(self.unreadable)
        return result


def digest(overview: Overview, since: str, now_ms: int, limit: int = 0) -> Digest:
    """At most ``limit`` (0: all) threads with entries after ``since``, as for
    `updates`.

    Raises InvalidInputError for a ``since`` that is none.
    """
    floor = times.since_id(since, now_ms)
    rows = overview.rows()
    rest = iter([row for row in rows if not row.last_id or row.last_id > floor])
    found: list[News] = []
    unreadable: list[str] = []
    for row in rest:
        new = _new(overview, row, floor)
        if new is None:
            unreadable.append(row.topic)
        elif new:
            authors = dict.fromkeys(one.entry.agent for one in new)
            found.append(News(row, len(new), tuple(authors), new[-1]))
        if limit and len(found) >= limit:
            break  # the latest moves come first: no other log has to be read
    left = [*rest]
    unreadable += [row.topic for row in left if row.damaged and not row.last_id]
    more = sum(row.last_id > floor for row in left)
    return Digest(tuple(found), more, tuple(unreadable))


def updates(overview: Overview, since: str, now_ms: int, limit: int = 0) -> Updates:
    """At most ``limit`` (0: all) entries after ``since``, a time, an age or
    an entry's id (see `times.since_id`).

    Raises InvalidInputError for a ``since`` that is none of these.
    """
    found: list[tuple[str, Numbered]] = []
    unreadable = []
    for row, new in _since(overview, times.since_id(since, now_ms)):
        if new is None:
            unreadable.append(row.topic)
        else:
            found += [(row.topic, one) for one in new]
    found.sort(key=_by_id)
    shown = found[:limit] if limit else found
    following = _after(shown[-1][1].entry.id) if len(shown) < len(found) else ""
    more = len(found) - len(shown)
    return Updates(tuple(shown), more, following, tuple(unreadable))


def _since(
    overview: Overview, floor: str
) -> Iterator[tuple[ThreadRow, list[Numbered] | None]]:
    """The threads that moved, and their entries behind ``floor``; ``None`` for
    a thread that cannot be read."""
    for row in overview.rows():
        if not row.last_id or row.last_id > floor:
            yield row, _new(overview, row, floor)


def _new(overview: Overview, row: ThreadRow, floor: str) -> list[Numbered] | None:
    """The entries of a thread behind ``floor``; ``None`` if it cannot be read."""
    try:
        everything = numbered(overview.reader.thread(row.topic))
    except WcError:
        return None
    return [one for one in everything if one.entry.id > floor]


def _after(entry_id: str) -> str:
    """A ``since`` that goes on after an entry: its id, or where that has in it
    what does not print, its beginning with a letter that sorts behind."""
    unfit = (i for i, one in enumerate(entry_id) if not one.isprintable())
    end = next(unfit, len(entry_id.rstrip()))
    if end == len(entry_id):
        return entry_id
    while end and entry_id[end] > _BEHIND:
        end -= 1
    return f"{entry_id[:end]}{_BEHIND}"


def _by_id(pair: tuple[str, Numbered]) -> str:
    return pair[1].entry.id

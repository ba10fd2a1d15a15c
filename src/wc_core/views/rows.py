"""What is shown of a store, the same to ``wc … --json`` and to the server.

Keys may be added later and are never renamed. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import names
from wc_core.errors import NotFoundError, WcError
from wc_core.names import FREE_WORDS
from wc_core.threads import model
from wc_core.threads.model import CLOSED
from wc_core.times import utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.identity.viewer import Viewer
    from wc_core.threads.model import Entry
    from wc_core.threads.reader import Cursor, Snapshot, StoreReader, Thread


class ThreadRow(NamedTuple):
    """One thread in a list."""

    topic: str
    title: str
    status: str
    ball: str | None
    updated_at: str
    entry_count: int
    have_ball: bool
    new_for_you: int
    branch: str
    last_id: str
    forked: bool
    damaged: bool
    updated_by: str

    def to_json(self) -> dict[str, Any]:
        """The row of the list shape; ``branch`` and marks only where set."""
        fields: dict[str, Any] = {
            "topic": self.topic,
            "title": self.title,
            "status": self.status,
            "ball": self.ball,
            "updated_at": self.updated_at,
            "entry_count": self.entry_count,
            "have_ball": self.have_ball,
            "new_for_you": self.new_for_you,
        }
        if self.branch:
            fields["branch"] = self.branch
        if self.forked:
            fields["forked"] = True
        if self.damaged:
            fields["damaged"] = True
        return fields


class Filter(NamedTuple):
    """Which threads: ``ball`` is a name, ``me`` or a word for "anyone"."""

    open_only: bool = False
    ball: str = ""
    status: str = ""


class RowPage(NamedTuple):
    """Some of the rows, and how to get the rest (empty: there is none).

    ``total`` counts the rows of all pages.
    """

    rows: tuple[ThreadRow, ...]
    cursor: str = ""
    total: int = 0

    def to_json(self, store: str) -> dict[str, Any]:
        """The list shape."""
        fields: dict[str, Any] = {
            "store": store,
            "threads": [row.to_json() for row in self.rows],
        }
        if self.cursor:
            fields |= {"cursor": self.cursor, "truncated": True}
        return fields


def row(reader: StoreReader, snapshot: Snapshot, viewer: Viewer) -> ThreadRow:
    """A thread as ``viewer`` sees it."""
    state = snapshot.state
    return ThreadRow(
        topic=state.topic,
        title=state.title,
        status=state.status,
        ball=state.ball,
        updated_at=utc(state.updated_at),
        entry_count=state.entry_count,
        have_ball=viewer.holds(state.ball),
        new_for_you=viewer.new_count(state, reader.cursor(state.topic, viewer.key)),
        branch=state.branch,
        last_id=state.last_id,
        forked=state.forked,
        damaged=any(one.lost for one in snapshot.damage),
        updated_by=state.updated_by,
    )


def unreadable_row(topic: str) -> ThreadRow:
    """A thread of which nothing can be read: it is listed all the same."""
    title = "(cannot be read; see wc doctor)"
    return ThreadRow(topic, title, "?", None, "", 0, False, 0, "", "", False, True, "")


def rows(reader: StoreReader, viewer: Viewer) -> list[ThreadRow]:
    """All threads, the latest move first; a bad one hides no other."""
    every = (row_of(reader, topic, viewer) for topic in reader.topics())
    found = [one for one in every if one is not None]
    found.sort(key=recency, reverse=True)
    return found


def row_of(reader: StoreReader, topic: str, viewer: Viewer) -> ThreadRow | None:
    """A listed thread as ``viewer`` sees it; ``None`` for one that is gone
    since it was listed, or never begun."""
    try:
        return row(reader, reader.snapshot(topic), viewer)
    except NotFoundError:
        return None
    except WcError:
        return unreadable_row(topic)


def recency(one: ThreadRow) -> tuple[str, str]:
    """What rows are sorted by: two threads can have an entry of the same id."""
    return (one.last_id, one.topic)


def matching(
    found: Iterable[ThreadRow], wanted: Filter, viewer: Viewer
) -> list[ThreadRow]:
    """The rows a filter lets through."""
    chosen = [*found]
    if wanted.open_only:
        chosen = [one for one in chosen if one.status != CLOSED]
    if wanted.status:
        chosen = [one for one in chosen if one.status == wanted.status]
    ball = wanted.ball.strip()
    if not ball:
        return chosen
    if ball.casefold() == "me":
        return [one for one in chosen if one.have_ball]
    if ball.casefold() in FREE_WORDS:
        return [one for one in chosen if one.ball is None]
    # Many threads, few holders.
    held = {
        holder: viewer.directory.matches(ball, names.parse(holder))
        for holder in {one.ball for one in chosen if one.ball is not None}
    }
    return [one for one in chosen if held.get(one.ball or "", False)]


class Numbered(NamedTuple):
    """An entry with its position in the thread, counted from 0."""

    idx: int
    entry: Entry
    forked: bool = False

    def to_json(self, body: str | None = None) -> dict[str, Any]:
        """The entry of the read shape; ``body`` stands in for a long one."""
        entry = self.entry
        fields: dict[str, Any] = {
            "idx": self.idx,
            "id": entry.id,
            "at": utc(entry.at),
            "author": entry.agent,
            "role": entry.role,
            "type": entry.type,
            "title": entry.title,
            "body": entry.body if body is None else body,
        }
        if entry.action:
            fields["action"] = entry.action
        if entry.ball is not None:
            fields["ball"] = entry.ball.holder
        if entry.status:
            fields["status"] = entry.status
        if entry.reason:
            fields["reason"] = entry.reason
        if entry.parents:
            fields["parents"] = list(entry.parents)
        if self.forked:
            fields["forked"] = True
        return fields


def numbered(thread: Thread) -> list[Numbered]:
    """The entries of a thread with their positions; those that stand beside
    the last one instead of before it are marked as forked."""
    entries = thread.entries
    if not thread.state.forked:
        return [Numbered(idx, entry) for idx, entry in enumerate(entries)]
    graph = model.parent_graph(entries)
    common = set.intersection(
        *(model.ancestors((head,), graph) for head in thread.state.heads)
    )
    return [
        Numbered(idx, entry, entry.id not in common)
        for idx, entry in enumerate(entries)
    ]


def participants(entries: Sequence[Entry]) -> list[str]:
    """Everybody who wrote, in the order they came."""
    return list(dict.fromkeys(entry.agent for entry in entries))


def thread_head(thread: Thread, store: str) -> dict[str, Any]:
    """The read shape without its entries."""
    state = thread.state
    fields: dict[str, Any] = {
        "store": store,
        "topic": state.topic,
        "title": state.title,
        "status": state.status,
        "ball": state.ball,
        "participants": participants(thread.entries),
    }
    if state.forked:
        fields["heads"] = list(state.heads)
    if thread.damage:
        fields["damage"] = [f"{one.place}: {one.message}" for one in thread.damage]
    return fields


def read_json(
    thread: Thread, store: str, shown: list[Numbered], rest: list[Numbered]
) -> dict[str, Any]:
    """The read shape; ``rest`` are the entries left for the next call."""
    fields = thread_head(thread, store)
    fields["entries"] = [one.to_json() for one in shown]
    if rest:
        fields |= {"next_entry_index": rest[0].idx, "truncated": True}
    return fields


def new_ids(thread: Thread, viewer: Viewer, cursor: Cursor) -> set[str]:
    """The ids of the entries that are NEW for ``viewer``."""
    found = model.new_entries(viewer.is_me, thread.entries, cursor.heads)
    return {entry.id for entry in found}


def find_entry(thread: Thread, wanted: str) -> Numbered:
    """The entry with an id, the beginning of one that is unique, or ``#3`` /
    ``3``, its position.

    Raises NotFoundError.
    """
    everything = numbered(thread)
    text = wanted.strip().removeprefix("#")
    if text.isdecimal() and len(text) < len("0123456789"):
        if int(text) < len(everything):
            return everything[int(text)]
    else:
        found = [one for one in everything if text and one.entry.id.startswith(text)]
        exact = [one for one in found if one.entry.id == text]
        if len(exact or found) == 1:
            return (exact or found)[0]
    topic = thread.state.topic
    numbers = f"numbered 0 to {len(everything) - 1}" if everything else "none"
    raise NotFoundError(
        f"{topic} has no entry {wanted!r}.",
        f"Its entries are {numbers}: wc read {topic}",
    )

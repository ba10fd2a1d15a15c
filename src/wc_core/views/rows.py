"""Threads and entries as they are shown, the same to ``wc … --json`` and the server.

Keys may be added later and are never renamed. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core import names
from wc_core.errors import NotFoundError, WcError
from wc_core.names import FREE_WORDS, MINE, OFFERED, OTHERS
from wc_core.status.places import Surroundings, branch_places
from wc_core.threads import model, revisions
from wc_core.threads.model import CLOSED, State
from wc_core.threads.tags import has_all
from wc_core.times import utc
from wc_core.values import NamedTuple
from wc_core.views.references import references

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.identity.viewer import Viewer
    from wc_core.threads.cursors import Cursor
    from wc_core.threads.model import Entry
    from wc_core.threads.reader import Snapshot, StoreReader, Thread


class ThreadRow(NamedTuple):
    """One thread in a list. ``ownership`` says whose its ball is, for the viewer:
    see `names.Directory.whose`. It is stored under ``topic``, and shown as ``name``."""

    topic: str
    title: str
    status: str
    ball: str | None
    updated_at: str
    entry_count: int
    ownership: str
    new_for_you: int
    branch: str
    last_id: str
    forked: bool
    damaged: bool
    updated_by: str
    name: str
    tags: tuple[str, ...] = ()

    @property
    def have_ball(self) -> bool:
        """Whether the viewer may make the next move: theirs, or offered to them."""
        return self.ownership in {MINE, OFFERED}

    def to_json(self) -> dict[str, Any]:
        """Returns the thread in the list shape; ``branch``, tags and marks only where
        set."""
        fields: dict[str, Any] = {
            "topic": self.name,
            "title": self.title,
            "status": self.status,
            "ball": self.ball,
            "updated_at": self.updated_at,
            "entry_count": self.entry_count,
            "have_ball": self.have_ball,
            "new_for_you": self.new_for_you,
        }
        if self.ownership == OFFERED:
            fields["offered"] = True
        if self.branch:
            fields["branch"] = self.branch
        if self.tags:
            fields["tags"] = list(self.tags)
        if self.forked:
            fields["forked"] = True
        if self.damaged:
            fields["damaged"] = True
        return fields


class Filter(NamedTuple):
    """Which threads to list: ``ball`` is a name, ``me`` or a word for "anyone";
    ``branch`` the one that they are at (`status.places`); ``topics``, if given, are
    the only ones. They have all of the ``tags``."""

    open_only: bool = False
    ball: str = ""
    status: str = ""
    topics: frozenset[str] | None = None
    branch: str = ""
    tags: tuple[str, ...] = ()


class RowPage(NamedTuple):
    """A page of rows. ``cursor`` gets the next page and is empty on the last one.

    ``total`` counts the rows of all pages.
    """

    rows: tuple[ThreadRow, ...]
    cursor: str = ""
    total: int = 0

    def to_json(self, store: str) -> dict[str, Any]:
        """Returns the list shape."""
        fields: dict[str, Any] = {
            "store": store,
            "threads": [row.to_json() for row in self.rows],
        }
        if self.cursor:
            fields |= {"cursor": self.cursor, "truncated": True}
        return fields


def thread_row(reader: StoreReader, snapshot: Snapshot, viewer: Viewer) -> ThreadRow:
    """Returns a thread as ``viewer`` sees it."""
    state = snapshot.state
    return ThreadRow(
        topic=state.topic,
        title=state.title,
        status=state.status,
        ball=state.ball,
        updated_at=utc(state.updated_at),
        entry_count=state.entry_count,
        ownership=viewer.whose(state.ball),
        new_for_you=viewer.new_count(state, reader.cursor(state.topic, viewer.key)),
        branch=state.branch,
        last_id=state.last_id,
        forked=state.forked,
        damaged=any(damage.lost for damage in snapshot.damage),
        updated_by=state.updated_by,
        name=snapshot.name,
        tags=snapshot.tags,
    )


def unreadable_row(topic: str) -> ThreadRow:
    """Returns the row of a thread that cannot be read, which is listed all the same."""
    title = "(cannot be read; see wc doctor)"
    shown = (topic, title, "?", None, "", 0, OTHERS, 0, "", "", False, True, "", topic)
    return ThreadRow(*shown)


def thread_rows(
    reader: StoreReader, viewer: Viewer, topics: Iterable[str] | None = None
) -> list[ThreadRow]:
    """Returns all threads, or those with the ``topics``, latest move first. A damaged
    one hides no other."""
    chosen = reader.topics() if topics is None else topics
    candidates = (listed_row(reader, topic, viewer) for topic in chosen)
    readable = [candidate for candidate in candidates if candidate is not None]
    readable.sort(key=recency, reverse=True)
    return readable


def listed_row(reader: StoreReader, topic: str, viewer: Viewer) -> ThreadRow | None:
    """Returns a listed thread as ``viewer`` sees it; ``None`` if it was removed
    after it was listed, or never begun."""
    try:
        return thread_row(reader, reader.snapshot(topic), viewer)
    except NotFoundError:
        return None
    except WcError:
        return unreadable_row(topic)


def recency(row: ThreadRow) -> tuple[str, str]:
    """Returns the sort key of rows. It includes the topic because two threads can
    have an entry with the same id."""
    return (row.last_id, row.topic)


def filter_rows(
    rows: Iterable[ThreadRow], criteria: Filter, viewer: Viewer
) -> list[ThreadRow]:
    """Returns the rows that a filter lets through, in the order they have."""
    chosen = [
        row
        for row in rows
        if not (criteria.open_only and row.status == CLOSED)
        and criteria.status in {"", row.status}
        and (criteria.topics is None or row.topic in criteria.topics)
        and has_all(row.tags, criteria.tags)
    ]
    branch = criteria.branch.strip()
    if branch:
        surroundings = Surroundings(branch_places(branch))
        chosen = [row for row in chosen if surroundings.has(placed_state(row))]
    ball = criteria.ball.strip()
    return _with_ball(chosen, ball, viewer) if ball else chosen


def matches_words(row: ThreadRow, text: str, words: str) -> bool:
    """Returns whether ``text``, which is about the row, has every one of ``words``. A
    word that begins with ``+`` is a tag."""
    terms = words.casefold().split()
    tags = [term for term in terms if len(term) > 1 and term.startswith("+")]
    folded_text = text.casefold()
    in_text = (term in folded_text for term in terms if term not in tags)
    return has_all(row.tags, tags) and all(in_text)


def placed_state(row: ThreadRow) -> State:
    """Returns the part of a thread's state that says where the thread is."""
    return State(row.topic, branch=row.branch, ball=row.ball, names=(row.name,))


def _with_ball(rows: list[ThreadRow], ball: str, viewer: Viewer) -> list[ThreadRow]:
    """Returns the rows whose ball is with ``ball``: ``me``, a word for "anyone", or a
    name."""
    if ball.casefold() == "me":
        return [row for row in rows if row.have_ball]
    if ball.casefold() in FREE_WORDS:
        return [row for row in rows if row.ball is None]
    # Names are compared once for each holder: there are many threads, few holders.
    matches = {
        holder: viewer.directory.matches(ball, names.parse(holder))
        for holder in {row.ball for row in rows if row.ball is not None}
    }
    return [row for row in rows if matches.get(row.ball or "", False)]


class Numbered(NamedTuple):
    """An entry with its position in the thread, counted from 0.

    ``corrections`` are the ids of the entries that replaced its text, or removed it
    from view (``retracted``).
    """

    idx: int
    entry: Entry
    forked: bool = False
    corrections: tuple[str, ...] = ()
    retracted: bool = False

    @property
    def mark(self) -> str:
        """``amended``, ``retracted`` or empty."""
        if self.retracted:
            return "retracted"
        return "amended" if self.corrections else ""

    @property
    def changed_id(self) -> str:
        """The entry that changed it last: its last correction, or itself."""
        return self.corrections[-1] if self.corrections else self.entry.id

    def to_json(self, body: str | None = None) -> dict[str, Any]:
        """Returns the entry in the read shape; ``body`` replaces a long one."""
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
        optional: dict[str, Any] = {
            "status": entry.status,
            "thread_branch": entry.thread_branch,
            "new_topic": entry.new_topic,
            "tags_added": list(entry.tags_added),
            "tags_removed": list(entry.tags_removed),
            "reason": entry.reason,
            "summary": entry.summary,
            **references(entry).to_json(),
            "code_branch": entry.code_branch,
            "code_commit": entry.code_commit,
            "parents": list(entry.parents or ()),
            "supersedes": entry.supersedes,
            "forked": self.forked,
            "amended": self.mark == "amended",
            "retracted": self.retracted,
        }
        fields |= {name: value for name, value in optional.items() if value}
        return fields


def numbered(thread: Thread, *, history: bool = False) -> list[Numbered]:
    """Returns the entries of a thread with their positions and their latest text;
    with ``history`` all entries as they were written, corrections included.

    In a forked thread, entries that are not ancestors of every head are marked as
    forked.
    """
    entries = thread.entries
    texts = revisions.history(entries) if history else revisions.revisions(entries)
    if not thread.state.forked:
        return [
            Numbered(idx, entry, False, ids, retracted)
            for idx, entry, ids, retracted in texts
        ]
    graph = model.parent_graph(entries)
    common = set.intersection(
        *(model.ancestors((head,), graph) for head in thread.state.heads)
    )
    return [
        Numbered(idx, entry, entry.id not in common, ids, retracted)
        for idx, entry, ids, retracted in texts
    ]


def participants(entries: Sequence[Entry]) -> list[str]:
    """Returns everyone who wrote, in the order they first did."""
    return list(dict.fromkeys(entry.agent for entry in entries))


def thread_head(thread: Thread, store: str) -> dict[str, Any]:
    """Returns the read shape without its entries."""
    state = thread.state
    fields: dict[str, Any] = {
        "store": store,
        "topic": thread.name,
        "title": state.title,
        "status": state.status,
        "ball": state.ball,
        "participants": participants(thread.entries),
    }
    if thread.snapshot.tags:
        fields["tags"] = list(thread.snapshot.tags)
    if state.forked:
        fields["heads"] = list(state.heads)
    if thread.damage:
        fields["damage"] = [
            f"{damage.place}: {damage.message}" for damage in thread.damage
        ]
    return fields


def read_json(
    thread: Thread, store: str, visible: list[Numbered], hidden: list[Numbered]
) -> dict[str, Any]:
    """Returns the read shape; ``hidden`` are the entries left for the next call."""
    fields = thread_head(thread, store)
    fields["entries"] = [entry.to_json() for entry in visible]
    if hidden:
        fields |= {"next_entry_index": hidden[0].idx, "truncated": True}
    return fields


def new_ids(thread: Thread, viewer: Viewer, cursor: Cursor) -> set[str]:
    """Returns the ids of the entries that are NEW for ``viewer``, themselves or by a
    correction."""
    entries = model.new_entries(viewer.is_me, thread.entries, cursor.heads)
    new = {entry.id for entry in entries}
    corrections = revisions.corrections(thread.entries)
    corrected = {
        entry_id
        for entry_id, corrected_by in corrections.items()
        if any(correction.id in new for correction in corrected_by)
    }
    return new | corrected


def first_index(start: int, count: int) -> int:
    """Returns the index of the first of ``count`` entries to show. A negative ``start``
    counts from the end."""
    return start if start >= 0 else max(0, count + start)


def find_entry(thread: Thread, position: str, *, history: bool = False) -> Numbered:
    """Returns the entry with an id, with a unique beginning of one, or at a position
    (``#3`` or ``3``). For a correction, that is the entry it corrects; with ``history``
    every entry is the one that was written.

    Raises NotFoundError.
    """
    by_id = _entries_by_id(thread, history=history)
    text = position.strip().removeprefix("#")
    if text.isdecimal() and len(text) < len("0123456789"):
        if int(text) < len(thread.entries):
            return by_id[thread.entries[int(text)].id]
    else:
        matching_ids = [name for name in by_id if text and name.startswith(text)]
        exact = [name for name in matching_ids if name == text]
        if len(exact or matching_ids) == 1:
            return by_id[(exact or matching_ids)[0]]
    topic = thread.name
    count = len(thread.entries)
    numbers = f"numbered 0 to {count - 1}" if count else "none"
    raise NotFoundError(
        f"{topic} has no entry {position!r}.",
        f"Its entries are {numbers}: wc read {topic}",
    )


def _entries_by_id(thread: Thread, *, history: bool) -> dict[str, Numbered]:
    """Returns every entry by its id, and the corrected one by that of a correction."""
    visible = numbered(thread, history=history)
    by_correction = {name: item for item in visible for name in item.corrections}
    return by_correction | {item.entry.id: item for item in visible}

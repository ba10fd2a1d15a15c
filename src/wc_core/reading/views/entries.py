"""Entries and whole threads as they are shown, the same for ``wc … --json`` and the
server.

Keys may be added later and are never renamed. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from wc_core.base import ulid
from wc_core.base.errors import NotFoundError
from wc_core.base.text import clean
from wc_core.base.times import is_ahead, milliseconds, utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.checklists import progress
from wc_core.ledger.remarks.references import references
from wc_core.ledger.threads import boxes, folding, model, revisions
from wc_core.ledger.threads.entryfields import link_fields
from wc_core.ledger.threads.landings import landing_fields
from wc_core.ledger.threads.ways import via_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.ledger.index.parts import ThreadPart
    from wc_core.ledger.summaries.choosing import Summary
    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.reader import Thread
    from wc_core.ledger.threads.revisions import Revision
    from wc_core.ledger.threads.snapshot import Cursor
    from wc_core.people.identity.viewer import Viewer


class Numbered(NamedTuple):
    """An entry with its position in the thread, counted from 0.

    ``corrections`` are the ids of the entries that replaced its text, or hid it
    (``retracted``). An ``early`` one is dated more than a day before an entry that its
    author had seen: one of two clocks was wrong. ``changed_after`` is the newest id
    that the author of the entry, or of a correction, had seen and that is greater than
    the id of what they wrote; usually empty.
    """

    idx: int
    entry: Entry
    forked: bool = False
    corrections: tuple[str, ...] = ()
    retracted: bool = False
    early: bool = False
    changed_after: str = ""

    def is_doubtful(self, now_ms: int) -> bool:
        """Whether the time of the entry is doubtful: it is early, or more than a day
        ahead."""
        moment = milliseconds(self.entry.at)
        return self.early or (moment is not None and is_ahead(moment, now_ms))

    @property
    def mark(self) -> str:
        """``amended``, ``retracted`` or empty."""
        if self.retracted:
            return "retracted"
        return "amended" if self.corrections else ""

    @property
    def has_own_text(self) -> bool:
        """Whether its author says something in it: see `revisions.has_own_text`."""
        revision = (self.idx, self.entry, self.corrections, self.retracted)
        return revisions.Revision(*revision).has_own_text

    @property
    def way_text(self) -> str:
        """How it came, as ``via claude/fix``; usually empty."""
        return via_text(self.entry.via)

    @property
    def changed_id(self) -> str:
        """Where it stands among all changes: the id of its last correction, or its own
        id. One that was written after a greater id has that id before its own."""
        changed = self.corrections[-1] if self.corrections else self.entry.id
        is_after = self.changed_after > changed
        return f"{self.changed_after}-{changed}" if is_after else changed

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
            "links_added": link_fields(entry.links_added),
            "links_removed": link_fields(entry.links_removed),
            "items_added": list(entry.items_added),
            "items_removed": list(entry.items_removed),
            "items_checked": list(entry.items_checked),
            "items_unchecked": list(entry.items_unchecked),
            "reason": entry.reason,
            "kind": entry.kind,
            "severity": entry.severity,
            "asks": entry.asks,
            "answers": entry.answers,
            "outcome": entry.outcome,
            "approved_commit": entry.approved_commit,
            "landing": landing_fields(entry.landing),
            "summary": entry.summary,
            **references(entry).to_json(),
            "code_branch": entry.code_branch,
            "code_commit": entry.code_commit,
            "parents": list(entry.parents or ()),
            "supersedes": entry.supersedes,
            "forked": self.forked,
            "amended": self.mark == "amended",
            "retracted": self.retracted,
            "early": self.early,
            "via": entry.via,
        }
        fields |= {name: value for name, value in optional.items() if value}
        return fields

    def to_summary_json(self, summary: Summary) -> dict[str, Any]:
        """Returns the entry with a summary of its body and the body's length."""
        fields = self.to_json("") | summary.to_json()
        del fields["body"]
        return fields | {"body_length": len(clean(self.entry.body))}


def numbered(thread: Thread, *, history: bool = False) -> list[Numbered]:
    """Returns the entries of a thread with their positions and their latest text;
    with ``history`` all entries as they were written, corrections included.

    In a forked thread, entries that are not ancestors of every head are marked as
    forked.
    """
    entries = thread.entries
    texts = revisions.history(entries) if history else revisions.revisions(entries)
    newest_seen = folding.newest_seen(entries)
    if not history:
        texts = with_ticks(texts, thread.state)
    common = _seen_by_all(thread) if thread.state.forked else None
    return [
        Numbered(
            *(idx, entry, common is not None and entry.id not in common),
            *(ids, retracted, is_early(entry)),
            max(newest_seen.get(name, "") for name in (entry.id, *ids)),
        )
        for idx, entry, ids, retracted in texts
    ]


def with_ticks(texts: list[Revision], state: State) -> list[Revision]:
    """Returns the entries, the first one with the marks that its boxes have now."""
    if not (state.items and texts and texts[0].entry.id == state.first_id):
        return texts
    entry = texts[0].entry
    ticked = entry._replace(body=boxes.with_ticks(entry.body, state.items))
    return [texts[0]._replace(entry=ticked), *texts[1:]]


def is_early(entry: Entry) -> bool:
    """Returns whether an entry is dated more than a day before an entry that its author
    had seen."""
    own = ulid.prefix(entry.id)
    parents = (ulid.prefix(parent) for parent in entry.parents or ())
    return bool(own) and any(
        ulid.timestamp_ms(parent) > ulid.timestamp_ms(own) + ulid.FUTURE_MS
        for parent in parents
        if parent > own
    )


def _seen_by_all(thread: Thread) -> set[str]:
    """Returns the ids of the entries that every head has among its ancestors."""
    graph = model.parent_graph(thread.entries)
    heads = thread.state.heads
    return set.intersection(*(model.ancestors((head,), graph) for head in heads))


def thread_head(thread: Thread | ThreadPart, store: str) -> dict[str, Any]:
    """Returns the read shape without its entries."""
    state = thread.state
    fields: dict[str, Any] = {
        "store": store,
        "topic": thread.name,
        "title": state.title,
        "status": state.status,
        "ball": state.ball,
        "participants": list(thread.authors),
        **state.review.to_json(),
    }
    if thread.snapshot.tags:
        fields["tags"] = list(thread.snapshot.tags)
    if state.items:
        fields["checklist"] = progress(state.items)._asdict()
    if state.forked:
        fields["heads"] = list(state.heads)
    if thread.snapshot.damage:
        fields["damage"] = [
            f"{damage.place}: {damage.message}" for damage in thread.snapshot.damage
        ]
    return fields


def read_json(
    thread: Thread | ThreadPart,
    store: str,
    visible: list[Numbered],
    following: int = -1,
) -> dict[str, Any]:
    """Returns the read shape. ``following`` is the first entry of the next call, -1 if
    there is none."""
    fields = thread_head(thread, store)
    fields["entries"] = [entry.to_json() for entry in visible]
    if following >= 0:
        fields |= {"next_entry_index": following, "truncated": True}
    return fields


def new_ids(thread: Thread, viewer: Viewer, cursor: Cursor) -> set[str]:
    """Returns the ids of the entries that are NEW for ``viewer``, themselves or through
    a correction."""
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
    """Returns the entry with an id, with a unique prefix of one, or at a position
    (``#3`` or ``3``). For a correction, that is the entry it corrects; with ``history``
    every entry is the original one.

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
    numbers = f"Its entries are numbered 0 to {count - 1}" if count else "It has none"
    if count == 1:
        numbers = "Its only entry is 0"
    raise NotFoundError(
        f"{topic} has no entry {position!r}.", f"{numbers}: wc read {topic}"
    )


def _entries_by_id(thread: Thread, *, history: bool) -> dict[str, Numbered]:
    """Returns every entry by its id; a correction's id maps to the corrected entry."""
    visible = numbered(thread, history=history)
    by_correction = {name: item for item in visible for name in item.corrections}
    return by_correction | {item.entry.id: item for item in visible}

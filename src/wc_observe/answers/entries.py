"""Threads with their entries, and single entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.errors import InvalidInputError
from wc_core.text import clean, one_line
from wc_core.threads.moves import holder_text
from wc_core.times import utc
from wc_core.views import rows
from wc_observe.answers.quoting import NOTICE, block, cleaned, entries, title, word

if TYPE_CHECKING:
    from wc_core.threads.reader import Thread
    from wc_core.views.rows import Numbered
    from wc_observe.open_store import OpenStore

# Characters: of one body in a thread, of all entries of an answer (about ten
# thousand tokens, where clients begin to warn), and of one entry by itself.
BODY_LIMIT = 4_000
THREAD_LIMIT = 40_000
ENTRY_LIMIT = 100_000

# What an entry takes beside its body and title.
_ENTRY_FRAME = 200
_HEADING_WIDTH = 120
_SUMMARY_WIDTH = 300


class ShownEntry(NamedTuple):
    """An entry with as much of its body as is shown: ``length`` characters
    there are, ``start`` is where the shown part begins; ``heading`` alone: the
    body was not asked for."""

    found: Numbered
    body: str
    length: int
    start: int = 0
    heading: bool = False

    @property
    def end(self) -> int:
        """Where the shown part ends."""
        return self.start + len(self.body)

    @property
    def is_cut(self) -> bool:
        """Whether more was asked for than is shown."""
        return not self.heading and len(self.body) < self.length

    def to_json(self) -> dict[str, Any]:
        """The entry of the read shape; a body that is cut or left out says how
        long it is."""
        fields = self.found.to_json(self.body)
        if self.heading:
            del fields["body"]
            if self.found.entry.summary:
                fields["summary"] = self.found.entry.summary
            fields["body_length"] = self.length
        elif self.is_cut:
            fields |= {"body_truncated": True, "body_length": self.length}
        return fields


class EntryPage(NamedTuple):
    """Consecutive entries of a thread, and how to go on (-1: no more)."""

    thread: Thread
    entries: tuple[ShownEntry, ...]
    next_index: int = -1

    @property
    def truncated(self) -> bool:
        """Whether anything after the first entry asked for is left out."""
        return self.next_index >= 0 or any(one.is_cut for one in self.entries)


class EntrySpan(NamedTuple):
    """At most ``limit`` entries from the one numbered ``start`` on; a negative
    number counts from the end. ``headings``: without their bodies. ``body`` and
    ``whole`` are the most characters of one body and of all entries."""

    start: int = 0
    limit: int = 100
    headings: bool = False
    body: int = BODY_LIMIT
    whole: int = THREAD_LIMIT


def part(store: OpenStore, topic: str, span: EntrySpan) -> EntryPage:
    """Some of the entries of a thread.

    Raises NotFoundError for a thread that does not exist.
    """
    thread = store.reader.thread(store.reader.find(topic))
    everything = rows.numbered(thread)
    start = span.start if span.start >= 0 else max(0, len(everything) + span.start)
    chosen: list[ShownEntry] = []
    used = 0
    for one in everything[start : start + span.limit]:
        body = clean(one.entry.body)
        kept = "" if span.headings else _cut(body, span.body)
        shown = ShownEntry(one, kept, len(body), heading=span.headings)
        used += len(shown.body) + len(one.entry.title) + _ENTRY_FRAME
        if chosen and used > span.whole:
            break
        chosen.append(shown)
    end = start + len(chosen)
    return EntryPage(thread, tuple(chosen), end if end < len(everything) else -1)


def _cut(body: str, limit: int) -> str:
    if len(body) <= limit:
        return body
    head = body[:limit]
    whole_lines = head.rpartition("\n")[0]
    return whole_lines if len(whole_lines) > limit // 2 else head


def part_json(store: OpenStore, shown: EntryPage) -> dict[str, Any]:
    """The read shape."""
    fields = rows.thread_head(shown.thread, store.label)
    fields["entry_count"] = len(shown.thread.entries)
    fields["entries"] = [one.to_json() for one in shown.entries]
    if shown.next_index >= 0:
        fields["next_entry_index"] = shown.next_index
    if shown.truncated:
        fields["truncated"] = True
    return dict(cleaned(fields))


def part_markdown(store: OpenStore, shown: EntryPage) -> str:
    """The thread's state, the entries, and how to get what is left out."""
    state = shown.thread.state
    topic = state.topic
    parts = [_head(store, shown.thread), f"{NOTICE}\n"]
    for one in shown.entries:
        parts += [_heading(one)] if one.heading else ["\n", _entry(one)]
        if one.is_cut:
            parts.append(
                f"truncated: {len(one.body)} of {one.length} characters; all of it: "
                f'get_entry(topic="{topic}", index={one.found.idx})\n'
            )
    count = len(shown.thread.entries)
    if not shown.entries:
        parts.append(f"\nno entries from there on; the thread has {count}\n")
    if shown.next_index >= 0:
        last = shown.next_index - 1
        parts.append(
            f"\ntruncated: this is up to entry {last} of 0 to {count - 1}; go on with "
            f"from_entry={shown.next_index}, or see the newest with from_entry=-10\n"
        )
    return "".join(parts)


def _head(store: OpenStore, thread: Thread) -> str:
    state = thread.state
    you = " = you" if store.viewer.holds(state.ball) else ""
    ball = f"{word(holder_text(state.ball))}{you}"
    people = ", ".join(word(one) for one in rows.participants(thread.entries))
    lines = [
        f"thread {state.topic}: {title(state.title)}",
        f"status: {word(state.status)}, ball: {ball}, {entries(state.entry_count)}",
        f"participants: {people or 'none'}",
        f"store: {store.label}",
    ]
    if state.forked:
        heads = ", ".join(word(one) for one in state.heads)
        lines.append(f"forked: two histories side by side, ending in {heads}")
    lines += [
        f"damaged: {word(one.place, 200)}: {word(one.message, 200)}; wc doctor"
        for one in thread.damage
    ]
    return "".join(f"{line}\n" for line in lines)


def _heading(one: ShownEntry) -> str:
    """An entry on one line, and what its author says it comes to."""
    entry = one.found.entry
    facts = [
        f"- {one.found.idx}",
        word(utc(entry.at)),
        word(entry.agent or "unknown"),
        *([] if entry.type in {"", "Note"} else [word(entry.type)]),
        *([f"ball to: {word(holder_text(entry.ball.holder))}"] if entry.ball else []),
        *([f"status: {word(entry.status)}"] if entry.status else []),
        title(entry.title, _HEADING_WIDTH),
        *([f"{one.length} characters"] if one.length else []),
    ]
    return f"{' | '.join(facts)}\n{block(one_line(entry.summary, _SUMMARY_WIDTH))}"


def _entry(one: ShownEntry) -> str:
    """An entry: what we say about it, then its title and body, quoted."""
    entry = one.found.entry
    facts = [
        f"entry {one.found.idx}",
        word(entry.id, 120),
        word(utc(entry.at)),
        f"author: {word(entry.agent or 'unknown')}",
        *(word(text) for text in (entry.role, entry.type, entry.action) if text),
    ]
    if entry.ball is not None:
        facts.append(f"ball to: {word(holder_text(entry.ball.holder))}")
    if entry.status:
        facts.append(f"status: {word(entry.status)}")
    if entry.reason:
        facts.append(f"reason: {title(entry.reason, 200)}")
    if one.found.forked:
        facts.append("forked")
    heading = f"{' | '.join(facts)}\ntitle: {title(entry.title)}\n"
    return heading + block(one.body)


def entry(
    store: OpenStore, topic: str, index: int | None, entry_id: str, offset: int
) -> tuple[Thread, ShownEntry]:
    """One entry whole, or 100,000 characters of it from ``offset`` on; a
    negative ``index`` counts from the end.

    Raises NotFoundError for what is not there, InvalidInputError for an
    offset beyond the end.
    """
    thread = store.reader.thread(store.reader.find(topic))
    named = entry_id if index is None else str(index)
    if index is not None and -len(thread.entries) <= index < 0:
        named = str(index + len(thread.entries))
    found = rows.find_entry(thread, named)
    body = clean(found.entry.body)
    if offset > len(body):
        raise InvalidInputError(
            f"The entry has {len(body)} characters; {offset} is beyond its end.",
            f"offset: a whole number from 0 to {len(body)}",
        )
    return thread, ShownEntry(
        found, body[offset : offset + ENTRY_LIMIT], len(body), offset
    )


def entry_json(store: OpenStore, thread: Thread, shown: ShownEntry) -> dict[str, Any]:
    """The entry with the store and topic it is from."""
    fields: dict[str, Any] = {
        "store": store.label,
        "topic": thread.state.topic,
        "entry": shown.to_json(),
    }
    if shown.end < shown.length:
        fields |= {"truncated": True, "next_offset": shown.end}
    return dict(cleaned(fields))


def entry_markdown(store: OpenStore, thread: Thread, shown: ShownEntry) -> str:
    """The entry, and how to get the rest of a very long one."""
    heading = f"thread {thread.state.topic} in the store {store.label}\n{NOTICE}\n\n"
    ending = ""
    if shown.start or shown.end < shown.length:
        ending = f"characters {shown.start} to {shown.end} of {shown.length}\n"
    if shown.end < shown.length:
        ending += f"truncated: go on with offset={shown.end}\n"
    return heading + _entry(shown) + ending

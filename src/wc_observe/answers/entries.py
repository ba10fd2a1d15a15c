"""Threads with their entries, and single entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.attention.wake.passes import pass_fields
from wc_core.base.errors import InvalidInputError
from wc_core.base.text import clean, one_line, whole_number
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.checklists import progress
from wc_core.ledger.remarks import wording
from wc_core.ledger.remarks.references import code_words, references
from wc_core.ledger.summaries.choosing import NO_SUMMARY, Summary, summary_of
from wc_core.ledger.summaries.kept import NOTHING_KEPT, read_kept
from wc_core.ledger.threads.model import holder_text, outcome_text
from wc_core.lookup.mentions import is_of_kind, is_written_on
from wc_core.reading.views import entries as entry_views
from wc_observe.answers.quoting import (
    NOTICE,
    block,
    clean_json,
    entry_count,
    holder,
    tag_words,
    title,
    word,
)
from wc_observe.callers.calls import system_ms

if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.entries import Numbered
    from wc_observe.callers.open_store import OpenStore

# Limits in characters: one body in a thread, all entries of an answer (about ten
# thousand tokens, the size at which clients begin to warn), and a single entry.
BODY_LIMIT = 4_000
THREAD_LIMIT = 40_000
ENTRY_LIMIT = 100_000

# The size of an entry in characters, without its body and title.
_ENTRY_FRAME = 200
_HEADING_WIDTH = 120
_SUMMARY_WIDTH = 300
_MOST_REFERENCES = 12
_ITEMS, _ITEM_WIDTH = 20, 200


class ShownEntry(NamedTuple):
    """An entry and the part of its body that is shown.

    ``length`` is the length of the whole body, and ``start`` is where the shown part
    begins. ``heading`` means that the body is left out, for its ``summary``.
    """

    numbered: Numbered
    body: str
    length: int
    start: int = 0
    heading: bool = False
    summary: Summary = NO_SUMMARY

    @property
    def end(self) -> int:
        """The end of the shown part."""
        return self.start + len(self.body)

    @property
    def is_cut(self) -> bool:
        """Whether the body was requested and part of it is left out."""
        return not self.heading and len(self.body) < self.length

    def to_json(self) -> dict[str, Any]:
        """Returns the entry in the read shape, with the body's length if the body is
        cut or left out."""
        if self.heading:
            return self.numbered.to_summary_json(self.summary)
        fields = self.numbered.to_json(self.body)
        if self.is_cut:
            fields |= {"body_truncated": True, "body_length": self.length}
        return fields


class EntryPage(NamedTuple):
    """Entries of a thread, in order. ``next_index`` is the start of the next page, -1
    if there is none."""

    thread: Thread
    entries: tuple[ShownEntry, ...]
    next_index: int = -1

    @property
    def truncated(self) -> bool:
        """Whether anything after the first requested entry is left out."""
        return self.next_index >= 0 or any(entry.is_cut for entry in self.entries)


class EntrySpan(NamedTuple):
    """Which entries to show: at most ``limit``, from number ``start`` on; a negative
    number counts from the end. With ``branch``, only entries written on it; with
    ``kind``, only entries of it.

    ``headings`` leaves out the bodies, ``history`` shows every text that was written.
    ``body`` and ``whole`` limit the characters of one body and of all entries.
    """

    start: int = 0
    limit: int = 100
    headings: bool = False
    history: bool = False
    body: int = BODY_LIMIT
    whole: int = THREAD_LIMIT
    branch: str = ""
    kind: str = ""


def entry_page(store: OpenStore, topic: str, span: EntrySpan) -> EntryPage:
    """Returns some of the entries of a thread.

    Raises NotFoundError if the thread does not exist.
    """
    thread = store.reader.thread(store.reader.find(topic))
    matching = _matching_entries(thread, span)
    kept = NOTHING_KEPT
    if span.headings:
        kept = read_kept(store.reader.layout, thread.state.topic)
    chosen: list[ShownEntry] = []
    used = 0
    for numbered in matching[: span.limit]:
        body = clean(numbered.entry.body)
        if span.headings:
            summary = summary_of(numbered.entry, kept)
            entry = ShownEntry(numbered, "", len(body), 0, True, summary)
        else:
            entry = ShownEntry(numbered, _cut_body(body, span.body), len(body))
        shown_length = len(entry.body) + len(entry.summary.text)
        used += shown_length + len(numbered.entry.title) + _ENTRY_FRAME
        if chosen and used > span.whole:
            break
        chosen.append(entry)
    following = matching[len(chosen) :]
    return EntryPage(thread, tuple(chosen), following[0].idx if following else -1)


def _matching_entries(thread: Thread, span: EntrySpan) -> list[Numbered]:
    """Returns the requested entries, ignoring their limit."""
    branch = span.branch.strip()
    start = entry_views.first_index(span.start, len(thread.entries))
    return [
        numbered
        for numbered in entry_views.numbered(thread, history=span.history)
        if numbered.idx >= start and is_written_on(numbered.entry, branch)
        if is_of_kind(numbered.entry, span.kind)
    ]


def _cut_body(body: str, limit: int) -> str:
    if len(body) <= limit:
        return body
    head = body[:limit]
    whole_lines = head.rpartition("\n")[0]
    return whole_lines if len(whole_lines) > limit // 2 else head


def page_json(store: OpenStore, page: EntryPage) -> dict[str, Any]:
    """Returns the read shape."""
    fields = entry_views.thread_head(page.thread, store.label)
    fields["entry_count"] = len(page.thread.entries)
    fields["entries"] = [entry.to_json() for entry in page.entries]
    if page.next_index >= 0:
        fields["next_entry_index"] = page.next_index
    if page.truncated:
        fields["truncated"] = True
    fields |= pass_fields(store.reader, page.thread.state, store.viewer.directory)
    return dict(clean_json(fields))


def page_markdown(store: OpenStore, page: EntryPage) -> str:
    """Returns the thread's state, its entries, and how to get what is left out."""
    parts = [_thread_lines(store, page.thread), f"{NOTICE}\n"]
    parts += [_entry_lines(page.thread, entry) for entry in page.entries]
    count = len(page.thread.entries)
    if not page.entries:
        parts.append(f"\nno such entries after that; the thread has {count}\n")
    if page.next_index >= 0:
        last_index = page.next_index - 1
        parts.append(
            f"\ntruncated: this is up to entry {last_index} of 0 to {count - 1}; "
            f"go on with from_entry={page.next_index}, "
            "or see the newest with from_entry=-10\n"
        )
    return "".join(parts)


def _entry_lines(thread: Thread, entry: ShownEntry) -> str:
    """Returns an entry of a page, and how to get the rest of it."""
    if entry.heading:
        return _heading_lines(entry)
    cut = ""
    if entry.is_cut:
        cut = (
            f"truncated: {len(entry.body)} of {entry.length} characters; all of it: "
            f'read_thread(topic="{thread.name}", entry="{entry.numbered.idx}")\n'
        )
    return f"\n{_entry_text(entry)}{cut}"


def _thread_lines(store: OpenStore, thread: Thread) -> str:
    state = thread.state
    ball = holder(state.ball, store.viewer.whose(state.ball))
    people = ", ".join(word(name) for name in thread.authors)
    review = f", {word(state.review.text, 120)}" if state.review.outcome else ""
    count = f"{entry_count(state.entry_count)}{tag_words(thread.snapshot.tags)}"
    lines = [
        f"thread {thread.name}: {title(state.title)}",
        f"status: {word(state.status)}{review}, ball: {ball}, {count}",
        f"participants: {people or 'none'}",
        f"store: {store.label}",
    ]
    if state.items:
        lines.append(f"checklist: {progress(state.items)}")
    if state.forked:
        heads = ", ".join(word(head) for head in state.heads)
        lines.append(f"forked: two parallel histories, ending in {heads}")
    lines += [
        f"damaged: {word(damage.place, 200)}: {word(damage.message, 200)}; wc doctor"
        for damage in thread.damage
    ]
    return "".join(f"{line}\n" for line in lines)


def _heading_lines(shown_entry: ShownEntry) -> str:
    """Returns an entry on one line, followed by its summary."""
    entry = shown_entry.numbered.entry
    facts = [
        f"- {shown_entry.numbered.idx}",
        word(utc(entry.at)),
        word(entry.agent or "unknown"),
        *(fact for fact in _sort_facts(entry) if fact != "Note"),
        *([f"ball to: {word(holder_text(entry.ball.holder))}"] if entry.ball else []),
        *([f"status: {word(entry.status)}"] if entry.status else []),
        *_marks(shown_entry),
        title(entry.title, _HEADING_WIDTH),
        *([f"{shown_entry.length} characters"] if shown_entry.length else []),
        *reference_facts(entry),
    ]
    summary = block(one_line(shown_entry.summary.text, _SUMMARY_WIDTH))
    return f"{' | '.join(facts)}\n{summary}"


def _entry_text(shown_entry: ShownEntry) -> str:
    """Returns an entry: facts about it, then its title and body as quotes."""
    entry = shown_entry.numbered.entry
    facts = [
        f"entry {shown_entry.numbered.idx}",
        word(entry.id, 120),
        word(utc(entry.at)),
        f"author: {word(entry.agent or 'unknown')}",
        *([word(role)] if (role := wording.role_text(entry)) else []),
        *_sort_facts(entry),
        *([word(entry.action)] if entry.action else []),
    ]
    if entry.ball is not None:
        facts.append(f"ball to: {word(holder_text(entry.ball.holder))}")
    if entry.status:
        facts.append(f"status: {word(entry.status)}")
    if entry.reason:
        facts.append(f"reason: {title(entry.reason, 200)}")
    facts += _marks(shown_entry)
    if code := code_words(entry):
        facts.append(word(code, 120))
    if way := shown_entry.numbered.way_text:
        facts.append(word(way, 120))
    facts += reference_facts(entry)
    heading = f"{' | '.join(facts)}\ntitle: {title(entry.title)}\n"
    if entry.summary:
        heading += f"summary: {title(entry.summary)}\n"
    return heading + block(shown_entry.body)


def _sort_facts(entry: Entry) -> list[str]:
    """Returns an entry's type, kind and outcome, and the question that it answers."""
    texts = (wording.type_text(entry), wording.kind_text(entry))
    more = (outcome_text(entry.outcome), wording.answer_text(entry))
    return [word(text, 120) for text in (*texts, *more) if text]


def reference_facts(entry: Entry, most: int = _MOST_REFERENCES) -> list[str]:
    """Returns a fact with what an entry refers to; none if it refers to nothing."""
    mentioned = references(entry)
    words = mentioned.words(most) if any(mentioned) else ()
    return [f"about: {', '.join(word(item, 120) for item in words)}"] if words else []


def _marks(shown_entry: ShownEntry) -> list[str]:
    numbered = shown_entry.numbered
    supersedes = numbered.entry.supersedes
    return [
        *(["doubtful time"] if numbered.is_doubtful(system_ms()) else []),
        *(["forked"] if numbered.forked else []),
        *([numbered.mark] if numbered.mark else []),
        *([f"corrects {word(supersedes, 120)}"] if supersedes else []),
    ]


def find_entry(
    store: OpenStore, topic: str, reference: str, offset: int, *, history: bool = False
) -> tuple[Thread, ShownEntry]:
    """Returns one entry, by its id or number, or 100,000 characters of it from
    ``offset`` on. A negative number counts from the end. ``history`` is as for
    `entry_views.find_entry`.

    Raises NotFoundError if it does not exist, and InvalidInputError if the offset is
    beyond the end.
    """
    thread = store.reader.thread(store.reader.find(topic))
    from_end = whole_number(reference.removeprefix("-"), 9) or 0
    if reference.startswith("-") and 0 < from_end <= len(thread.entries):
        reference = str(len(thread.entries) - from_end)
    numbered = entry_views.find_entry(thread, reference, history=history)
    body = clean(numbered.entry.body)
    if offset > len(body):
        raise InvalidInputError(
            f"The entry has {len(body)} characters; {offset} is beyond its end.",
            f"offset: a whole number from 0 to {len(body)}",
        )
    return thread, ShownEntry(
        numbered, body[offset : offset + ENTRY_LIMIT], len(body), offset
    )


def entry_json(store: OpenStore, thread: Thread, entry: ShownEntry) -> dict[str, Any]:
    """Returns the entry with its store and topic."""
    fields: dict[str, Any] = {
        "store": store.label,
        "topic": thread.name,
        "entry": entry.to_json(),
    }
    if entry.end < entry.length:
        fields |= {"truncated": True, "next_offset": entry.end}
    return dict(clean_json(fields))


def entry_markdown(store: OpenStore, thread: Thread, entry: ShownEntry) -> str:
    """Returns the entry, and how to get the rest of a very long one."""
    heading = f"thread {thread.name} in the store {store.label}\n{NOTICE}\n\n"
    ending = ""
    if entry.start or entry.end < entry.length:
        ending = f"characters {entry.start} to {entry.end} of {entry.length}\n"
    if entry.end < entry.length:
        ending += f"truncated: go on with offset={entry.end}\n"
    return heading + _entry_text(entry) + ending

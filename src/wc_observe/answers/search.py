"""Entries across threads: what is new since a given time, and what matches a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.text import one_line
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.choosing import entry_summary
from wc_core.ledger.threads.model import holder_text
from wc_core.reading.views.budget.weighing import SNIPPET_WIDTH
from wc_core.reading.views.search.answers import count_text
from wc_core.reading.views.updates import joined, titles_text
from wc_observe.answers.entries import reference_facts
from wc_observe.answers.quoting import (
    NOTICE,
    block,
    clean_json,
    entry_count,
    title,
    tool_call,
    word,
)
from wc_observe.stores.live.stores import system_ms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.answers import Hit, Hits
    from wc_core.reading.views.search.query import Matches, Question
    from wc_core.reading.views.updates import Updates
    from wc_observe.callers.open_store import OpenStore

_TITLE_WIDTH = 100
_TOPICS = 8
_MOST_REFERENCES = 5


class LeftOutUpdates(NamedTuple):
    """Consecutive entries left out for lack of room: how many come after ``since``, and
    the call that shows them. They precede the shown entry at ``position``."""

    position: int
    since: str
    size: int
    call: str

    def to_json(self) -> dict[str, Any]:
        """Returns what is left out, with the call that shows it."""
        return {"since": self.since, "entries": self.size, "show": self.call}

    def line(self) -> str:
        """Returns the same as one line."""
        return f"left out: {entry_count(self.size)}: {self.call}\n"


def updates_json(
    store: OpenStore,
    since: str,
    updates: Updates,
    left_out: Sequence[LeftOutUpdates] = (),
) -> dict[str, Any]:
    """Returns the updates shape, with the beginning of each body."""
    fields = updates.to_json(store.label)
    if left_out:
        parts = [gap.to_json() for gap in left_out]
        fields |= {"left_out": parts, "truncated": True}
    for entry, (_, numbered) in zip(fields["entries"], updates.entries, strict=True):
        entry["snippet"] = one_line(numbered.entry.body, SNIPPET_WIDTH)
    return dict(clean_json({"since": since, **fields}))


def updates_markdown(
    store: OpenStore,
    since: str,
    updates: Updates,
    left_out: Sequence[LeftOutUpdates] = (),
    call: str = "",
    *,
    joins: bool = True,
) -> str:
    """Returns two lines for each entry: what it is, and how it begins. ``call`` gets
    the next ones with the same token budget. Without ``joins``, or if some are left
    out, none are shown together (`updates.joined`)."""
    visible = len(updates.entries)
    total = visible + updates.more + sum(gap.size for gap in left_out)
    heading = f"{_shown_count(visible, total)} since {word(since)}, oldest first"
    parts = [_answer_heading(store, heading, visible)]
    gaps = {gap.position: gap.line() for gap in left_out}
    groups = [(topic, [numbered]) for topic, numbered in updates.entries]
    if joins and not gaps:
        groups = joined(updates.entries)
    for position, (topic, items) in enumerate(groups):
        parts += [gaps.get(position, ""), update_lines(store, topic, items)]
    parts.append(gaps.get(visible, ""))
    if updates.more:
        following = call or f'since="{updates.next_since}"'
        parts.append(f"truncated: the next ones with {following}\n")
    return "".join((*parts, unreadable_line(updates.unreadable)))


def update_lines(store: OpenStore, topic: str, items: Sequence[Numbered]) -> str:
    """Returns an entry of the updates in two lines, or some that are shown together
    in one."""
    numbered = items[0]
    balls = [item.entry.ball for item in items if item.entry.ball is not None]
    passed = f" | ball to: {word(holder_text(balls[-1].holder))}" if balls else ""
    statuses = [item.entry.status for item in items if item.entry.status]
    changed = f" | status: {word(statuses[-1])}" if statuses else ""
    facts = reference_facts(numbered.entry, _MOST_REFERENCES)
    about = "".join(f" | {fact}" for fact in facts)
    return (
        f"{_entry_line(topic, items)}{passed}{changed}{about}\n"
        f"{block(_summary_line(store, numbered.entry))}"
    )


def _summary_line(store: OpenStore, entry: Entry) -> str:
    """Returns an entry in short."""
    summary = entry_summary(store.reader.layout, entry.topic, entry)
    return one_line(summary.text, SNIPPET_WIDTH)


def hits_json(store: OpenStore, question: Question, hits: Hits) -> dict[str, Any]:
    """Returns the search shape."""
    return dict(clean_json(hits.to_json(store.label, question.query)))


def hits_markdown(
    store: OpenStore,
    question: Question,
    result: Hits,
    arguments: Mapping[str, Any] | None = None,
) -> str:
    """Returns two lines for each hit: where it is, and the words around the match. With
    the ``arguments`` of the call, it also gives the call for the next hits."""
    visible = len(result.hits)
    words = title(question.query, _TITLE_WIDTH)
    condition = f" with {words}" if question.query.strip() else " found"
    if result.partial:
        condition = f" for {words} ({count_text(result)})"
    order = f"{question.sort} first"
    count = f"{_shown_count(visible, result.total)}{condition}, {order}"
    parts = [_answer_heading(store, count, visible)]
    if result.topic_count > 1:
        most = ", ".join(
            f"{topic} {number}" for topic, number in result.topics[:_TOPICS]
        )
        ellipsis = ", …" if result.topic_count > _TOPICS else ""
        parts.append(f"in {result.topic_count} threads: {most}{ellipsis}\n")
    for hit in result.hits:
        parts += [
            _entry_line(hit.name, [hit.numbered]),
            _match_kind(hit),
            block(one_line(hit.snippet)),
        ]
    for facet in result.facets:
        counts = ", ".join(f"{word(value)} {number}" for value, number in facet.values)
        parts.append(f"{facet.name}: {counts}\n")
    if result.by_words:
        parts.append(f"by words alone: {one_line(result.by_words)}\n")
    if result.cursor:
        following = f'cursor="{result.cursor}"'
        if arguments:
            changed = {**arguments, "cursor": result.cursor}
            following = tool_call("search_threads", **changed)
        parts.append(f"truncated: the next ones with {following}\n")
    return "".join((*parts, unreadable_line(result.unreadable)))


def _match_kind(hit: Hit) -> str:
    if hit.is_near:
        return " | by meaning\n"
    return " | some of the words\n" if hit.is_partial else "\n"


def _answer_heading(store: OpenStore, count: str, visible: int) -> str:
    notice = f"{NOTICE}\n" if visible else ""
    return f"{count}, in the store {store.label}\n{notice}"


def _entry_line(topic: str, items: Sequence[Numbered]) -> str:
    numbered = items[0]
    entry, end = numbered.entry, items[-1].idx
    places = f"entry {numbered.idx}"
    if end != numbered.idx:
        places = f"entries {numbered.idx} to {end}"
    is_doubtful = numbered.is_doubtful(system_ms())
    marks = filter(None, ("doubtful time" if is_doubtful else "", numbered.mark))
    return (
        f"- {topic} {places} | {word(utc(entry.at))} | "
        f"author: {word(entry.agent or 'unknown')} | "
        f"{''.join(f'{mark} | ' for mark in marks)}{_way(numbered)}"
        f"{title(titles_text(items), _TITLE_WIDTH)}"
    )


def _way(numbered: Numbered) -> str:
    """Returns how an entry came, for a line of facts; usually empty."""
    way = numbered.way_text
    return f"{word(way, _TITLE_WIDTH)} | " if way else ""


def _shown_count(visible: int, total: int) -> str:
    if visible < total:
        return f"{visible} of {total} entries"
    return entry_count(total)


def searched_json(searched: Matches) -> dict[str, Any]:
    """Returns what could not be searched."""
    return {"unreadable": list(searched.unreadable)} if searched.unreadable else {}


def unreadable_line(topics: tuple[str, ...]) -> str:
    """Returns a line with the threads that could not be read."""
    return f"could not be read, see wc doctor: {', '.join(topics)}\n" if topics else ""

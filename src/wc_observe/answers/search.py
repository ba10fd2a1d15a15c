"""Entries across threads: what is new since a given time, and what matches a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.text import one_line
from wc_core.base.times import utc
from wc_core.ledger.summaries.choosing import entry_summary
from wc_core.ledger.threads.model import holder_text
from wc_core.reading.views.search.answers import count_text
from wc_core.reading.views.updates import joined, titles_text
from wc_observe.answers.entries import reference_facts
from wc_observe.answers.quoting import (
    NOTICE,
    block,
    clean_json,
    entry_count,
    title,
    word,
)
from wc_observe.callers.calls import system_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.answers import Hit, Hits
    from wc_core.reading.views.search.query import Matches, Question
    from wc_core.reading.views.updates import Updates
    from wc_observe.callers.open_store import OpenStore

_SNIPPET_WIDTH = 120
_TITLE_WIDTH = 100
_TOPICS = 8
_DECISIONS = 3
_MOST_REFERENCES = 5


def updates_json(store: OpenStore, since: str, updates: Updates) -> dict[str, Any]:
    """Returns the updates shape, with the beginning of each body."""
    fields = updates.to_json(store.label)
    for entry, (_, numbered) in zip(fields["entries"], updates.entries, strict=True):
        entry["snippet"] = one_line(numbered.entry.body, _SNIPPET_WIDTH)
    return dict(clean_json({"since": since, **fields}))


def updates_markdown(store: OpenStore, since: str, updates: Updates) -> str:
    """Returns two lines for each entry: what it is, and how it begins."""
    visible = len(updates.entries)
    count = _shown_count(visible, visible + updates.more)
    heading = f"{count} since {word(since)}, oldest first"
    parts = [_answer_heading(store, heading, visible)]
    parts += [_update_lines(store, *group) for group in joined(updates.entries)]
    if updates.more:
        parts.append(f'truncated: the next ones with since="{updates.next_since}"\n')
    return "".join((*parts, unreadable_line(updates.unreadable)))


def _update_lines(store: OpenStore, topic: str, items: Sequence[Numbered]) -> str:
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
    return one_line(summary.text, _SNIPPET_WIDTH)


def hits_json(store: OpenStore, question: Question, hits: Hits) -> dict[str, Any]:
    """Returns the search shape."""
    return dict(clean_json(hits.to_json(store.label, question.query)))


def hits_markdown(store: OpenStore, question: Question, result: Hits) -> str:
    """Returns two lines for each hit: where it is, and the words around the match."""
    visible = len(result.hits)
    words = title(question.query, _TITLE_WIDTH)
    condition = f" with {words}" if question.query.strip() else " found"
    if result.partial:
        condition = f" for {words} ({count_text(result)})"
    order = f"{question.sort} first"
    shown = _shown_count(visible, result.total, result.more_than)
    count = f"{shown}{condition}, {order}"
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
        parts.append(f'truncated: the next ones with cursor="{result.cursor}"\n')
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


def _shown_count(visible: int, total: int, more_than: str = "") -> str:
    if visible < total:
        return f"{visible} of {more_than}{total} entries"
    return entry_count(total)


def searched_json(searched: Matches) -> dict[str, Any]:
    """Returns what could not be searched."""
    return {"unreadable": list(searched.unreadable)} if searched.unreadable else {}


def unreadable_line(topics: tuple[str, ...]) -> str:
    """Returns a line with the threads that could not be read."""
    return f"could not be read, see wc doctor: {', '.join(topics)}\n" if topics else ""

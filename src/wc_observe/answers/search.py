"""Entries across threads: what is new since a moment, and what matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.text import one_line
from wc_core.threads.moves import holder_text
from wc_core.times import utc
from wc_observe.answers.quoting import NOTICE, block, cleaned, entries, title, word

if TYPE_CHECKING:
    from wc_core.views.rows import Numbered
    from wc_core.views.search import Hits, Question
    from wc_core.views.updates import Digest, Updates
    from wc_observe.open_store import OpenStore

_SNIPPET_WIDTH = 120
_TITLE_WIDTH = 100
_TOPICS = 8
_AUTHORS = 4


def updates_json(store: OpenStore, since: str, found: Updates) -> dict[str, Any]:
    """The updates shape, with the beginning of each body."""
    fields = found.to_json(store.label)
    for entry, (_, one) in zip(fields["entries"], found.entries, strict=True):
        entry["snippet"] = one_line(one.entry.body, _SNIPPET_WIDTH)
    return dict(cleaned({"since": since, **fields}))


def updates_markdown(store: OpenStore, since: str, found: Updates) -> str:
    """Two lines for each entry: what it is, and how it begins."""
    shown, total = len(found.entries), len(found.entries) + found.more
    count = f"{_count(shown, total)} since {word(since)}, oldest first"
    parts = [_heading(store, count, shown)]
    for topic, one in found.entries:
        ball = one.entry.ball
        passed = f" | ball to: {word(holder_text(ball.holder))}" if ball else ""
        changed = f" | status: {word(one.entry.status)}" if one.entry.status else ""
        parts.append(f"{_place(topic, one)}{passed}{changed}\n")
        parts.append(block(one_line(one.entry.body, _SNIPPET_WIDTH)))
    if found.more:
        parts.append(f'truncated: the next ones with since="{found.next_since}"\n')
    return "".join((*parts, _unreadable(found.unreadable)))


def digest_json(store: OpenStore, since: str, found: Digest) -> dict[str, Any]:
    """The digest shape, with the beginning of each last body."""
    fields = found.to_json(store.label)
    for thread, news in zip(fields["threads"], found.threads, strict=True):
        thread["last"]["snippet"] = one_line(news.last.entry.body, _SNIPPET_WIDTH)
    return dict(cleaned({"since": since, **fields}))


def digest_markdown(store: OpenStore, since: str, found: Digest) -> str:
    """Two lines for each thread: whose move it is, and how its last entry
    begins."""
    total = len(found.threads) + found.more
    count = f"{'1 thread' if total == 1 else f'{total} threads'} with entries"
    if found.more:
        count = f"{len(found.threads)} of {count}"
    heading = f"{count} since {word(since)}, latest first"
    parts = [_heading(store, heading, len(found.threads))]
    for news in found.threads:
        row, last = news.row, news.last
        you = " = you" if row.have_ball else ""
        ball = word(holder_text(row.ball))
        authors = ", ".join(word(one or "unknown") for one in news.authors[:_AUTHORS])
        more = ", …" if len(news.authors) > _AUTHORS else ""
        parts.append(
            f"- {row.topic}: {title(row.title, _TITLE_WIDTH)} {word(row.status)}, "
            f"ball: {ball}{you}, {entries(news.new)} by {authors}{more}\n"
            f"  last: entry {last.idx} | {word(utc(last.entry.at))} | "
            f"{title(last.entry.title, _TITLE_WIDTH)}\n"
        )
        parts.append(block(one_line(last.entry.body, _SNIPPET_WIDTH)))
    if found.more:
        parts.append(f"truncated: {found.more} more, see list_threads\n")
    return "".join((*parts, _unreadable(found.unreadable)))


def hits_json(store: OpenStore, question: Question, found: Hits) -> dict[str, Any]:
    """The search shape."""
    return dict(cleaned(found.to_json(store.label, question.query)))


def hits_markdown(store: OpenStore, question: Question, found: Hits) -> str:
    """Two lines for each hit: where it is, and the words around the match."""
    shown = len(found.hits)
    words = title(question.query, _TITLE_WIDTH)
    asked = f" with {words}" if question.query.strip() else " found"
    count = f"{_count(shown, found.total)}{asked}, best first"
    parts = [_heading(store, count, shown)]
    if len(found.topics) > 1:
        most = ", ".join(f"{topic} {hits}" for topic, hits in found.topics[:_TOPICS])
        more = ", …" if len(found.topics) > _TOPICS else ""
        parts.append(f"in {len(found.topics)} threads: {most}{more}\n")
    if found.partial:
        parts.append(
            f"partial: {found.ready} of {found.entries} entries have been looked "
            "at so far, the latest threads first; ask again in a moment\n"
        )
    for hit in found.hits:
        parts += [_place(hit.topic, hit.numbered), "\n", block(one_line(hit.snippet))]
    if found.cursor:
        parts.append(f'truncated: the next ones with cursor="{found.cursor}"\n')
    return "".join((*parts, _unreadable(found.unreadable)))


def _heading(store: OpenStore, count: str, shown: int) -> str:
    notice = f"{NOTICE}\n" if shown else ""
    return f"{count}, in the store {store.label}\n{notice}"


def _place(topic: str, one: Numbered) -> str:
    entry = one.entry
    return (
        f"- {topic} entry {one.idx} | {word(utc(entry.at))} | "
        f"author: {word(entry.agent or 'unknown')} | {title(entry.title, _TITLE_WIDTH)}"
    )


def _count(shown: int, total: int) -> str:
    if shown < total:
        return f"{shown} of {total} entries"
    return entries(total)


def _unreadable(topics: tuple[str, ...]) -> str:
    return f"could not be read, see wc doctor: {', '.join(topics)}\n" if topics else ""

"""The digest: each thread with entries since a given time."""

from __future__ import annotations

from wc_core.base import times
from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.choosing import Summary, summary_of
from wc_core.ledger.summaries.kept import read_kept
from wc_core.ledger.threads.model import DECISION, holder_text
from wc_core.reading.views.excerpts.since import entries_since

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.excerpts.since import Before, EntriesSince
    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.rows import ThreadRow

# The most new entries of a thread that are summarised, counted from the last.
MOST_SUMMARIES = 4
# The most threads left out that are named.
_MOST_NAMED = 20


class SummarizedEntry(NamedTuple):
    """An entry and its summary."""

    numbered: Numbered
    summary: Summary

    def to_json(self) -> dict[str, Any]:
        """Returns the entry without its body, with its summary."""
        return self.numbered.to_summary_json(self.summary)


class News(NamedTuple):
    """What happened in a thread: its current row, how many entries were added, who
    wrote them, the first one, and the last one that says something; if none does, the
    last one.

    ``before`` is its earlier state; ``None`` if it was begun since, or if that is not
    known. ``decisions`` are among the new entries, ``summaries`` are the last of those
    with their own text; ``texts`` counts them all.
    """

    row: ThreadRow
    new: int
    authors: tuple[str, ...]
    first: Numbered
    last: Numbered
    begun: bool = False
    before: Before | None = None
    decisions: tuple[Numbered, ...] = ()
    summaries: tuple[SummarizedEntry, ...] = ()
    texts: int = 0

    @property
    def last_summary(self) -> str:
        """The summary of the last entry; empty if it has only a title."""
        texts = (s.summary.text for s in self.summaries if s.numbered == self.last)
        return next(texts, "")

    def changes(self) -> list[str]:
        """Returns the changes of status and ball in words: the former value before the
        current one, if they differ."""
        row, before = self.row, self.before
        status, ball = row.status_text, holder_text(row.ball)
        if before is not None and before.status != row.status:
            status = f"{before.status} → {status}"
        if before is not None and before.ball != row.ball:
            ball = f"{holder_text(before.ball)} → {ball}"
        return [*(["new"] if self.begun else []), status, f"ball: {ball}"]

    def to_json(self) -> dict[str, Any]:
        """Returns the thread in the digest shape."""
        last_entry = self.last.to_json()
        del last_entry["body"]
        fields: dict[str, Any] = {
            "entries": self.new,
            "authors": list(self.authors),
            "last": last_entry,
            "begun": self.begun,
            "before": None if self.before is None else self.before._asdict(),
            "decisions": [
                {
                    "idx": item.idx,
                    "id": item.entry.id,
                    "author": item.entry.agent,
                    "title": item.entry.title,
                    **({"via": item.entry.via} if item.entry.via else {}),
                }
                for item in self.decisions
            ],
            "summaries": [item.to_json() for item in self.summaries],
        }
        return self.row.to_json() | fields


class Digest(NamedTuple):
    """Threads with entries since a given time, latest move first; ``more`` follow.
    ``left_out`` are topics among them that did not fit into an answer."""

    threads: tuple[News, ...]
    more: int = 0
    unreadable: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def named_topics(self) -> tuple[str, ...]:
        """The first of those left out."""
        return self.left_out[:_MOST_NAMED]

    def to_json(self, store: str, show: str = "") -> dict[str, Any]:
        """Returns the digest shape; ``show`` is the call that shows what is left
        out."""
        result: dict[str, Any] = {
            "store": store,
            "threads": [news.to_json() for news in self.threads],
        }
        if self.more:
            result |= {"truncated": True, "more": self.more}
        if self.left_out:
            topics = list(self.named_topics)
            part = {"threads": len(self.left_out), "topics": topics, "show": show}
            result |= {"truncated": True, "left_out": [part]}
        if self.unreadable:
            result["unreadable"] = list(self.unreadable)
        return result


def digest(
    overview: Overview, since: str, now_ms: int, limit: int = 0, *, branch: str = ""
) -> Digest:
    """Returns at most ``limit`` (0: all) threads with entries after ``since``, which is
    as for `updates`; of a ``branch``, only the entries written on it count.

    Raises InvalidInputError for an invalid ``since``.
    """
    floor = times.since_id(since, now_ms)
    if limit and not branch:
        latest = _latest(overview, floor, limit)
        if latest is not None:
            return latest
    rows = overview.rows()
    moved = iter([row for row in rows if not row.last_id or row.last_id > floor])
    news: list[News] = []
    unreadable: list[str] = []
    for row in moved:
        try:
            new = entries_since(overview.reader, row.topic, floor, branch)
        except WcError:
            unreadable.append(row.topic)
            continue
        if new.entries:
            news.append(_news(overview.reader, row, new))
        if limit and len(news) >= limit and not branch:
            break  # latest moves come first: no other log has to be read
    unvisited = [*moved]
    unreadable += [row.topic for row in unvisited if row.damaged and not row.last_id]
    visible = news[:limit] if limit else news
    hidden = sum(row.last_id > floor for row in unvisited) + len(news) - len(visible)
    return Digest(tuple(visible), hidden, tuple(unreadable))


def _latest(overview: Overview, floor: str, limit: int) -> Digest | None:
    """Returns the result of `digest` without making the rows of all other threads;
    ``None`` if they are needed."""
    page = overview.moved_since(floor, limit)
    if page is None:
        return None
    news = []
    for row in page.rows:
        try:
            new = entries_since(overview.reader, row.topic, floor)
        except WcError:
            return None  # another thread is shown instead
        if not new.entries:
            return None
        news.append(_news(overview.reader, row, new))
    return Digest(tuple(news), page.total - len(news))


def _news(reader: StoreReader, row: ThreadRow, new: EntriesSince) -> News:
    entries = new.entries
    texts = [item for item in entries if item.has_own_text]
    kept = read_kept(reader.layout, row.topic)
    return News(
        row=row,
        new=len(entries),
        authors=tuple(dict.fromkeys(item.entry.agent for item in entries)),
        first=entries[0],
        last=(texts or entries)[-1],
        begun=new.begun,
        before=new.before,
        decisions=tuple(item for item in texts if item.entry.any_kind == DECISION),
        summaries=tuple(
            SummarizedEntry(item, summary_of(item.entry, kept))
            for item in texts[-MOST_SUMMARIES:]
        ),
        texts=len(texts),
    )

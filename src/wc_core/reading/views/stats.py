"""Statistics of a store: how many balls each holder has, and what has waited too long.

Everything but ``recent`` comes from the states of the threads, which cost the same
however long a log is. ``recent`` reads the logs of the most recent threads, up to a
fixed number of entries, and includes how many it read.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from types import MappingProxyType

from wc_core.base import names, times
from wc_core.base.errors import InvalidInputError, NotFoundError, WcError
from wc_core.base.phrases import Table, counted
from wc_core.base.times import span, utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED, holder_text
from wc_core.reading.views import history
from wc_core.reading.views.holding import is_stale, since_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader, Thread
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.history import BallHistory

# Default number of rows in each list of an answer.
ROWS = 20
RECENT_THREADS = 100
RECENT_ENTRIES = 20_000
STALE_AFTER = "2d"


class Pile(NamedTuple):
    """The open threads whose ball one holder has (``None``: no one), and the one that
    has waited longest; ``since`` is ``None`` if unknown."""

    holder: str | None
    threads: int
    topic: str
    since: int | None


class Recent(NamedTuple):
    """Figures from the logs of the most recent threads: entries by author, most first,
    and the threads whose ball bounced, most first."""

    threads: int = 0
    entries: int = 0
    authors: tuple[tuple[str, int], ...] = ()
    bounces: tuple[tuple[str, BallHistory], ...] = ()


class StoreStats(NamedTuple):
    """The statistics of a store at ``now_ms``.

    ``stale`` are open threads whose ball has been held too long, longest first;
    ``busiest`` those with the most entries. ``unreadable`` threads only count towards
    the total.
    """

    now_ms: int
    by_status: Mapping[str, int] = MappingProxyType({})
    piles: tuple[Pile, ...] = ()
    stale: tuple[State, ...] = ()
    busiest: tuple[State, ...] = ()
    recent: Recent = Recent()
    unreadable: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of threads."""
        return sum(self.by_status.values()) + len(self.unreadable)

    def held_for(self, since: int | None) -> int | None:
        """Returns the seconds from a time until now; ``None`` if it is unknown, or so
        far in the future that a clock was wrong."""
        if since is None or times.is_ahead(since, self.now_ms):
            return None
        return times.elapsed(since, self.now_ms)

    def to_json(self, store: str, limit: int = 0) -> dict[str, Any]:
        """Returns the stats shape, with at most ``limit`` (0: all) rows in each
        list."""
        end = limit or None
        recent = self.recent
        by_status = dict(list(self.by_status.items())[:end])
        fields: dict[str, Any] = {
            "store": store,
            "threads": {"total": self.total, "by_status": by_status},
            "balls": [self._pile(item) for item in self.piles[:end]],
            "stale_total": len(self.stale),
            "stale": [self._stale(item) for item in self.stale[:end]],
            "busiest": [_thread(item) for item in self.busiest[:end]],
            "recent": {
                "threads": recent.threads,
                "entries": recent.entries,
                "authors": [
                    {"author": name, "entries": count}
                    for name, count in recent.authors[:end]
                ],
                "bounces": [
                    {"topic": topic, "bounces": item.bounces, "changes": item.changes}
                    for topic, item in recent.bounces[:end]
                ],
            },
        }
        if self.unreadable:
            fields["unreadable"] = list(self.unreadable[:end])
        if limit and self._longest_list() > limit:
            fields["truncated"] = True
        return fields

    def _longest_list(self) -> int:
        recent = (self.recent.authors, self.recent.bounces)
        own = (self.by_status, self.piles, self.stale, self.busiest)
        lists = (*own, self.unreadable, *recent)
        return max(map(len, lists))

    def _pile(self, pile: Pile) -> dict[str, Any]:
        oldest = {"topic": pile.topic, **self._since(pile.since)}
        return {"holder": pile.holder, "threads": pile.threads, "oldest": oldest}

    def _stale(self, state: State) -> dict[str, Any]:
        since = self._since(since_ms(state, self.now_ms))
        return {**_thread(state), "ball": state.ball, **since}

    def _since(self, since: int | None) -> dict[str, Any]:
        at = None if since is None else times.rfc3339(since)
        return {"since": at, "seconds": self.held_for(since)}


def _thread(state: State) -> dict[str, Any]:
    return {
        "topic": state.name,
        "title": state.title,
        "status": state.status,
        "entry_count": state.entry_count,
        "updated_at": utc(state.updated_at),
    }


def stale_after_ms(text: str) -> int:
    """Returns the milliseconds after which a ball is stale, given an age such as
    ``2d``.

    Raises InvalidInputError for an invalid age.
    """
    age_ms = times.age_ms(text)
    if age_ms is None:
        raise InvalidInputError(f"{text!r} is not an age.", "Write 90m, 36h, 2d or 1w.")
    return age_ms


def store_stats(
    reader: StoreReader, viewer: Viewer, now_ms: int, stale_ms: int
) -> StoreStats:
    """Returns the statistics of all threads. A damaged one does not affect the others.

    Raises StorageError or CorruptError if the threads cannot be listed.
    """
    states, unreadable = _states(reader)
    states.sort(key=_recency, reverse=True)
    since = {state.topic: since_ms(state, now_ms) for state in states}
    stale = [state for state in states if is_stale(state, now_ms, stale_ms)]
    stale.sort(key=lambda state: (since[state.topic] or 0, state.topic))
    by_status = Counter(state.status for state in states)

    @cache  # many threads share few names
    def key(name: str) -> str:
        return viewer.directory.key(names.parse(name))

    return StoreStats(
        now_ms,
        dict(sorted(by_status.items(), key=lambda state: (-state[1], state[0]))),
        tuple(_piles(states, since, key)),
        tuple(stale),
        tuple(sorted(states, key=lambda state: (-state.entry_count, state.topic))),
        _recent(reader, states, now_ms, key),
        tuple(unreadable),
    )


def _states(reader: StoreReader) -> tuple[list[State], list[str]]:
    states: list[State] = []
    unreadable: list[str] = []
    for topic in reader.topics():
        try:
            states.append(reader.snapshot(topic).state)
        except NotFoundError:
            continue  # removed since it was listed, or never begun
        except WcError:
            unreadable.append(topic)
    return states, unreadable


def _recency(state: State) -> tuple[str, str]:
    return (state.last_id, state.topic)


def _piles(
    states: Iterable[State], since: Mapping[str, int | None], key: Callable[[str], str]
) -> list[Pile]:
    """Returns the balls of open threads by holder, most first. A holder is spelled as
    in the most recent thread."""
    by_holder: dict[str | None, list[State]] = {}
    for state in states:
        if state.status != CLOSED:
            holder = None if state.ball is None else key(state.ball)
            by_holder.setdefault(holder, []).append(state)

    def waiting(state: State) -> tuple[bool, int, str]:
        moment = since[state.topic]
        return (moment is None, moment or 0, state.topic)

    piles = []
    for held in by_holder.values():
        oldest = min(held, key=waiting)
        moment = since[oldest.topic]
        piles.append(Pile(held[0].ball, len(held), oldest.name, moment))
    return sorted(piles, key=lambda state: (-state.threads, state.holder or ""))


def _recent(
    reader: StoreReader, states: Iterable[State], now_ms: int, key: Callable[[str], str]
) -> Recent:
    read = list(_threads(reader, states))
    authors: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    bounces = []
    for thread in read:
        for entry in thread.entries:
            author = key(entry.agent)
            spelt.setdefault(author, entry.agent)
            authors[author] += 1
        ball_history = history.ball_history(thread.state, thread.entries, now_ms, key)
        if ball_history.bounces:
            bounces.append((thread.name, ball_history))
    bounces.sort(key=lambda pair: (-pair[1].bounces, -pair[1].changes, pair[0]))
    counts = sorted(authors.items(), key=lambda pair: (-pair[1], pair[0]))
    return Recent(
        len(read),
        sum(authors.values()),
        tuple((spelt[author], count) for author, count in counts),
        tuple(bounces),
    )


def _threads(reader: StoreReader, states: Iterable[State]) -> Iterable[Thread]:
    """Yields the most recent threads, except those that are too long to read."""
    budget, count = RECENT_ENTRIES, 0
    for state in states:
        if count == RECENT_THREADS:
            return
        if state.entry_count > budget:
            continue
        try:
            thread = reader.thread(state.topic)
        except WcError:
            continue  # changed since its state was read; the next call shows it
        count += 1
        budget -= len(thread.entries)
        yield thread


def stats_total(
    fields: dict[str, Any], status_text: Callable[[str], str] = str
) -> tuple[str, str]:
    """Returns the total of threads in the stats shape, in words, and the number for
    each status; the latter is empty if there are no threads."""
    threads = fields["threads"]
    counts = (f"{n} {status_text(name)}" for name, n in threads["by_status"].items())
    return counted(threads["total"], "thread"), ", ".join(counts)


def stats_note(fields: dict[str, Any]) -> str:
    """Returns how many threads the authors and bounces of the stats shape come from, if
    not from all."""
    recent = fields["recent"]["threads"]
    if recent >= fields["threads"]["total"]:
        return ""
    return f"authors and bounces: of the {counted(recent, 'thread')} that moved last"


def stats_tables(fields: dict[str, Any]) -> list[Table]:
    """Returns the stats shape as tables; empty ones are left out."""
    recent = fields["recent"]
    all_tables = (
        _table(("BALL", "OPEN THREADS", "LONGEST", "FOR"), fields["balls"], _ball_row),
        _table(("STALE", "BALL", "FOR", "TITLE"), fields["stale"], _stale_row),
        _table(
            ("BUSIEST", "ENTRIES", "STATUS", "TITLE"),
            fields["busiest"],
            _picked("topic", "entry_count", "status", "title"),
        ),
        _table(("AUTHOR", "ENTRIES"), recent["authors"], _picked("author", "entries")),
        _table(
            ("BOUNCING", "BOUNCES", "CHANGES"),
            recent["bounces"],
            _picked("topic", "bounces", "changes"),
        ),
    )
    return [table for table in all_tables if table.rows]


def _table(
    head: tuple[str, ...],
    rows: Iterable[dict[str, Any]],
    row: Callable[[dict[str, Any]], tuple[str, ...]],
) -> Table:
    return Table(head, tuple(map(row, rows)))


def _picked(*names: str) -> Callable[[dict[str, Any]], tuple[str, ...]]:
    return lambda row: tuple(str(row[name]) or "?" for name in names)


def _ball_row(row: dict[str, Any]) -> tuple[str, ...]:
    oldest = row["oldest"]
    count = str(row["threads"])
    return holder_text(row["holder"]), count, oldest["topic"], _duration(oldest)


def _stale_row(row: dict[str, Any]) -> tuple[str, ...]:
    return row["topic"], holder_text(row["ball"]), _duration(row), row["title"]


def _duration(row: dict[str, Any]) -> str:
    return "?" if row["seconds"] is None else span(row["seconds"])

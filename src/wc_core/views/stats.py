"""A store in figures: whose turn it is how often, what lies too long.

Everything but ``recent`` comes from the states of the threads, which cost the
same however long a log is. ``recent`` reads the logs of the threads that moved
last, as many as fit into a fixed number of entries, and says how many it read.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import names, times
from wc_core.errors import InvalidInputError, NotFoundError, WcError
from wc_core.phrases import Table
from wc_core.threads.model import CLOSED
from wc_core.threads.moves import holder_text
from wc_core.times import span, utc
from wc_core.views import history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wc_core.identity.viewer import Viewer
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader, Thread
    from wc_core.views.history import BallHistory

# Rows in each list of an answer, unless somebody asks for more.
ROWS = 20
RECENT_THREADS = 100
RECENT_ENTRIES = 20_000
STALE_AFTER = "2d"


class Pile(NamedTuple):
    """The open threads whose ball one name has (``None``: nobody), and the one
    that has waited longest there; ``since`` is ``None`` where nothing says."""

    holder: str | None
    threads: int
    topic: str
    since: int | None


class Recent(NamedTuple):
    """What the logs of the threads that moved last say: entries by author,
    the most first, and the threads whose ball bounced, the most first."""

    threads: int = 0
    entries: int = 0
    authors: tuple[tuple[str, int], ...] = ()
    bounces: tuple[tuple[str, BallHistory], ...] = ()


class StoreStats(NamedTuple):
    """The figures of a store at ``now_ms``. ``stale`` are open threads whose
    holder has had the ball too long, the longest first; ``busiest`` those with
    the most entries. ``unreadable`` are threads that no figure counts, but for
    the total."""

    now_ms: int
    by_status: Mapping[str, int] = {}
    piles: tuple[Pile, ...] = ()
    stale: tuple[State, ...] = ()
    busiest: tuple[State, ...] = ()
    recent: Recent = Recent()
    unreadable: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many threads there are."""
        return sum(self.by_status.values()) + len(self.unreadable)

    def held_for(self, since: int | None) -> int | None:
        """Seconds from a moment until now."""
        return None if since is None else max(0, self.now_ms - since) // 1000

    def to_json(self, store: str, limit: int = 0) -> dict[str, Any]:
        """The stats shape, with at most ``limit`` (0: all) rows in each list."""
        end = limit or None
        recent = self.recent
        by_status = dict(list(self.by_status.items())[:end])
        fields: dict[str, Any] = {
            "store": store,
            "threads": {"total": self.total, "by_status": by_status},
            "balls": [self._pile(one) for one in self.piles[:end]],
            "stale_total": len(self.stale),
            "stale": [self._stale(one) for one in self.stale[:end]],
            "busiest": [_thread(one) for one in self.busiest[:end]],
            "recent": {
                "threads": recent.threads,
                "entries": recent.entries,
                "authors": [
                    {"author": name, "entries": count}
                    for name, count in recent.authors[:end]
                ],
                "bounces": [
                    {"topic": topic, "bounces": one.bounces, "changes": one.changes}
                    for topic, one in recent.bounces[:end]
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
        each = (*own, self.unreadable, *recent)
        return max(map(len, each))

    def _pile(self, one: Pile) -> dict[str, Any]:
        oldest = {"topic": one.topic, **self._since(one.since)}
        return {"holder": one.holder, "threads": one.threads, "oldest": oldest}

    def _stale(self, state: State) -> dict[str, Any]:
        since = self._since(history.since_ms(state))
        return {**_thread(state), "ball": state.ball, **since}

    def _since(self, since: int | None) -> dict[str, Any]:
        at = None if since is None else times.rfc3339(since)
        return {"since": at, "seconds": self.held_for(since)}


def _thread(state: State) -> dict[str, Any]:
    return {
        "topic": state.topic,
        "title": state.title,
        "status": state.status,
        "entry_count": state.entry_count,
        "updated_at": utc(state.updated_at),
    }


def longer_than(text: str) -> int:
    """The milliseconds after which a ball is stale, from an age such as ``2d``.

    Raises InvalidInputError for anything else.
    """
    found = times.age_ms(text)
    if found is None:
        raise InvalidInputError(
            f"{text!r} is not how long a ball may lie.", "Write 90m, 36h, 2d or 1w."
        )
    return found


def stats(
    reader: StoreReader, viewer: Viewer, now_ms: int, stale_ms: int
) -> StoreStats:
    """The figures of all threads; a bad one spoils no others'.

    Raises StorageError or CorruptError where the threads cannot be listed.
    """
    states, unreadable = _states(reader)
    states.sort(key=_recency, reverse=True)
    since = {one.topic: history.since_ms(one) for one in states}
    stale = [one for one in states if history.is_stale(one, now_ms, stale_ms)]
    stale.sort(key=lambda one: (since[one.topic] or 0, one.topic))
    by_status = Counter(one.status for one in states)

    @cache  # there are many threads, and few names
    def key(name: str) -> str:
        return viewer.directory.key(names.parse(name))

    return StoreStats(
        now_ms,
        dict(sorted(by_status.items(), key=lambda one: (-one[1], one[0]))),
        tuple(_piles(states, since, key)),
        tuple(stale),
        tuple(sorted(states, key=lambda one: (-one.entry_count, one.topic))),
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
            continue  # gone since it was listed, or never begun
        except WcError:
            unreadable.append(topic)
    return states, unreadable


def _recency(one: State) -> tuple[str, str]:
    return (one.last_id, one.topic)


def _piles(
    states: Iterable[State], since: Mapping[str, int | None], key: Callable[[str], str]
) -> list[Pile]:
    """The balls of open threads by who has them, the most first; a holder as
    the thread that moved last spells them."""
    found: dict[str | None, list[State]] = {}
    for one in states:
        if one.status != CLOSED:
            holder = None if one.ball is None else key(one.ball)
            found.setdefault(holder, []).append(one)

    def waiting(one: State) -> tuple[bool, int, str]:
        moment = since[one.topic]
        return (moment is None, moment or 0, one.topic)

    piles = []
    for held in found.values():
        oldest = min(held, key=waiting).topic
        piles.append(Pile(held[0].ball, len(held), oldest, since[oldest]))
    return sorted(piles, key=lambda one: (-one.threads, one.holder or ""))


def _recent(
    reader: StoreReader, states: Iterable[State], now_ms: int, key: Callable[[str], str]
) -> Recent:
    read = list(_threads(reader, states))
    authors: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    bounces = []
    for thread in read:
        for entry in thread.entries:
            who = key(entry.agent)
            spelt.setdefault(who, entry.agent)
            authors[who] += 1
        found = history.history(thread.state, thread.entries, now_ms, key)
        if found.bounces:
            bounces.append((thread.state.topic, found))
    bounces.sort(key=lambda one: (-one[1].bounces, -one[1].changes, one[0]))
    each = sorted(authors.items(), key=lambda one: (-one[1], one[0]))
    return Recent(
        len(read),
        sum(authors.values()),
        tuple((spelt[who], count) for who, count in each),
        tuple(bounces),
    )


def _threads(reader: StoreReader, states: Iterable[State]) -> Iterable[Thread]:
    """The threads that moved last, without those that are too long to read."""
    left, count = RECENT_ENTRIES, 0
    for state in states:
        if count == RECENT_THREADS:
            return
        if state.entry_count > left:
            continue
        try:
            thread = reader.thread(state.topic)
        except WcError:
            continue  # changed since its state was read; the next call says how
        count += 1
        left -= len(thread.entries)
        yield thread


def tables(fields: dict[str, Any]) -> list[Table]:
    """The stats shape as tables, those without rows left out."""
    recent = fields["recent"]
    found = (
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
    return [one for one in found if one.rows]


def _table(
    head: tuple[str, ...],
    rows: Iterable[dict[str, Any]],
    row: Callable[[dict[str, Any]], tuple[str, ...]],
) -> Table:
    return Table(head, tuple(map(row, rows)))


def _picked(*names: str) -> Callable[[dict[str, Any]], tuple[str, ...]]:
    return lambda one: tuple(str(one[name]) or "?" for name in names)


def _ball_row(one: dict[str, Any]) -> tuple[str, ...]:
    oldest = one["oldest"]
    count = str(one["threads"])
    return holder_text(one["holder"]), count, oldest["topic"], _for(oldest)


def _stale_row(one: dict[str, Any]) -> tuple[str, ...]:
    return one["topic"], holder_text(one["ball"]), _for(one), one["title"]


def _for(one: dict[str, Any]) -> str:
    return "?" if one["seconds"] is None else span(one["seconds"])

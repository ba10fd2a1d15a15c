"""What stands on a board: a card for each thread, in columns by holder.

Whoever looks comes first, then the others by need (balls that have lain too
long, then how many), what is free, what is in review, and what is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import names, times
from wc_core.text import one_line
from wc_core.threads.model import CLOSED, IN_REVIEW
from wc_core.threads.moves import holder_text
from wc_core.views import history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wc_core.names import Directory
    from wc_core.threads.model import State
    from wc_core.views.rows import ThreadRow

_MINE, _OTHERS, _FREE, _REVIEW, _CLOSED = range(5)
_UNREADABLE = "?"


class Card(NamedTuple):
    """A thread on a board. ``since`` is when its ball got where it is, in
    milliseconds since 1970, ``None`` where nothing says; ``work`` what goes on
    in its worktree."""

    row: ThreadRow
    since: int | None = None
    work: str = ""

    @property
    def topic(self) -> str:
        """The thread's slug."""
        return self.row.topic

    def age(self, now_ms: int) -> str:
        """How long its ball has been where it is."""
        if self.since is None:
            return "?"
        return times.age_text(times.seconds_between(self.since, now_ms))

    def is_stale(self, now_ms: int) -> bool:
        """Whether somebody has had its ball for too long."""
        if self.since is None or self.row.ball is None or self.row.status == CLOSED:
            return False
        return now_ms - self.since > history.STALE_MS

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The row of the list shape, and since when its ball is there."""
        since = self.since
        seconds = None if since is None else times.seconds_between(since, now_ms)
        fields: dict[str, Any] = {
            **self.row.to_json(),
            "since": None if since is None else times.rfc3339(since),
            "seconds": seconds,
        }
        return fields | ({"work": self.work} if self.work else {})


class CardColumn(NamedTuple):
    """The cards of one holder, or those with one status; the latest move
    first. ``key`` tells a column from the others whatever its name."""

    key: str
    name: str
    cards: tuple[Card, ...]
    mine: bool = False

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The column of the board shape."""
        cards = [one.to_json(now_ms) for one in self.cards]
        return {"name": self.name, "mine": self.mine, "threads": cards}


class CardFilter(NamedTuple):
    """Which threads: those that have all ``words`` somewhere; closed ones too,
    or not."""

    words: str = ""
    closed: bool = False

    def holds(self, card: Card) -> bool:
        """Whether it is one of them."""
        row = card.row
        if row.status == CLOSED and not self.closed:
            return False
        if not self.words:
            return True
        parts = (row.topic, row.title, holder_text(row.ball), row.status, row.branch)
        text = " ".join(parts).casefold()
        return all(one in text for one in self.words.casefold().split())


def card(row: ThreadRow, state: State | None) -> Card:
    """The card of a thread; without a state of one that cannot be read."""
    return Card(row, None if state is None else history.since_ms(state))


def columns(
    cards: Iterable[Card], wanted: CardFilter, directory: Directory, now_ms: int
) -> tuple[CardColumn, ...]:
    """The cards that are wanted, in columns; none that is empty but for the
    first, that of whoever looks."""
    known: dict[str, str] = {}

    def key(name: str) -> str:
        if name not in known:
            known[name] = directory.key(names.parse(name))
        return known[name]

    found: dict[tuple[int, str], list[Card]] = {(_MINE, ""): []}
    for one in cards:
        if wanted.holds(one):
            found.setdefault(_place(one.row, key), []).append(one)
    each = []
    for (kind, who), held in found.items():
        held.sort(key=lambda one: (one.row.last_id, one.topic), reverse=True)
        name = _name(kind, held)
        each.append(CardColumn(f"{kind}{who}", name, tuple(held), kind == _MINE))
    return tuple(sorted(each, key=lambda one: _order(one, now_ms)))


def _place(row: ThreadRow, key: Callable[[str], str]) -> tuple[int, str]:
    """The kind of column a thread stands in, and whose it is."""
    if row.status == CLOSED:
        return _CLOSED, ""
    if row.have_ball:
        return _MINE, ""
    if row.status == _UNREADABLE:
        return _OTHERS, "\0"  # nobody's name
    if row.status == IN_REVIEW:
        return _REVIEW, ""
    return (_FREE, "") if row.ball is None else (_OTHERS, key(row.ball))


def _name(kind: int, held: Sequence[Card]) -> str:
    if kind == _OTHERS:
        return one_line(held[0].row.ball or "Cannot be read")
    return ("You", "", "Anyone", "In review", "Closed")[kind]


def _order(one: CardColumn, now_ms: int) -> tuple[str, int, int, str]:
    stale = sum(card.is_stale(now_ms) for card in one.cards)
    return one.key[0], -stale, -len(one.cards), one.key

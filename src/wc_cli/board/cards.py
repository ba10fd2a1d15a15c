"""The content of a board: a card for each thread, in columns by holder.

Your own column comes first, then the other holders (those with the most stale balls
first, then those with the most cards), then free threads, those in review, and closed
ones.
"""

from __future__ import annotations

from wc_core import names, times
from wc_core.text import one_line
from wc_core.threads.model import CLOSED, IN_REVIEW, holder_text
from wc_core.values import NamedTuple
from wc_core.views import history
from wc_core.views.rows import matches_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from wc_core.names import Directory
    from wc_core.threads.model import State
    from wc_core.views.rows import ThreadRow

_YOURS, _OTHERS, _FREE, _REVIEW, _WAITING, _CLOSED = range(6)
_UNREADABLE = "?"


class Card(NamedTuple):
    """A thread on a board.

    ``since`` is when its ball got to its holder, in milliseconds since 1970, ``None``
    if unknown. ``work`` is the state of the loop in its worktree.
    """

    row: ThreadRow
    since: int | None = None
    work: str = ""

    @property
    def topic(self) -> str:
        """The thread's topic."""
        return self.row.topic

    def age(self, now_ms: int) -> str:
        """How long the ball has been with its holder, as text."""
        if self.since is None:
            return "?"
        return times.age_text(times.seconds_between(self.since, now_ms))

    def is_stale(self, now_ms: int) -> bool:
        """Whether someone has had the ball for too long."""
        if self.since is None or self.row.ball is None or self.row.status == CLOSED:
            return False
        return now_ms - self.since > history.STALE_MS

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The thread's row of the list shape, with the time its ball arrived."""
        since = self.since
        seconds = None if since is None else times.seconds_between(since, now_ms)
        fields: dict[str, Any] = {
            **self.row.to_json(),
            "since": None if since is None else times.rfc3339(since),
            "seconds": seconds,
        }
        return fields | ({"work": self.work} if self.work else {})


class CardColumn(NamedTuple):
    """The cards of one holder or of one status, the latest move first.

    ``key`` identifies the column; its name can change.
    """

    key: str
    name: str
    cards: tuple[Card, ...]
    is_yours: bool = False

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The column of the board shape."""
        cards = [card.to_json(now_ms) for card in self.cards]
        return {"name": self.name, "mine": self.is_yours, "threads": cards}


class CardFilter(NamedTuple):
    """Selects threads: those that contain all ``words``, with or without closed
    ones."""

    words: str = ""
    closed: bool = False

    def matches(self, card: Card) -> bool:
        """Return whether the card passes the filter: words and status."""
        row = card.row
        if row.status == CLOSED and not self.closed:
            return False
        parts = (row.name, row.title, holder_text(row.ball), row.status, row.branch)
        return matches_words(row, " ".join(parts), self.words)


def make_card(row: ThreadRow, state: State | None) -> Card:
    """The card of a thread; ``state`` is None if the thread cannot be read."""
    return Card(row, None if state is None else history.since_ms(state))


def group_into_columns(
    cards: Iterable[Card], card_filter: CardFilter, directory: Directory, now_ms: int
) -> tuple[CardColumn, ...]:
    """The cards that pass the filter, in columns.

    Only the first column, that of the viewer, may be empty.
    """
    keys: dict[str, str] = {}

    def key(name: str) -> str:
        if name not in keys:
            keys[name] = directory.key(names.parse(name))
        return keys[name]

    groups: dict[tuple[int, str], list[Card]] = {(_YOURS, ""): []}
    for card in cards:
        if card_filter.matches(card):
            groups.setdefault(_column_key(card.row, key), []).append(card)
    board_columns = []
    for (kind, holder), members in groups.items():
        members.sort(key=lambda card: (card.row.last_id, card.topic), reverse=True)
        name = _column_name(kind, members)
        board_columns.append(
            CardColumn(f"{kind}{holder}", name, tuple(members), kind == _YOURS)
        )
    return tuple(sorted(board_columns, key=lambda card: _sort_key(card, now_ms)))


def group_by_area(
    cards: Iterable[Card],
    card_filter: CardFilter,
    areas_of: Mapping[str, Sequence[str]],
    areas: Iterable[str],
) -> tuple[CardColumn, ...]:
    """The cards that pass the filter, in a column for each area, which may be empty,
    and one for those of no area. A thread of several areas is in each of them."""
    groups: dict[str, list[Card]] = {area: [] for area in areas}
    outside: list[Card] = []
    for card in cards:
        if card_filter.matches(card):
            chosen = [groups[area] for area in areas_of.get(card.topic, ())]
            for group in chosen or [outside]:
                group.append(card)
    columns = []
    for area, members in (*groups.items(), ("", outside)):
        members.sort(key=lambda card: (card.row.last_id, card.topic), reverse=True)
        if area or members:
            name = one_line(area) or "No area"
            columns.append(CardColumn(f"area {area}", name, tuple(members)))
    return tuple(columns)


def _column_key(row: ThreadRow, key: Callable[[str], str]) -> tuple[int, str]:
    """The kind of column that a thread belongs to, and the key of its holder."""
    if row.status == CLOSED:
        return _CLOSED, ""
    if row.waits:
        return _WAITING, ""
    if row.have_ball:
        return _YOURS, ""
    if row.status == _UNREADABLE:
        return _OTHERS, "\0"  # cannot be the key of a name
    if row.status == IN_REVIEW:
        return _REVIEW, ""
    return (_FREE, "") if row.ball is None else (_OTHERS, key(row.ball))


def _column_name(kind: int, members: Sequence[Card]) -> str:
    if kind == _OTHERS:
        return one_line(members[0].row.ball or "Cannot be read")
    return ("You", "", "Anyone", "In review", "Waiting", "Closed")[kind]


def _sort_key(column: CardColumn, now_ms: int) -> tuple[str, int, int, str]:
    stale = sum(card.is_stale(now_ms) for card in column.cards)
    return column.key[0], -stale, -len(column.cards), column.key

"""The content of a board: a card for each thread, in columns by agent.

The columns are those of the page: see `wc_core.reading.views.agentgroups`.
"""

from __future__ import annotations

from wc_core.base import times
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED, holder_text
from wc_core.reading.views import agentgroups
from wc_core.reading.views.holding import STALE_MS, since_ms
from wc_core.reading.views.rows import matches_words, recency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import State
    from wc_core.reading.views.rows import ThreadRow

_NAMES = {
    agentgroups.MINE: "You",
    agentgroups.FREE: "Anyone",
    agentgroups.WAITING: "Waiting",
    agentgroups.DAMAGED: "Cannot be read",
    agentgroups.CLOSED_THREADS: "Closed",
}


class Card(NamedTuple):
    """A thread on a board.

    ``since`` is when the ball came to its holder, in milliseconds since 1970, ``None``
    if unknown. ``work`` is the state of the loop in its worktree. ``is_used_here`` is
    whether it was chosen for this worktree, with ``wc use``.
    """

    row: ThreadRow
    since: int | None = None
    work: str = ""
    is_used_here: bool = False

    @property
    def topic(self) -> str:
        """The thread's topic."""
        return self.row.topic

    def age(self, now_ms: int) -> str:
        """How long the holder has had the ball, as text."""
        if self.since is None:
            return "?"
        return times.age_text(times.seconds_between(self.since, now_ms))

    def is_stale(self, now_ms: int) -> bool:
        """Whether someone has had the ball for too long."""
        if self.since is None or self.row.ball is None or self.row.status == CLOSED:
            return False
        return now_ms - self.since > STALE_MS

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The thread's row of the list shape, with the time its ball arrived."""
        since = self.since
        seconds = None if since is None else times.seconds_between(since, now_ms)
        fields: dict[str, Any] = {
            **self.row.to_json(),
            "since": None if since is None else times.rfc3339(since),
            "seconds": seconds,
        }
        if self.is_used_here:
            fields["used_here"] = True
        return fields | ({"work": self.work} if self.work else {})


class CardColumn(NamedTuple):
    """The cards of one agent or of one status, the latest move first.

    ``key`` identifies the column, whose name can change. ``agent`` is the agent that
    has the balls of all its cards; empty if there are several. ``folded`` counts the
    threads that are folded away.
    """

    key: str
    name: str
    cards: tuple[Card, ...]
    is_yours: bool = False
    agent: str = ""
    folded: int = 0

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The column of the board shape."""
        cards = [card.to_json(now_ms) for card in self.cards]
        return {"name": self.name, "mine": self.is_yours, "threads": cards}


class CardFilter(NamedTuple):
    """Selects threads that contain all ``words``, with or without closed ones.

    ``folds`` if what has not moved for weeks is folded away; not where words or closed
    threads are asked for.
    """

    words: str = ""
    closed: bool = False
    folds: bool = False

    def matches(self, card: Card) -> bool:
        """Return whether the card passes the filter: words and status."""
        row = card.row
        if row.status == CLOSED and not (self.closed or row.is_due):
            return False
        parts = (row.name, row.title, holder_text(row.ball), row.status, row.branch)
        return matches_words(row, " ".join(parts), self.words)


def make_card(row: ThreadRow, state: State | None, now_ms: int = 0) -> Card:
    """The card of a thread; ``state`` is None if the thread cannot be read."""
    return Card(row, None if state is None else since_ms(state, now_ms))


def group_into_columns(
    cards: Iterable[Card],
    card_filter: CardFilter,
    directory: Directory,
    now_ms: int = 0,
) -> tuple[CardColumn, ...]:
    """The cards that pass the filter, in columns.

    Only the first column, the viewer's, may be empty, and those whose threads are all
    folded away.
    """
    by_topic = {card.topic: card for card in cards if card_filter.matches(card)}
    rows = sorted((card.row for card in by_topic.values()), key=recency, reverse=True)
    folded = _folded(rows, card_filter, now_ms)
    return tuple(
        CardColumn(
            group.key,
            _NAMES.get(group.kind) or one_line(group.agent),
            tuple(by_topic[row.topic] for row in group.rows if row.topic not in folded),
            group.kind == agentgroups.MINE,
            group.agent,
            sum(row.topic in folded for row in group.rows),
        )
        for group in agentgroups.agent_groups(rows, directory)
    )


def _folded(
    rows: Iterable[ThreadRow], card_filter: CardFilter, now_ms: int
) -> frozenset[str]:
    """The topics that are folded away."""
    if not card_filter.folds or card_filter.words.strip() or card_filter.closed:
        return frozenset()
    return agentgroups.folded_topics(rows, now_ms)

"""The decisions of one thread or of all."""

from __future__ import annotations

from wc_core.base.times import since_id
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import DECISION
from wc_core.lookup.search.mentions import Mentions
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.query import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.search.answers import Hit
    from wc_core.reading.views.search.query import Engine


class DecisionPage(NamedTuple):
    """Decisions, latest first; ``more`` were left out. ``unreadable`` are threads that
    could not be read."""

    hits: tuple[Hit, ...] = ()
    more: int = 0
    unreadable: tuple[str, ...] = ()

    def to_json(self, store: str) -> dict[str, Any]:
        """Returns the decisions shape: entries, each with its topic."""
        decisions = [{"topic": hit.name, **hit.numbered.to_json()} for hit in self.hits]
        fields: dict[str, Any] = {"store": store, "decisions": decisions}
        if self.more:
            fields |= {"truncated": True, "more": self.more}
        if self.unreadable:
            fields["unreadable"] = list(self.unreadable)
        return fields


class DecisionQuery(NamedTuple):
    """Which decisions: of one thread or (empty) of all, at most ``limit`` (0: all).
    ``since`` is a time, an age or an entry's id (see `since_id`), or empty."""

    topic: str = ""
    since: str = ""
    limit: int = 0


def decisions(
    engine: Engine, overview: Overview, query: DecisionQuery, now_ms: int
) -> DecisionPage:
    """Returns the entries of kind ``decision``, and those of earlier versions and other
    tools with that type, each with its latest text; retracted ones are left out. Raises
    InvalidInputError for an invalid ``since``."""
    floor = since_id(query.since, now_ms) if query.since else ""
    topics = frozenset({query.topic}) if query.topic else None
    question = Question("", Filter(topics=topics), about=Mentions(kind=DECISION))
    hits = search(engine, overview, question)
    fitting = [hit for hit in hits.hits if hit.numbered.entry.id > floor]
    chosen = fitting[: query.limit or None]
    return DecisionPage(tuple(chosen), len(fitting) - len(chosen), hits.unreadable)

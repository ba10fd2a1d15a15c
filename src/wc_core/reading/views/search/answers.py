"""The result of a search: the entries with the words, best first.

Up to `RANKED` entries with every term are ordered by their texts; if there are few,
entries with some of the terms follow (`ranked`). If there are more, those with all
terms in their title come first, then those with some of them, then the rest; newest
first within each rank.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.lookup.search import excerpts, ranking
from wc_core.lookup.search.ranking import loose_terms
from wc_core.reading.views.overview import cursor_of, cursor_parts
from wc_core.reading.views.rows import ANYTHING, Filter
from wc_core.reading.views.search import facets as facet_views
from wc_core.reading.views.search.facets import NO_COUNTS
from wc_core.reading.views.search.near import NearQuery
from wc_core.reading.views.search.query import ANY, RANKS, Match, Question, SearchQuery
from wc_core.reading.views.search.ranked import (
    RANKED,
    Position,
    is_ranked_cursor,
    position_of,
    ranked_answer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wc_core.lookup.search.mentions import Mentions
    from wc_core.lookup.search.words import Term
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.facets import Counts, Facet
    from wc_core.reading.views.search.near import MeaningSource
    from wc_core.reading.views.search.query import (
        Engine,
        Matches,
        SearchedThreads,
        SearchEngine,
        Topics,
    )
    from wc_core.reading.views.search.ranked import Ranked

_AROUND = 60
_MANY = 20


class Hit(NamedTuple):
    """A matching entry, and the words around the first match. ``is_partial``: it has
    only some of the words. ``is_near``: none of them, but a similar meaning."""

    topic: str
    numbered: Numbered
    snippet: str
    name: str
    is_partial: bool = False
    is_near: bool = False

    def to_json(self) -> dict[str, Any]:
        """Returns the hit in the search shape."""
        entry = self.numbered.entry
        return {
            "topic": self.name,
            "idx": self.numbered.idx,
            "id": entry.id,
            "at": utc(entry.at),
            "author": entry.agent,
            "title": entry.title,
            "snippet": self.snippet,
            **({mark: True} if (mark := self.numbered.mark) else {}),
            **({"via": entry.via} if entry.via else {}),
            **({"partial": True} if self.is_partial else {}),
            **({"near": True} if self.is_near else {}),
        }


class Hits(NamedTuple):
    """A page of hits, best first. ``cursor`` gets the next page.

    ``total`` counts the hits of all pages; ``topics`` those of the threads with most,
    by name, and ``topic_count`` all threads with any. If there are more hits than are
    counted (``is_more``), these are about the newest. ``partial`` counts those with
    only some of the words, and ``candidates`` all entries with some: if there are more,
    the result has the best of them. ``near`` counts the partial ones that have none of
    the words, but a similar meaning; ``by_words`` is why there can be none.
    ``unreadable`` are threads that could not be searched. ``facets`` has the values of
    all hits, if the query requests them.
    """

    hits: tuple[Hit, ...]
    total: int
    cursor: str = ""
    unreadable: tuple[str, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()
    topic_count: int = 0
    partial: int = 0
    candidates: int = 0
    near: int = 0
    by_words: str = ""
    facets: tuple[Facet, ...] = ()
    is_more: bool = False

    @property
    def more_than(self) -> str:
        """What is said before the total."""
        return "more than " if self.is_more else ""

    def to_json(self, store: str, query: str) -> dict[str, Any]:
        """Returns the search shape."""
        fields: dict[str, Any] = {
            "store": store,
            "query": query,
            "total": self.total,
            "topic_count": self.topic_count,
            "topics": [{"topic": topic, "hits": count} for topic, count in self.topics],
            "hits": [hit.to_json() for hit in self.hits],
        }
        if self.is_more:
            fields["more_than_total"] = True
        if self.partial:
            fields |= {"partial": self.partial, "candidates": self.candidates}
        if self.near:
            fields["near"] = self.near
        if self.by_words:
            fields["by_words"] = self.by_words
        if self.facets:
            fields["facets"] = {facet.name: facet.to_json() for facet in self.facets}
        if self.cursor:
            fields |= {"cursor": self.cursor, "truncated": True}
        if self.unreadable:
            fields["unreadable"] = list(self.unreadable)
        return fields


class ShownThreads(NamedTuple):
    """The threads of the hits, for their names and facets."""

    overview: SearchedThreads
    question: Question

    def topics(self) -> Topics:
        """Returns the threads to search; None for all."""
        return None if self.question.criteria == ANYTHING else self.listed_topics()

    def listed_topics(self) -> list[str]:
        """Returns the threads to search."""
        return self.overview.topics(self.question.criteria)

    def page(
        self,
        hits: Sequence[Hit],
        topics: Mapping[str, int],
        counts: Counts,
        known_names: Mapping[str, str],
    ) -> Hits:
        """Returns a page of these hits. ``topics`` has the number of all hits in each
        thread, and ``counts`` their values. Some names of threads may already be known,
        by topic."""
        first = _most_first(topics)
        named_topics = {hit.topic for hit in hits}.union(topic for topic, _ in first)
        names = {
            **known_names,
            **self.overview.names(named_topics - known_names.keys()),
        }
        return Hits(
            tuple(hit._replace(name=names[hit.topic]) for hit in hits),
            sum(topics.values()),
            topics=tuple((names[topic], count) for topic, count in first),
            topic_count=len(topics),
            facets=self.facets(counts, topics),
        )

    def facets(self, counts: Counts, topics: Mapping[str, int]) -> tuple[Facet, ...]:
        """Returns the facets of hits in these threads, if requested."""
        if not self.question.counting:
            return ()
        rows = self.overview.matching(Filter(topics=frozenset(topics)))
        viewer = self.overview.viewer
        return facet_views.facets(counts, rows, viewer, topics)


def search(
    engine: SearchEngine,
    overview: SearchedThreads,
    question: Question,
    meaning: MeaningSource | None = None,
) -> Hits:
    """Returns the entries that match the query; if there are few, also those with a
    similar meaning, if ``meaning`` is available.

    Following the cursors returns each hit that existed at the start once, because
    entries do not change. Raises InvalidInputError for an empty query and for the
    cursor of another search.
    """
    query = question.search_query()
    position = _start(question, query)
    shown = ShownThreads(overview, question)
    topics = shown.topics()
    if isinstance(position, Match):
        matches = engine.matches(topics, query._replace(behind=position))
        return _in_engine_order(engine, matches, query, shown)
    whole = None
    if question.mode != ANY or not loose_terms(query.terms):
        limit = query.limit and max(query.limit, RANKED)
        limited_query = query._replace(
            limit=limit, newest=position.newest, unranked=RANKED
        )
        whole = engine.matches(topics, limited_query)
        if position.place is None and not _can_be_ranked(query, whole):
            return _in_engine_order(engine, whole, query, shown)
    answer = ranked_answer(
        engine,
        topics,
        query,
        (whole, position),
        loosely=question.is_loose,
        near_query=_near_query(shown, query, meaning),
    )
    return _in_ranked_order(answer, query, shown)


def _near_query(
    shown: ShownThreads, query: SearchQuery, meaning: MeaningSource | None
) -> NearQuery | None:
    """The query's original text, unless it restricts words to a field."""
    if meaning is None or any(term.field for term in query.terms):
        return None
    return NearQuery(shown.question.query, meaning, shown.listed_topics)


def _start(question: Question, query: SearchQuery) -> Match | Position:
    """Returns where the page begins: after a match in the engine's order, or in a
    ranked result. Raises InvalidInputError for the cursor of another search."""
    cursor = question.cursor
    if not cursor:
        return Position()
    if is_ranked_cursor(cursor):
        position = position_of(cursor, len(loose_terms(query.terms)))
        if position is not None:
            return position
    else:
        rank, entry_id, topic = cursor_parts(cursor, 3, "a search")
        if rank in map(str, RANKS):
            return Match(int(rank), entry_id, topic)
    raise InvalidInputError(
        f"{cursor!r} is not a cursor of a search.",
        "Use the cursor of the previous page, or none to start.",
    )


def _can_be_ranked(query: SearchQuery, whole: Matches) -> bool:
    return bool(query.by_title and query.terms and len(whole.best) <= RANKED)


def _in_engine_order(
    engine: SearchEngine, matches: Matches, query: SearchQuery, shown: ShownThreads
) -> Hits:
    """Returns a page of hits in the engine's order."""
    visible = matches.best[: query.limit or None]
    cursor = ""
    if len(visible) < len(matches.best):
        last_match = visible[-1]
        cursor = cursor_of(str(last_match.rank), last_match.id, last_match.topic)
    hits = []
    topics = matches.topics
    terms = query.marked_terms(is_partial=False)
    for match in visible:
        try:
            numbered = engine.entry(match.topic, match.id)
        except WcError:
            # Replaced since it was found, so no longer a hit.
            topics[match.topic] -= 1
        else:
            hits.append(_hit(numbered, match.topic, terms))
    topics = {topic: count for topic, count in topics.items() if count > 0}
    page = shown.page(hits, topics, matches.counts, {})
    return page._replace(
        cursor=cursor, unreadable=matches.unreadable, is_more=matches.is_more
    )


def _in_ranked_order(answer: Ranked, query: SearchQuery, shown: ShownThreads) -> Hits:
    """Returns a page of a ranked result."""
    start = answer.position.place
    remaining = [item for item in answer.entries if start is None or item[0] < start]
    visible = remaining[: query.limit or None]
    cursor = ""
    if len(visible) < len(remaining):
        cursor = answer.position.cursor(visible[-1][0])
    hits = []
    counts = NO_COUNTS
    if query.counted:
        entries = (numbered.entry for _, numbered in answer.entries)
        values = (
            value for entry in entries for value in facet_views.entry_values(entry)
        )
        counts = facet_views.counted(values)
    for place, numbered in visible:
        terms = query.marked_terms(is_partial=not place.is_whole)
        hit = _hit(numbered, place.topic, terms)
        is_near = (place.topic, place.id) in answer.near
        hits.append(hit._replace(is_partial=not place.is_whole, is_near=is_near))
    return shown.page(hits, answer.topics, counts, answer.names)._replace(
        cursor=cursor,
        unreadable=answer.unreadable,
        partial=sum(not place.is_whole for place, _ in answer.entries),
        candidates=answer.candidates,
        near=len(answer.near),
        by_words=answer.by_words,
    )


def _hit(numbered: Numbered, topic: str, terms: Iterable[Term]) -> Hit:
    text = numbered.entry.body or numbered.entry.title
    return Hit(topic, numbered, excerpts.mark_terms(text, terms, _AROUND), topic)


def _most_first(topics: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Returns the number of hits in the threads with the most, most first."""
    ordered = sorted(topics)
    ordered.sort(key=topics.__getitem__, reverse=True)
    return tuple((topic, topics[topic]) for topic in ordered[:_MANY])


def count_text(hits: Hits) -> str:
    """Returns how many entries were found, and how many of them have only some of the
    words."""
    if not hits.partial:
        return f"{hits.more_than}{hits.total} found"
    if hits.partial == hits.total:
        best = _best_of(hits.candidates) if hits.candidates > hits.total else ""
        return f"{hits.total} found, {best}with some of the words{_near_text(hits)}"
    whole = hits.total - hits.partial
    return f"{whole} with every word, {hits.partial} with some{_near_text(hits)}"


def _best_of(candidates: int) -> str:
    if candidates > ranking.COMMON:
        return f"the best of more than {ranking.COMMON}, "
    return f"the best of {candidates}, "


def _near_text(hits: Hits) -> str:
    return f" or by meaning ({hits.near})" if hits.near else ""


def threads_about(engine: Engine, about: Mentions) -> tuple[frozenset[str], Matches]:
    """Returns the threads with an entry that mentions ``about``, and the search result
    for them. Raises InvalidInputError for an invalid mention."""
    matches = engine.matches(None, SearchQuery((), about.checked()))
    return frozenset(matches.topics), matches

"""The result of a search: the entries with the words, best first.

Up to `RANKED` entries with every term are ordered by their texts; if there are few,
entries with some of the terms follow (`ranked`). If there are more, those with all
terms in their title come first, then those with some of them, then the rest; newest
first within each rank.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.lookup import excerpts
from wc_core.lookup.ranking import COMMON, loose_terms
from wc_core.reading.views.rows import ANYTHING, Filter
from wc_core.reading.views.search import facets as facet_views
from wc_core.reading.views.search.query import ANY, Match, SearchQuery
from wc_core.reading.views.search.ranked import (
    LISTED,
    RANKED,
    Position,
    Ranking,
    Result,
    ResultPlace,
    position_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_core.lookup.mentions import Mentions
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.facets import Facet
    from wc_core.reading.views.search.query import (
        Matches,
        Question,
        SearchedThreads,
        SearchEngine,
    )

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
        """What precedes the total in a text."""
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


def search(engine: SearchEngine, question: Question) -> Hits:
    """Returns the entries that match the query; if there are few, also those with a
    similar meaning, if the engine knows any.

    Following the cursors returns each hit that existed at the start once, because
    entries do not change. Raises InvalidInputError for an empty query and for the
    cursor of another search.
    """
    query = question.search_query()
    start = Position()
    if question.cursor:
        start = position_of(question.cursor, len(loose_terms(query.terms)))
    result = _result(engine, question, query, start)
    places = result.places
    if start.place is not None:
        places = [place for place in places if place < start.place]
    visible = places[: query.limit or None]
    cursor = ""
    if len(visible) < len(places):
        cursor = result.position.cursor(visible[-1])
    hits = []
    for place in visible:
        name = place.topic, place.id
        try:
            numbered = result.entries.get(name) or engine.entry(*name)
        except WcError:
            # Replaced since it was found, so no longer a hit.
            result.topics[place.topic] -= 1
            continue
        terms = query.marked_terms(is_partial=not place.is_whole)
        text = numbered.entry.body or numbered.entry.title
        snippet = excerpts.mark_terms(text, terms, _AROUND)
        is_near = name in result.near
        hits.append(
            Hit(place.topic, numbered, snippet, "", not place.is_whole, is_near)
        )
    return _page(hits, result, engine, question)._replace(cursor=cursor)


def _result(
    engine: SearchEngine, question: Question, query: SearchQuery, start: Position
) -> Result:
    """Returns the result of a search, from a position on if it is in the engine's
    order."""
    criteria = question.criteria
    whole = None
    if start.order == LISTED or question.mode != ANY or not loose_terms(query.terms):
        limit = query.limit and max(query.limit, RANKED)
        limited = query._replace(limit=limit, newest=start.newest, unranked=RANKED)
        if start.order == LISTED and start.place is not None:
            behind = Match(*start.place[1:])
            limited = query._replace(behind=behind)
        whole = engine.matches(criteria, limited)
        is_ranked = query.by_title and query.terms and len(whole.best) <= RANKED
        if start.order == LISTED or not (start.order or is_ranked):
            return Result(
                [ResultPlace(True, *match) for match in whole.best],
                start._replace(order=LISTED),
                whole.topics,
                {},
                whole.unreadable,
                whole.is_more,
                whole.counts,
            )
    ranking = Ranking(engine, criteria, query, question.query, start)
    return ranking.result(whole, loosely=question.is_loose)


def _page(
    hits: Sequence[Hit], result: Result, engine: SearchEngine, question: Question
) -> Hits:
    """Returns a page of these hits."""
    topics = {topic: count for topic, count in result.topics.items() if count > 0}
    first = _most_first(topics)
    names = engine.overview.names({hit.topic for hit in hits}.union(dict(first)))
    return Hits(
        tuple(hit._replace(name=names[hit.topic]) for hit in hits),
        sum(topics.values()),
        unreadable=result.unreadable,
        topics=tuple((names[topic], count) for topic, count in first),
        topic_count=len(topics),
        partial=sum(not place.is_whole for place in result.places),
        candidates=result.candidates,
        near=sum((place.topic, place.id) in result.near for place in result.places),
        by_words=result.by_words,
        facets=_facets(result, topics, engine.overview) if question.counting else (),
        is_more=result.is_more,
    )


def _facets(
    result: Result, topics: Mapping[str, int], overview: SearchedThreads
) -> tuple[Facet, ...]:
    counts = result.counts
    if result.position.order != LISTED:
        entries = (result.entries[place.topic, place.id] for place in result.places)
        counts = facet_views.counted(
            value
            for numbered in entries
            for value in facet_views.entry_values(numbered.entry)
        )
    rows = overview.matching(Filter(topics=frozenset(topics)))
    return facet_views.facets(counts, rows, overview.viewer, topics)


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
    if candidates > COMMON:
        return f"the best of more than {COMMON}, "
    return f"the best of {candidates}, "


def _near_text(hits: Hits) -> str:
    return f" or by meaning ({hits.near})" if hits.near else ""


def threads_about(
    engine: SearchEngine, about: Mentions
) -> tuple[frozenset[str], Matches]:
    """Returns the threads with an entry that mentions ``about``, and the search result
    for them. Raises InvalidInputError for an invalid mention."""
    matches = engine.matches(ANYTHING, SearchQuery((), about.checked()))
    return frozenset(matches.topics), matches

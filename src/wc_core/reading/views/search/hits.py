"""Finds entries in the cache: all SQL of searches."""

from __future__ import annotations

from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.lookup import ranking
from wc_core.lookup.expressions import MOST_ENDINGS, Expressions
from wc_core.lookup.mentions import Mentions, at_least
from wc_core.reading.views.search import query as queries
from wc_core.reading.views.search.query import (
    ALL_IN_TITLE,
    ELSEWHERE,
    SOME_IN_TITLE,
    EntryPlace,
    Found,
    Match,
    Matches,
    TermCounts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

    from wc_core.ledger.index.cache import Cache
    from wc_core.lookup.words import Term
    from wc_core.reading.views.search.query import LooseQuery, SearchQuery

_PLACE = "entries.number, entries.id, threads.topic, entries.start"
_WITH_WORDS = "words CROSS JOIN entries ON entries.number = words.rowid"
_WITH_THREAD = "CROSS JOIN threads ON threads.number = entries.thread"
# Follows every character of a word.
_LAST = "\U0010ffff"
_NEWEST_FIRST = "entries.id DESC, threads.topic DESC"
# A list of any length is one value.
_LISTED = "IN (SELECT value FROM json_each(?))"
_LISTED_THREAD = (
    "IN (SELECT number FROM threads WHERE topic IN (SELECT value FROM json_each(?)))"
)


class Condition(NamedTuple):
    """A condition in SQL, and its values."""

    text: str = "true"
    values: tuple[Any, ...] = ()

    def both(self, text: str, *values: Any) -> Condition:
        """Returns this condition and another."""
        return Condition(f"{self.text} AND {text}", (*self.values, *values))


def _select(
    cache: Cache,
    columns: str,
    source: str,
    condition: Condition,
    ending: str = "",
) -> list[tuple[Any, ...]]:
    parts = ("SELECT", columns, "FROM", source, "WHERE", condition.text, ending)
    return cache.ask(" ".join(parts), *condition.values)


class CachedThreads(NamedTuple):
    """Threads of a cache: the ``topics`` (None: all) that are not ``outdated``, with a
    ``status`` unless that is empty."""

    topics: Collection[str] | None = None
    outdated: Collection[str] = ()
    status: str = ""

    def condition(self, column: str) -> Condition:
        """Returns the condition that a column has the number of such a thread."""
        condition = Condition()
        if self.topics is not None:
            listed = json.dumps([*self.topics])
            condition = condition.both(f"{column} {_LISTED_THREAD}", listed)
        if self.outdated:
            listed = json.dumps([*self.outdated])
            condition = condition.both(f"{column} NOT {_LISTED_THREAD}", listed)
        if self.status:
            own = f"(SELECT status FROM threads AS own WHERE own.number = {column})"
            condition = condition.both(f"{own} = ?", self.status)
        return condition


class CachedEntries:
    """The entries of a cache in some ``threads`` that mention ``about``. ``fits``
    returns whether an entry with the words of a mention mentions it: the cache does not
    have texts. Every method may raise UnusableCacheError."""

    def __init__(
        self,
        cache: Cache,
        threads: CachedThreads,
        about: Mentions = Mentions(),  # noqa: B008 (frozen)
        fits: Callable[[EntryPlace, Mentions], bool] = lambda *_: True,
    ) -> None:
        self._cache = cache
        self._about = about
        self._threads = threads
        self._expressions = Expressions(self._endings)
        self._facets = _facets(about)
        self._condition = _in_time(threads.condition("entries.thread"), about)
        # The entries of the last answers.
        self.places: dict[tuple[str, str], EntryPlace] = {}
        if about.needs_text:
            mentioning = self._newest(self._expressions.having((), about.terms))
            numbers = [place.number for place in mentioning if fits(place, about)]
            self._condition = self._condition.both(
                f"entries.number {_LISTED}", json.dumps(numbers)
            )

    def _endings(self, word: str) -> list[str]:
        beginning = Condition("word >= ? AND word < ?", (word, f"{word}{_LAST}"))
        limit = f"LIMIT {MOST_ENDINGS + 1}"
        rows = _select(self._cache, "word", "vocabulary", beginning, limit)
        return [str(ending) for (ending,) in rows]

    def found(self, query: SearchQuery) -> Found:
        """Returns the matches of a query."""
        condition, limit = self._condition, query.limit
        if query.newest:
            condition = condition.both("entries.id <= ?", query.newest)
        words = self._expressions.having(query.terms, self._about.terms)
        most = queries.COUNTED + 1 if limit else 0
        newest = self._newest(words, condition, most)
        if query.limit and len(newest) <= query.unranked:
            self._keep(newest)
            best = [Match(ELSEWHERE, place.id, place.topic) for place in newest]
            return Found(best, newest)
        ranks = _ranks(query, words, self._expressions)
        return Found(self._best(ranks, condition, query.behind, limit), newest)

    def _best(
        self,
        ranks: Iterable[tuple[int, str]],
        condition: Condition,
        behind: Match | None,
        limit: int,
    ) -> list[Match]:
        """The best matches ``behind`` one, one more than the limit, given the
        expression for each rank, best first."""
        best: list[Match] = []
        for rank, expression in ranks:
            following = condition
            if behind is not None and rank >= behind.rank:
                if rank > behind.rank:
                    continue
                place = behind.id, behind.topic
                following = condition.both(
                    "(entries.id, threads.topic) < (?, ?)", *place
                )
            most = limit + 1 - len(best) if limit else 0
            places = self._newest(expression, following, most)
            best += [Match(rank, place.id, place.topic) for place in places]
            self._keep(places)
            if limit and len(best) > limit:
                break
        return best

    def _newest(
        self, words: str, condition: Condition | None = None, most: int = 0
    ) -> list[EntryPlace]:
        """The newest entries with the words (empty: any), ``most`` of them at most (0:
        all); newest first."""
        condition = condition or self._condition
        if not words or not most:
            return self._places(words, condition, _NEWEST_FIRST, most)
        places = self._places(words, condition, "words.rowid DESC", most)
        if len(places) == most:
            # The numbers are mostly, not always, in the order of the ids. The plus
            # makes SQLite use the index of these.
            oldest = min(place.id for place in places)
            ((first,),) = self._cache.ask(
                "SELECT min(+number) FROM entries WHERE id >= ?", oldest
            )
            if first < places[-1].number:
                condition = condition.both("words.rowid >= ?", first)
                return self._places(words, condition, _NEWEST_FIRST, most)
        places.sort(key=EntryPlace.recency, reverse=True)
        return places

    def _places(
        self, words: str, condition: Condition, order: str, most: int
    ) -> list[EntryPlace]:
        source, condition = self._source(words, condition)
        rows = _select(
            self._cache,
            _PLACE,
            f"{source} {_WITH_THREAD}",
            condition,
            f"ORDER BY {order} LIMIT {most or -1}",
        )
        return [EntryPlace(*row) for row in rows]

    def _source(self, words: str, condition: Condition) -> tuple[str, Condition]:
        """The source of entries that have the words (empty: any) and the facets, and
        the whole condition."""
        facets = self._facets
        if not words:
            return "entries", condition.both(facets.text, *facets.values)
        matching = Condition("words MATCH ?", (words,))
        if facets.values:
            # Without the plus, FTS5 would be asked for each number.
            numbers = f"SELECT entries.number FROM entries WHERE {facets.text}"
            matching = matching.both(f"+words.rowid IN ({numbers})", *facets.values)
        return _WITH_WORDS, matching.both(condition.text, *condition.values)

    def _keep(self, places: Iterable[EntryPlace]) -> None:
        self.places |= {(place.topic, place.id): place for place in places}

    def counts(self, query: LooseQuery) -> TermCounts:
        """Returns how many entries have each of the terms."""
        counts = (
            self._count(term, query.required, self._condition) for term in query.terms
        )
        return TermCounts(self._thread_count(), tuple(counts))

    def _count(self, term: Term, required: Iterable[Term], condition: Condition) -> int:
        words = self._expressions.having((term, *required), self._about.terms)
        source, condition = self._source(words, condition)
        counted = f"SELECT 1 FROM {source} WHERE {condition.text}"
        ((count,),) = self._cache.ask(
            f"SELECT count(*) FROM ({counted} LIMIT {ranking.COMMON + 1})",
            *condition.values,
        )
        return int(count)

    def _thread_count(self) -> int:
        condition = self._threads.condition("number")
        ((count,),) = _select(self._cache, "count(*)", "threads", condition)
        return int(count)

    def candidates(self, query: LooseQuery) -> Matches:
        """Returns the best entries with any of the terms that have a weight."""
        weighted = [
            pair for pair in zip(query.terms, query.weights, strict=True) if pair[1]
        ]
        if not weighted:
            return Matches([], {})
        condition = self._condition
        if query.newest:
            condition = condition.both("entries.id <= ?", query.newest)
        if len(weighted) == 1:
            return self._candidates_with(*weighted[0], query, condition)
        parts: list[str] = []
        values: list[Any] = []
        ask = self._expressions
        required = ask.having(query.required, self._about.terms)
        for term, weight in weighted:
            for own in (ask.having([term]), ask.prominently(term)):
                if own:
                    parts.append(
                        "SELECT rowid AS number, ? AS score FROM words "
                        "WHERE words MATCH ?"
                    )
                    values += (weight, " AND ".join(filter(None, (own, required))))
        condition = condition.both(self._facets.text, *self._facets.values)
        values += condition.values
        rows = _select(
            self._cache,
            f"sum(scored.score) AS score, count(*) OVER (), {_PLACE}",
            f"({' UNION ALL '.join(parts)}) AS scored "
            f"CROSS JOIN entries ON entries.number = scored.number {_WITH_THREAD}",
            Condition(condition.text, tuple(values)),
            "GROUP BY entries.number "
            f"ORDER BY score DESC, {_NEWEST_FIRST} LIMIT {query.limit or -1}",
        )
        best = [Match(score, row[1], row[2]) for score, _, *row in rows]
        self._keep(EntryPlace(*row) for _, _, *row in rows)
        return Matches(best, {}, total=rows[0][1] if rows else 0)

    def _candidates_with(
        self, term: Term, weight: int, query: LooseQuery, condition: Condition
    ) -> Matches:
        """The candidates with one term, which may be a common one."""
        words = self._expressions.having((term, *query.required), self._about.terms)
        ranks = [(weight, words)]
        if own := self._expressions.prominently(term):
            ranks = [
                (2 * weight, f"({words}) AND ({own})"),
                (weight, f"({words}) NOT ({own})"),
            ]
        best = self._best(ranks, condition, None, query.limit)
        return Matches(best, {}, total=self._count(term, query.required, condition))

    def values(self, places: Iterable[EntryPlace]) -> list[tuple[str, str, str]]:
        """Returns the author, the kind and the branch of entries."""
        numbers = json.dumps([place.number for place in places])
        condition = Condition(f"number {_LISTED}", (numbers,))
        rows = _select(self._cache, "author, kind, branch", "entries", condition)
        return [(author, kind, branch) for author, kind, branch in rows]

    def oldest(self, most: int) -> tuple[list[EntryPlace], int]:
        """Returns the oldest entries that can be shown from their lines, and how many
        there are."""
        condition = self._condition.both("threads.size >= 0")
        places = self._places("", condition, "entries.id, threads.topic", most)
        source, condition = self._source("", condition)
        joined = f"{source} {_WITH_THREAD}"
        ((count,),) = _select(self._cache, "count(*)", joined, condition)
        return places, int(count)

    def readable_topics(self) -> set[str]:
        """Returns the threads whose entries `oldest` has."""
        condition = self._threads.condition("number").both("size >= 0")
        rows = _select(self._cache, "topic", "threads", condition)
        return {topic for (topic,) in rows}


def position(cache: Cache, place: EntryPlace) -> int:
    """Returns the position of an entry in its thread, counted from 0."""
    condition = Condition(
        "threads.topic = ? AND entries.id < ?", (place.topic, place.id)
    )
    source = "threads CROSS JOIN entries ON entries.thread = threads.number"
    ((count,),) = _select(cache, "count(*)", source, condition)
    return int(count)


def _facets(about: Mentions) -> Condition:
    """Returns what entries must have apart from words and their time."""
    condition = Condition()
    for column, accepted in (
        ("branch", (about.branch,) if about.branch else ()),
        ("kind", (about.kind,) if about.kind else ()),
        ("severity", at_least(about.severity) if about.severity else ()),
    ):
        if accepted:
            own, marks = f"entries.{column}", ", ".join("?" * len(accepted))
            # The first part is for an index.
            condition = condition.both(f"{own} != '' AND {own} IN ({marks})", *accepted)
    return condition


def _in_time(condition: Condition, about: Mentions) -> Condition:
    """Returns a condition and when entries must have been written."""
    if about.since:
        condition = condition.both("entries.id > ?", about.since)
    if about.until:
        condition = condition.both("entries.id <= ?", about.until)
    return condition


def _ranks(
    query: SearchQuery, words: str, expressions: Expressions
) -> Iterator[tuple[int, str]]:
    """Yields the ranks that matches can have, best first, and the expression for the
    matches of each."""
    if not query.by_title or not query.terms:
        yield ELSEWHERE, words
        return
    all_of, any_of = (
        expressions.in_title(query.terms, all_terms=all_terms)
        for all_terms in (True, False)
    )
    # Terms in the title imply that the entry has them.
    is_of_titles = {term.field for term in query.terms} <= {"", "title"}
    is_enough = is_of_titles and not query.about.terms
    yield ALL_IN_TITLE, all_of if is_enough else f"({words}) AND ({all_of})"
    if len(query.terms) > 1:
        yield SOME_IN_TITLE, f"(({words}) AND ({any_of})) NOT ({all_of})"
    yield ELSEWHERE, f"({words}) NOT ({any_of})"

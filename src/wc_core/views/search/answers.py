"""The query of a search and its result: the entries with the words, best first.

`wc_core.search.words` defines what a term is. Up to `RANKED` entries with every term
are ordered by their texts; if there are few, entries with some of the terms follow
(`ranked`). If there are more, those with all terms in their title come first, then
those with some of them, then the rest; newest first within each rank. An *engine* knows
which entries match; the engine `scan` reads the logs.
"""

from __future__ import annotations

from wc_core.errors import InvalidInputError, WcError
from wc_core.search import excerpts, words
from wc_core.search.mentions import Mentions, recorded
from wc_core.search.ranking import loose_terms, required_terms
from wc_core.search.threadwords import ThreadWords
from wc_core.times import utc
from wc_core.values import NamedTuple
from wc_core.views.overview import cursor_of, cursor_parts
from wc_core.views.search import facets as facet_views
from wc_core.views.search.facets import NO_COUNTS
from wc_core.views.search.loose import topic_counts
from wc_core.views.search.near import NearQuery
from wc_core.views.search.ranked import (
    RANKED,
    Position,
    is_ranked_cursor,
    position_of,
    ranked_answer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from wc_core.identity.viewer import Viewer
    from wc_core.index.entries import IndexedEntry
    from wc_core.search.words import Term
    from wc_core.threads.model import Entry
    from wc_core.threads.reader import StoreReader
    from wc_core.views.entries import Numbered
    from wc_core.views.rows import Filter, ThreadRow
    from wc_core.views.search.facets import Counting, Counts, Facet
    from wc_core.views.search.loose import Loose, LooseQuery
    from wc_core.views.search.near import MeaningSource
    from wc_core.views.search.ranked import Ranked

    class SearchEngine(Protocol):
        """Knows which entries match, and what they contain."""

        def matches(self, topics: list[str], query: SearchQuery) -> Matches:
            """Returns the entries of these threads that match the query."""

        def loose_matches(self, topics: list[str], query: LooseQuery) -> Loose:
            """Returns the best entries of these threads with any of the terms."""

        def entry(self, topic: str, entry_id: str) -> Numbered:
            """Returns a found entry. Raises WcError if it has been removed."""

        def thread_words(self, topic: str) -> ThreadWords:
            """Returns the words of a thread. Raises WcError if it no longer exists."""

    class SearchedThreads(Protocol):
        """The threads to search: an `Overview` of a store."""

        @property
        def viewer(self) -> Viewer:
            """The viewer."""

        def topics(self, criteria: Filter) -> list[str]:
            """Returns the threads that pass a filter, in any order."""

        def names(self, topics: Collection[str]) -> dict[str, str]:
            """Returns the names of threads, by topic."""

        def matching(self, criteria: Filter) -> list[ThreadRow]:
            """Returns the threads that pass a filter."""

    class Engine(SearchEngine, Protocol):
        """Also answers the queries of lists and updates."""

        def threads(self, topics: list[str], about: Mentions) -> Matches:
            """Returns matches in each thread with an entry that mentions it."""

        def written_after(
            self, topics: Sequence[str], floor: str, branch: str, limit: int
        ) -> EntriesAfter:
            """Returns the first entries of these threads that were written after
            ``floor``, an id; of a ``branch`` unless that is empty."""

        def read(self, topic: str, indexed: IndexedEntry) -> Numbered:
            """Returns an entry of `written_after`. Raises WcError if it no longer
            exists."""


_AROUND = 60
# Which entries match a query: those with every word, and with some if there are few;
# with every word; with any; with the words as a phrase.
MODES = AUTO, ALL, ANY, PHRASE = "auto", "all", "any", "phrase"
SORTS = BEST, NEWEST = "best", "newest"
# The rank of an entry with all terms in its title, with some, with none.
_RANKS = ALL_IN_TITLE, SOME_IN_TITLE, ELSEWHERE = 2, 1, 0
_MANY = 20


class Match(NamedTuple):
    """A matching entry. Two threads can have an entry with the same id: pages imported
    from copies."""

    rank: int
    id: str
    topic: str


class Matches(NamedTuple):
    """The matching entries.

    ``best`` are the first of them in order and ``remaining`` counts all that follow the
    cursor. ``topics`` counts every match by thread. ``unreadable`` are threads that
    could not be searched. ``counts`` has the values of all matches, if the query
    requests them and there are no more than `facets.MOST_COUNTED`.
    """

    best: list[Match]
    remaining: int
    topics: dict[str, int]
    unreadable: tuple[str, ...] = ()
    counts: Counts = NO_COUNTS


class EntriesAfter(NamedTuple):
    """Entries of the index, each after its topic, oldest first; the ``total``, of which
    these are the first; and the ``unindexed`` threads, whose logs have to be read."""

    entries: Sequence[tuple[str, IndexedEntry]]
    total: int
    unindexed: Sequence[str]


class SearchQuery(NamedTuple):
    """What an entry must have: each of the terms and each of the mentions.

    At most ``limit`` matches (0: all) are returned that come after ``behind`` and are
    not newer than the entry ``newest``. Unless ``by_title``, the newest come first,
    wherever the terms are. ``counted`` also requests the values of all matches.
    """

    terms: tuple[Term, ...]
    about: Mentions
    limit: int = 0
    behind: Match | None = None
    newest: str = ""
    by_title: bool = True
    counted: bool = False

    def marked_terms(self, *, is_partial: bool) -> tuple[Term, ...]:
        """Returns what to mark in a hit."""
        terms = self.terms
        if is_partial:
            terms = (*loose_terms(terms), *required_terms(terms))
        return (*terms, *(term for term in self.about.terms if not term.field))

    def follows(self, match: Match) -> bool:
        """Returns whether a match comes after ``behind`` and is old enough."""
        return (self.behind is None or match < self.behind) and (
            not self.newest or match.id <= self.newest
        )

    def rank(self, entry: Entry, thread: ThreadWords | None = None) -> int | None:
        """Returns how well an entry matches; ``None`` if it does not. Without
        ``thread``, only the thread's topic is considered."""
        thread = thread or ThreadWords(entry.topic)
        title, body = words.plain_words(entry.title), words.plain_words(entry.body)
        if self.about != Mentions():
            mentioned = {"title": title, "body": body}
            mentioned["recorded"] = words.plain_words(recorded(entry))
            if not self.about.fit(entry) or not all(
                words.contains_term(term, mentioned)
                for term in self.about.terms
                if not term.field
            ):
                return None
        fields = {
            "title": title,
            "body": body,
            "topic": words.plain_words(thread.names),
            "author": words.plain_words(entry.agent),
            "tag": words.plain_words(thread.tags),
        }
        if not all(words.contains_term(term, fields) for term in self.terms):
            return None
        return self.rank_of([term.needle in title for term in self.terms])

    def rank_of(self, in_title: list[bool]) -> int:
        """Returns the rank of a match, given which of its terms are in the title."""
        if not self.by_title or not any(in_title):
            return ELSEWHERE
        return ALL_IN_TITLE if all(in_title) else SOME_IN_TITLE


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
            **({"partial": True} if self.is_partial else {}),
            **({"near": True} if self.is_near else {}),
        }


class Hits(NamedTuple):
    """A page of hits, best first. ``cursor`` gets the next page.

    ``total`` counts the hits of all pages; ``topics`` those of the threads with most,
    by name, and ``topic_count`` all threads with any. ``partial`` counts those with
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


class Question(NamedTuple):
    """What to search for, in which threads, and how many hits to show (0: all).

    ``mode`` is one of `MODES`, and ``sort`` one of `SORTS`. ``counting`` requests
    facets.
    """

    query: str
    criteria: Filter
    limit: int = 0
    cursor: str = ""
    about: Mentions = Mentions()
    mode: str = AUTO
    sort: str = BEST
    counting: Counting | None = None

    def search_query(self) -> SearchQuery:
        """Returns what entries must have. Raises InvalidInputError for an empty query,
        and for an unknown order."""
        if self.sort not in SORTS:
            raise InvalidInputError(
                f"There is no order {self.sort!r}.", f"Use {' or '.join(SORTS)}."
            )
        if self.mode == PHRASE:
            terms = words.parse_phrase(self.query)
        else:
            terms = words.parse_query(self.query)
        query = SearchQuery(terms, self.about.checked(), self.limit)
        if not terms and (query.about == Mentions() or self.query.strip()):
            raise InvalidInputError(
                "There is nothing to search for.",
                "Give one word or more, made of letters or digits; or a file, a pull "
                "request, a commit, a branch or a kind.",
            )
        return query._replace(
            by_title=self.sort == BEST, counted=self.counting is not None
        )

    @property
    def is_loose(self) -> bool:
        """Whether entries with some of the words may match."""
        return self.mode == ANY or (self.mode == AUTO and self.sort == BEST)


class ShownThreads(NamedTuple):
    """The threads of the hits, for their names and facets."""

    overview: SearchedThreads
    question: Question

    def named(self, hits: Hits, known: Mapping[str, str] | None = None) -> Hits:
        """Returns the hits with the names of their threads, of which some may already
        be ``known``, by topic."""
        known = known or {}
        topics = {hit.topic for hit in hits.hits}.union(
            topic for topic, _ in hits.topics
        )
        names = {**known, **self.overview.names(topics - known.keys())}
        return hits._replace(
            hits=tuple(hit._replace(name=names[hit.topic]) for hit in hits.hits),
            topics=tuple((names[topic], count) for topic, count in hits.topics),
        )

    def facets(self, counts: Counts, topics: Mapping[str, int]) -> tuple[Facet, ...]:
        """Returns the facets of hits in these threads, if requested."""
        counting = self.question.counting
        if counting is None:
            return ()
        if sum(topics.values()) > facet_views.MOST_COUNTED:
            counts = NO_COUNTS
        return facet_views.facets(counts, self.overview, topics, counting)


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
    topics = overview.topics(question.criteria)
    if isinstance(position, Match):
        matches = engine.matches(topics, query._replace(behind=position))
        return shown.named(_in_engine_order(engine, matches, query, shown))
    whole = None
    if question.mode != ANY or not loose_terms(query.terms):
        limit = query.limit and max(query.limit, RANKED + 1)
        limited_query = query._replace(limit=limit, newest=position.newest)
        whole = engine.matches(topics, limited_query)
        if position.place is None and not _can_be_ranked(query, whole):
            return shown.named(_in_engine_order(engine, whole, query, shown))
    answer = ranked_answer(
        engine,
        topics,
        query,
        (whole, position),
        loosely=question.is_loose,
        near_query=_near_query(question, query, meaning),
    )
    return shown.named(_ranked_page(answer, query, shown), answer.names)


def _near_query(
    question: Question, query: SearchQuery, meaning: MeaningSource | None
) -> NearQuery | None:
    """The query's original text, unless it restricts words to a field."""
    if meaning is None or any(term.field for term in query.terms):
        return None
    return NearQuery(question.query, meaning)


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
        if rank in map(str, _RANKS):
            return Match(int(rank), entry_id, topic)
    raise InvalidInputError(
        f"{cursor!r} is not a cursor of a search.",
        "Use the cursor of the previous page, or none to start.",
    )


def _can_be_ranked(query: SearchQuery, whole: Matches) -> bool:
    return bool(query.by_title and query.terms and whole.remaining <= RANKED)


def _in_engine_order(
    engine: SearchEngine, matches: Matches, query: SearchQuery, shown: ShownThreads
) -> Hits:
    """Returns a page of hits in the engine's order."""
    visible = matches.best[: query.limit or None]
    cursor = ""
    if len(visible) < matches.remaining:
        last_match = visible[-1]
        cursor = cursor_of(str(last_match.rank), last_match.id, last_match.topic)
    hits, vanished = [], []
    terms = query.marked_terms(is_partial=False)
    for match in visible:
        try:
            numbered = engine.entry(match.topic, match.id)
        except WcError:
            # Replaced since it was found, so no longer a hit.
            vanished.append(match.topic)
        else:
            hits.append(_hit(numbered, match.topic, terms))
    vanished_counts = topic_counts(vanished)
    topics = {
        topic: count - vanished_counts.get(topic, 0)
        for topic, count in matches.topics.items()
        if count > vanished_counts.get(topic, 0)
    }
    return Hits(
        tuple(hits),
        sum(topics.values()),
        cursor,
        matches.unreadable,
        _most_first(topics),
        len(topics),
        facets=shown.facets(matches.counts, topics),
    )


def _ranked_page(answer: Ranked, query: SearchQuery, shown: ShownThreads) -> Hits:
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
    return Hits(
        tuple(hits),
        len(answer.entries),
        cursor,
        answer.unreadable,
        _most_first(answer.topics),
        len(answer.topics),
        sum(not place.is_whole for place, _ in answer.entries),
        answer.candidates,
        len(answer.near),
        answer.by_words,
        shown.facets(counts, answer.topics),
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
        return f"{hits.total} found"
    if hits.partial == hits.total:
        best = (
            f"the best of {hits.candidates}, " if hits.candidates > hits.total else ""
        )
        return f"{hits.total} found, {best}with some of the words{_near_text(hits)}"
    whole = hits.total - hits.partial
    return f"{whole} with every word, {hits.partial} with some{_near_text(hits)}"


def _near_text(hits: Hits) -> str:
    return f" or by meaning ({hits.near})" if hits.near else ""


def threads_about(
    engine: Engine, reader: StoreReader, about: Mentions
) -> tuple[frozenset[str], Matches]:
    """Returns the threads with an entry that mentions ``about``, and the search result
    for them. Raises InvalidInputError for an invalid mention."""
    matches = engine.threads(reader.topics(), about.checked())
    return frozenset(matches.topics), matches

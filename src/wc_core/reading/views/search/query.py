"""What a search asks for, and what an engine that knows the entries returns.

`wc_core.lookup.words` defines what a term is. An *engine* knows which entries match.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.values import NamedTuple
from wc_core.lookup import ranking, words
from wc_core.lookup.mentions import Mentions
from wc_core.lookup.ranking import SearchedText, loose_terms, required_terms
from wc_core.lookup.threadwords import ThreadWords
from wc_core.reading.views.search.facets import NO_COUNTS, added, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Protocol

    from wc_core.ledger.threads.model import Entry
    from wc_core.lookup.nearness import Nearness
    from wc_core.lookup.words import Term
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.rows import Filter, ThreadRow
    from wc_core.reading.views.search.facets import Counts

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

    class MeaningSource(Protocol):
        """Knows which entries of a store are near a query: `wc_core.reading.meaning`.
        It may have a model."""

        def nearest(
            self, query: str, topics: Callable[[], Sequence[str]], newest: str
        ) -> Nearness:
            """Returns the nearest entries of the threads that ``topics`` returns, of
            those up to the id ``newest`` if there is one."""

    class SearchEngine(Protocol):
        """Knows which entries match, and what they contain. ``criteria`` choose the
        threads that are searched."""

        @property
        def overview(self) -> SearchedThreads:
            """The threads."""

        @property
        def meaning(self) -> MeaningSource | None:
            """What knows more than words, if anything does."""

        def matches(self, criteria: Filter, query: SearchQuery) -> Matches:
            """Returns the entries that match the query."""

        def counts(self, criteria: Filter, query: LooseQuery) -> TermCounts:
            """Returns how many entries have each of the terms."""

        def candidates(self, criteria: Filter, query: LooseQuery) -> Matches:
            """Returns the best entries with any of the terms that have a weight."""

        def entry(self, topic: str, entry_id: str) -> Numbered:
            """Returns an entry. Raises WcError if it has been removed."""

        def thread_words(self, topic: str) -> ThreadWords:
            """Returns the words of a thread. Raises WcError if it no longer exists."""


# Which entries match a query: those with every word, and with some if there are few;
# with every word; with any; with the words as a phrase.
MODES = AUTO, ALL, ANY, PHRASE = "auto", "all", "any", "phrase"
SORTS = BEST, NEWEST = "best", "newest"
# The rank of an entry with all terms in its title, with some, with none.
RANKS = ALL_IN_TITLE, SOME_IN_TITLE, ELSEWHERE = 2, 1, 0


# So many hits are counted; of more, the newest.
COUNTED = 5_000


class Match(NamedTuple):
    """A matching entry; the greatest is shown first. The ``rank`` may be a score. Two
    threads can have an entry with the same id: pages imported from copies."""

    rank: int
    id: str
    topic: str


class Matches(NamedTuple):
    """The matching entries.

    ``best`` are the first in order of those that follow the cursor, one more than the
    limit if there are so many. ``topics`` counts all matches by thread; if there are
    more than `COUNTED` (``is_more``) and the query has a limit, only the newest.
    ``unreadable`` are threads that could not be searched. ``counts`` has the values of
    those that are counted, if the query requests them.

    Of a `LooseQuery`, the ranks are rough scores, and ``total`` counts the entries with
    some of the words; more than `COMMON` are not counted further. The other counts are
    empty.
    """

    best: list[Match]
    topics: dict[str, int]
    is_more: bool = False
    unreadable: tuple[str, ...] = ()
    counts: Counts = NO_COUNTS
    total: int = 0


class Found(NamedTuple):
    """The matches in a part of the threads: the ``best`` as in `Matches`, and the
    ``newest``: all, or one more than `COUNTED`."""

    best: list[Match]
    newest: list[EntryPlace]
    unreadable: tuple[str, ...] = ()


def matches_of(
    parts: Sequence[Found],
    query: SearchQuery,
    values: Callable[[Sequence[EntryPlace]], Iterable[tuple[str, str]]],
) -> Matches:
    """Returns the matches in several parts of a store's threads. ``values`` returns the
    values of entries, each after the name of its facet."""
    places = [place for part in parts for place in part.newest]
    is_more = bool(query.limit) and len(places) > COUNTED
    if is_more:
        places.sort(key=EntryPlace.recency, reverse=True)
        del places[COUNTED:]
    matches = (Matches(part.best, {}, unreadable=part.unreadable) for part in parts)
    return merged(matches, query.limit and query.limit + 1)._replace(
        topics=topic_counts(place.topic for place in places),
        is_more=is_more,
        counts=counted(values(places)) if query.counted else NO_COUNTS,
    )


def merged(parts: Iterable[Matches], most: int) -> Matches:
    """Returns the matches in several parts of the threads, the best ``most`` (0:
    all)."""
    total = Matches([], {})
    for part in parts:
        total = Matches(
            [*total.best, *part.best],
            {**total.topics, **part.topics},
            total.is_more or part.is_more,
            (*total.unreadable, *part.unreadable),
            added(total.counts, part.counts),
            min(total.total + part.total, ranking.COMMON + 1),
        )
    total.best.sort(reverse=True)
    return total._replace(best=total.best[: most or None])


class LooseQuery(NamedTuple):
    """What entries must have: any of the ``terms`` with a weight, each ``required``
    term, and each of the mentions.

    The best ``limit`` of them are returned (0: all) that are not newer than ``newest``.
    """

    terms: tuple[Term, ...]
    required: tuple[Term, ...] = ()
    about: Mentions = Mentions()
    limit: int = 0
    newest: str = ""
    weights: tuple[int, ...] = ()

    def is_old_enough(self, entry_id: str) -> bool:
        """Returns whether an entry is not newer than ``newest``."""
        return not self.newest or entry_id <= self.newest


class TermCounts(NamedTuple):
    """How many entries have each term of a query, in this many ``threads``. More than
    `ranking.COMMON` are not counted further."""

    threads: int
    entries: tuple[int, ...]


def joined_counts(parts: Iterable[TermCounts], query: LooseQuery) -> TermCounts:
    """Returns the counts of several parts of the threads."""
    threads, entries = 0, [0] * len(query.terms)
    for part in parts:
        threads += part.threads
        entries = [*map(int.__add__, entries, part.entries)]
    most = ranking.COMMON + 1
    return TermCounts(threads, tuple(min(count, most) for count in entries))


def topic_counts(topics: Iterable[str]) -> dict[str, int]:
    """Returns how often each topic occurs. Avoids `collections.Counter`, whose import
    takes 2 ms."""
    counts: dict[str, int] = {}
    for topic in topics:
        counts[topic] = counts.get(topic, 0) + 1
    return counts


class EntryPlace(NamedTuple):
    """An entry of the index, the topic of its thread, and where its line begins in the
    log."""

    number: int
    id: str
    topic: str
    start: int

    def recency(self) -> tuple[str, str]:
        """Returns what newer entries have more of."""
        return self.id, self.topic


class EntriesAfter(NamedTuple):
    """Entries of the index, oldest first; the ``total``, of which these are the first;
    and the ``unindexed`` threads, whose logs have to be read."""

    entries: Sequence[EntryPlace]
    total: int
    unindexed: Collection[str]


class SearchQuery(NamedTuple):
    """What an entry must have: each of the terms and each of the mentions.

    At most ``limit`` matches (0: all) are shown that come after ``behind``; none is
    newer than the entry ``newest``. Unless ``by_title``, the newest come first,
    wherever the terms are. ``counted`` also requests the values of the matches. Up to
    ``unranked`` matches may be in any order.
    """

    terms: tuple[Term, ...]
    about: Mentions
    limit: int = 0
    behind: Match | None = None
    newest: str = ""
    by_title: bool = True
    counted: bool = False
    unranked: int = 0

    def marked_terms(self, *, is_partial: bool) -> tuple[Term, ...]:
        """Returns what to mark in a hit."""
        terms = self.terms
        if is_partial:
            terms = (*loose_terms(terms), *required_terms(terms))
        return (*terms, *(term for term in self.about.terms if not term.field))

    def is_old_enough(self, entry_id: str) -> bool:
        """Returns whether an entry is not newer than ``newest``."""
        return not self.newest or entry_id <= self.newest

    def follows(self, match: Match) -> bool:
        """Returns whether a match comes after ``behind``."""
        return self.behind is None or match < self.behind

    def rank(self, entry: Entry, thread: ThreadWords | None = None) -> int | None:
        """Returns how well an entry matches; ``None`` if it does not. Without
        ``thread``, only the thread's topic is considered."""
        text = SearchedText(entry, thread or ThreadWords(entry.topic))
        if not self.about.fit(entry) or not all(
            text.mentions(term) for term in self.about.terms if not term.field
        ):
            return None
        if not all(map(text.has, self.terms)):
            return None
        in_title = [text.has_in_title(term) for term in self.terms]
        if not self.by_title or not any(in_title):
            return ELSEWHERE
        return ALL_IN_TITLE if all(in_title) else SOME_IN_TITLE


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
    counting: bool = False

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
        return query._replace(by_title=self.sort == BEST, counted=self.counting)

    @property
    def is_loose(self) -> bool:
        """Whether entries with some of the words may match."""
        return self.mode == ANY or (self.mode == AUTO and self.sort == BEST)

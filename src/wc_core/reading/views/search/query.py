"""What a search asks for, and what an engine that knows the entries returns.

`wc_core.lookup.search.words` defines what a term is. An *engine* knows which entries
match; the engine `scan` reads the logs.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.values import NamedTuple
from wc_core.lookup.search import words
from wc_core.lookup.search.mentions import Mentions, recorded
from wc_core.lookup.search.ranking import loose_terms, required_terms
from wc_core.lookup.search.threadwords import ThreadWords
from wc_core.reading.views.search.facets import NO_COUNTS, added

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Protocol

    from wc_core.ledger.threads.model import Entry
    from wc_core.lookup.index.entries import IndexedEntry
    from wc_core.lookup.search.words import Term
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.rows import Filter, ThreadRow
    from wc_core.reading.views.search.facets import Counts
    from wc_core.reading.views.search.loose import Loose, LooseQuery

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
        """Also answers the queries of updates."""

        def written_after(
            self, topics: Sequence[str], floor: str, branch: str, limit: int
        ) -> EntriesAfter:
            """Returns the first entries of these threads that were written after
            ``floor``, an id; of a ``branch`` unless that is empty."""

        def read(self, topic: str, indexed: IndexedEntry) -> Numbered:
            """Returns an entry of `written_after`. Raises WcError if it no longer
            exists."""


# Which entries match a query: those with every word, and with some if there are few;
# with every word; with any; with the words as a phrase.
MODES = AUTO, ALL, ANY, PHRASE = "auto", "all", "any", "phrase"
SORTS = BEST, NEWEST = "best", "newest"
# The rank of an entry with all terms in its title, with some, with none.
RANKS = ALL_IN_TITLE, SOME_IN_TITLE, ELSEWHERE = 2, 1, 0


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


def merged(parts: Iterable[Matches], limit: int) -> Matches:
    """Returns the matches in several parts of the threads, at most ``limit`` of them
    (0: all)."""
    best: list[Match] = []
    total = Matches(best, 0, {})
    for part in parts:
        best += part.best
        total = Matches(
            best,
            total.remaining + part.remaining,
            {**total.topics, **part.topics},
            (*total.unreadable, *part.unreadable),
            added(total.counts, part.counts),
        )
    best.sort(reverse=True)
    del best[limit or len(best) :]
    return total


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

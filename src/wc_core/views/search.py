"""Search: which entries contain the words, best first.

`wc_core.search.words` defines what a term is. Entries with all terms in their title
come first, then those with some of them, then the rest; newest first within each rank.
An *engine* knows which entries match; the engine `Scan` reads the logs.
"""

from __future__ import annotations

from wc_core.errors import InvalidInputError, NotFoundError, WcError
from wc_core.search import words
from wc_core.search.mentions import Mentions, recorded
from wc_core.threads.model import DECISION
from wc_core.times import since_id, utc
from wc_core.values import NamedTuple
from wc_core.views.entries import numbered
from wc_core.views.overview import cursor_of, cursor_parts
from wc_core.views.rows import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Protocol

    from wc_core.index.entries import IndexedEntry
    from wc_core.search.words import Term
    from wc_core.threads.model import Entry
    from wc_core.threads.reader import StoreReader
    from wc_core.views.entries import Numbered
    from wc_core.views.overview import Overview

    class Engine(Protocol):
        """Knows which entries match, and what they contain."""

        def matches(self, topics: list[str], query: SearchQuery) -> Matches:
            """Returns the entries of these threads that match the query."""

        def threads(self, topics: list[str], about: Mentions) -> Matches:
            """Returns matches in each thread with an entry that mentions it."""

        def entry(self, match: Match) -> Numbered:
            """Returns the entry of a match. Raises WcError if it has been removed."""

        def written_after(
            self, topics: Sequence[str], floor: str, branch: str, limit: int
        ) -> EntriesAfter:
            """Returns the first entries of these threads that were written after
            ``floor``, an id; of a ``branch`` unless that is empty."""

        def read(self, topic: str, indexed: IndexedEntry) -> Numbered:
            """Returns an entry of `written_after`. Raises WcError if it is gone."""


_AROUND = 60
# The rank of an entry with all terms in its title, with some, with none.
_RANKS = ALL_IN_TITLE, SOME_IN_TITLE, ELSEWHERE = 2, 1, 0
_MANY = 20


class Match(NamedTuple):
    """An entry that matches. Two threads can have an entry with the same id: pages
    imported from copies."""

    rank: int
    id: str
    topic: str


class Matches(NamedTuple):
    """The entries that match.

    ``best`` are the first of them in order and ``remaining`` counts all that follow the
    cursor. ``topics`` counts every match by thread. ``unreadable`` are threads that
    could not be searched.
    """

    best: list[Match]
    remaining: int
    topics: dict[str, int]
    unreadable: tuple[str, ...] = ()


class EntriesAfter(NamedTuple):
    """Entries of the index, each after its topic, oldest first; the ``total``, of which
    these are the first; and the ``unindexed`` threads, whose logs have to be read."""

    entries: Sequence[tuple[str, IndexedEntry]]
    total: int
    unindexed: Sequence[str]


class SearchQuery(NamedTuple):
    """What an entry must have: each of the terms and each of the mentions.

    At most ``limit`` matches (0: all) are wanted that come after ``behind``.
    """

    terms: tuple[Term, ...]
    about: Mentions
    limit: int = 0
    behind: Match | None = None

    def rank(self, entry: Entry) -> int | None:
        """Returns how well an entry matches; ``None`` if it does not."""
        title, body = words.plain_words(entry.title), words.plain_words(entry.body)
        if self.about != Mentions():
            mentioned = {"title": title, "body": body}
            mentioned["recorded"] = words.plain_words(recorded(entry))
            if not all(
                words.contains_term(term, mentioned) for term in self.about.terms
            ):
                return None
            if not self.about.fit(entry):
                return None
        fields = {
            "title": title,
            "body": body,
            "topic": words.plain_words(entry.topic),
            "author": words.plain_words(entry.agent),
        }
        if not all(words.contains_term(term, fields) for term in self.terms):
            return None
        return rank_of([term.needle in title for term in self.terms])


def rank_of(in_title: list[bool]) -> int:
    """Returns the rank of a match, given which of its terms are in the title."""
    if not any(in_title):
        return ELSEWHERE
    return ALL_IN_TITLE if all(in_title) else SOME_IN_TITLE


class Hit(NamedTuple):
    """An entry that matches, and the words around the first match."""

    topic: str
    numbered: Numbered
    snippet: str
    name: str

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
        }


class Hits(NamedTuple):
    """A page of hits, best first. ``cursor`` gets the next one.

    ``total`` counts the hits of all pages, ``topics`` those of each thread, most first.
    ``unreadable`` are threads that could not be searched.
    """

    hits: tuple[Hit, ...]
    total: int
    cursor: str = ""
    unreadable: tuple[str, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()

    def to_json(self, store: str, query: str) -> dict[str, Any]:
        """Returns the search shape; of more than 20 threads the first ones."""
        fields: dict[str, Any] = {
            "store": store,
            "query": query,
            "total": self.total,
            "topic_count": len(self.topics),
            "topics": [
                {"topic": topic, "hits": count} for topic, count in self.topics[:_MANY]
            ],
            "hits": [hit.to_json() for hit in self.hits],
        }
        if self.cursor:
            fields |= {"cursor": self.cursor, "truncated": True}
        if self.unreadable:
            fields["unreadable"] = list(self.unreadable)
        return fields


class Question(NamedTuple):
    """What to search for, in which threads, and how many hits to show (0: all)."""

    query: str
    criteria: Filter
    limit: int = 0
    cursor: str = ""
    about: Mentions = Mentions()

    def search_query(self) -> SearchQuery:
        """Returns what entries must have. Raises InvalidInputError if nothing is
        asked for."""
        terms, about = words.parse_query(self.query), self.about.checked()
        query = SearchQuery(terms, about, self.limit, _position(self.cursor))
        if not query.terms and (query.about == Mentions() or self.query.strip()):
            raise InvalidInputError(
                "There is nothing to search for.",
                "Give one word or more, made of letters or digits; or a file, a pull "
                "request, a commit, a branch or a kind.",
            )
        return query


def search(engine: Engine, overview: Overview, question: Question) -> Hits:
    """Returns the entries that match the question.

    Following the cursors gives each hit that existed at the start once, because entries
    do not change. Raises InvalidInputError for an empty question and for a foreign
    cursor.
    """
    query = question.search_query()
    names = overview.names(question.criteria)
    matches = engine.matches([*names], query)
    cursor = ""
    if len(matches.best) < matches.remaining:
        last_match = matches.best[-1]
        cursor = cursor_of(str(last_match.rank), last_match.id, last_match.topic)
    from collections import Counter  # 2 ms that a list does not have

    hits, vanished = [], Counter[str]()
    for match in matches.best:
        try:
            name = names[match.topic]
            hits.append(_hit(engine.entry(match), match, query, name))
        except WcError:
            # Replaced since it was found, so no longer a hit.
            vanished[match.topic] += 1
    topics = Counter(matches.topics) - vanished
    return Hits(
        tuple(hits),
        topics.total(),
        cursor,
        matches.unreadable,
        tuple((names[k], count) for k, count in sorted(topics.items(), key=_most_hits)),
    )


def threads_about(
    engine: Engine, reader: StoreReader, about: Mentions
) -> tuple[frozenset[str], Matches]:
    """Returns the threads with an entry that mentions ``about``, and what was searched
    for them. Raises InvalidInputError for what cannot be mentioned."""
    matches = engine.threads(reader.topics(), about.checked())
    return frozenset(matches.topics), matches


def _hit(numbered_entry: Numbered, match: Match, query: SearchQuery, name: str) -> Hit:
    text = numbered_entry.entry.body or numbered_entry.entry.title
    terms = (*query.terms, *query.about.terms)
    snippet = words.mark_terms(text, terms, _AROUND)
    return Hit(match.topic, numbered_entry, snippet, name)


def _most_hits(topic_count: tuple[str, int]) -> tuple[int, str]:
    return -topic_count[1], topic_count[0]


def _position(cursor: str) -> Match | None:
    """Returns the hit after which the next page starts."""
    if not cursor:
        return None
    rank, entry_id, topic = cursor_parts(cursor, 3, "a search")
    if rank not in map(str, _RANKS):
        raise InvalidInputError(
            f"{cursor!r} is not a cursor of a search.",
            "Use the cursor of the page before, or none to start.",
        )
    return Match(int(rank), entry_id, topic)


def may_have(topic: str, log: bytes | None, sure: Iterable[str]) -> bool:
    """Returns whether a thread can contain all of the words (ASCII letters and digits).

    A quick test on the log as one text, before its lines are parsed. A log with escapes
    that may stand for letters always passes.
    """
    if log is None or b"\\u" in log:
        return True
    text = words.fold_text(f"{topic} {log.decode(errors='replace')}")
    return all(word in text for word in sure)


class Scan:
    """Searches by reading the logs of a store one after the other."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._entries: dict[tuple[str, str], Numbered] = {}

    def matches(self, topics: Iterable[str], query: SearchQuery) -> Matches:
        """Like `Engine.matches`."""
        found_matches: list[Match] = []
        unreadable = []
        sure = [
            word
            for term in (*query.terms, *query.about.terms)
            for word in term.words
            if word.isascii()
        ]
        for topic in topics:
            try:
                log = self._reader.log_bytes(topic)
                if query.about.may_be_in(log) and may_have(topic, log, sure):
                    found_matches += self._in_thread(topic, query)
            except WcError:
                unreadable.append(topic)
        from collections import Counter  # as above

        counts = Counter(match.topic for match in found_matches)
        behind = query.behind
        remaining = [
            match for match in found_matches if behind is None or match < behind
        ]
        remaining.sort(reverse=True)
        visible = remaining[: query.limit or None]
        return Matches(visible, len(remaining), counts, tuple(unreadable))

    def threads(self, topics: Iterable[str], about: Mentions) -> Matches:
        """Like `Engine.threads`: one match for each thread."""
        counts: dict[str, int] = {}
        unreadable = []
        for topic in topics:
            try:
                if self._mentions(topic, about):
                    counts[topic] = 1
            except NotFoundError:
                continue  # removed since it was listed
            except WcError:
                unreadable.append(topic)
        return Matches([], len(counts), counts, tuple(unreadable))

    def _mentions(self, topic: str, about: Mentions) -> bool:
        if not about.may_be_in(self._reader.log_bytes(topic)):
            return False
        visible = numbered(self._reader.thread(topic))
        return any(about.fit(item.entry) for item in visible if not item.retracted)

    def _in_thread(self, topic: str, query: SearchQuery) -> Iterable[Match]:
        thread = self._reader.thread(topic)
        names = " ".join((topic, *thread.state.names))
        for entry in numbered(thread):
            named = entry.entry._replace(topic=names)
            rank = None if entry.retracted else query.rank(named)
            if rank is not None:
                self._entries[topic, entry.entry.id] = entry
                yield Match(rank, entry.entry.id, topic)

    def written_after(
        self, topics: Sequence[str], floor: str, branch: str, limit: int
    ) -> EntriesAfter:
        """Like `Engine.written_after`: nothing is known without reading the logs."""
        del floor, branch, limit
        return EntriesAfter((), 0, topics)

    def read(self, topic: str, indexed: IndexedEntry) -> Numbered:
        """Like `Engine.read`."""
        raise NotFoundError(f"{topic} has no entry {indexed.id} any more.")

    def entry(self, match: Match) -> Numbered:
        """Returns the entry as it was read."""
        return self._entries[match.topic, match.id]


class DecisionPage(NamedTuple):
    """Decisions, the latest first; ``more`` were left out. ``unreadable`` are threads
    that could not be read."""

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
    tools with that type, in their latest words; retracted ones are left out. Raises
    InvalidInputError for an invalid ``since``."""
    floor = since_id(query.since, now_ms) if query.since else ""
    topics = frozenset({query.topic}) if query.topic else None
    question = Question("", Filter(topics=topics), about=Mentions(kind=DECISION))
    hits = search(engine, overview, question)
    fitting = [hit for hit in hits.hits if hit.numbered.entry.id > floor]
    chosen = fitting[: query.limit or None]
    return DecisionPage(tuple(chosen), len(fitting) - len(chosen), hits.unreadable)

"""Search: which entries have the words, the best first.

What a term is, `wc_core.views.words` says. Entries with all of the terms in their
titles come first, then those with some, then the rest; the newest first among
equals. An *engine* knows which entries match: `Scan` looks through the logs.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from wc_core.errors import InvalidInputError, WcError
from wc_core.times import utc
from wc_core.views import words
from wc_core.views.mentions import Mentions, recorded
from wc_core.views.overview import cursor_of, cursor_parts
from wc_core.views.rows import numbered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.threads.model import Entry
    from wc_core.threads.reader import StoreReader
    from wc_core.views.overview import Overview
    from wc_core.views.rows import Filter, Numbered
    from wc_core.views.words import Term

_AROUND = 60
# Where all terms are in the title, some, none.
_RANKS = ALL_IN_TITLE, SOME_IN_TITLE, ELSEWHERE = 2, 1, 0
_MANY = 20


class Match(NamedTuple):
    """An entry that matches. Two threads can have an entry of the same id:
    pages imported from copies."""

    rank: int
    id: str
    topic: str


class Matches(NamedTuple):
    """What matches: the best of it in order, and how many ``left`` there are to
    choose from behind where a walk is; of all that matches how much is in which
    thread. ``unreadable`` are threads that could not be searched. ``ready`` of
    ``entries`` were looked at, see `Hits`."""

    found: list[Match]
    left: int
    topics: dict[str, int]
    unreadable: tuple[str, ...] = ()
    ready: int = 0
    entries: int = 0


class Engine(Protocol):
    """Knows which entries match, and what they are."""

    def matches(self, topics: list[str], wanted: SearchQuery) -> Matches:
        """The entries of these threads that have what is wanted."""

    def entry(self, match: Match) -> Numbered:
        """The entry. Raises WcError where it is gone since it was found."""


class SearchQuery(NamedTuple):
    """What an entry must have: each of the terms, and each of the mentions. Of
    those that do ``limit`` (0: all) are wanted that come after ``behind``."""

    terms: tuple[Term, ...]
    about: Mentions
    limit: int = 0
    behind: Match | None = None

    def rank(self, entry: Entry) -> int | None:
        """How well an entry fits; ``None`` where it does not."""
        title, body = words.plain(entry.title), words.plain(entry.body)
        if self.about != Mentions():
            known = {"title": title, "body": body}
            known["recorded"] = words.plain(recorded(entry))
            if not all(words.has(one, known) for one in self.about.terms):
                return None
            if not self.about.fit(entry):
                return None
        fields = {
            "title": title,
            "body": body,
            "topic": words.plain(entry.topic),
            "author": words.plain(entry.agent),
        }
        if not all(words.has(one, fields) for one in self.terms):
            return None
        return rank_of([one.needle in title for one in self.terms])


def rank_of(in_title: list[bool]) -> int:
    """The rank of a match, from which of its terms are in the title."""
    if not any(in_title):
        return ELSEWHERE
    return ALL_IN_TITLE if all(in_title) else SOME_IN_TITLE


class Hit(NamedTuple):
    """An entry that matches, and the words around the first match."""

    topic: str
    found: Numbered
    snippet: str

    def to_json(self) -> dict[str, Any]:
        """The hit of the search shape."""
        entry = self.found.entry
        return {
            "topic": self.topic,
            "idx": self.found.idx,
            "id": entry.id,
            "at": utc(entry.at),
            "author": entry.agent,
            "title": entry.title,
            "snippet": self.snippet,
        }


class Hits(NamedTuple):
    """Some of the hits, the best first; ``cursor`` gets the rest.

    ``total`` counts the hits of all pages, ``topics`` those in each thread, the
    most first. ``unreadable`` are threads that could
    not be searched. Where ``ready`` is less than ``entries``, only so many
    entries have been looked at, the newest threads first: there may be more.
    """

    hits: tuple[Hit, ...]
    total: int
    cursor: str = ""
    unreadable: tuple[str, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()
    ready: int = 0
    entries: int = 0

    @property
    def partial(self) -> bool:
        """Whether entries were left out that nobody has looked at yet."""
        return self.ready < self.entries

    def to_json(self, store: str, query: str) -> dict[str, Any]:
        """The search shape; of more than 20 threads the first ones."""
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
        if self.partial:
            fields["partial"] = {"searched": self.ready, "entries": self.entries}
        if self.unreadable:
            fields["unreadable"] = list(self.unreadable)
        return fields


class Question(NamedTuple):
    """What to look for, where, and how much of it to show (0: all)."""

    query: str
    where: Filter
    limit: int = 0
    cursor: str = ""
    about: Mentions = Mentions()

    def wanted(self) -> SearchQuery:
        """What entries must have. Raises InvalidInputError for nothing."""
        terms, about = words.parse(self.query), self.about.checked()
        found = SearchQuery(terms, about, self.limit, _position(self.cursor))
        if not found.terms and (found.about == Mentions() or self.query.strip()):
            raise InvalidInputError(
                "There is nothing to search for.",
                "Give one word or more, made of letters or digits; or a file, a pull "
                "request, a commit or a branch.",
            )
        return found


def search(engine: Engine, overview: Overview, question: Question) -> Hits:
    """The entries that have all that the question asks for.

    A walk by cursor gives each hit that was there at its start once: what an
    entry says does not change. Raises InvalidInputError for a question that
    asks for nothing and for a foreign cursor.
    """
    wanted = question.wanted()
    rows = overview.matching(question.where)
    matches = engine.matches([one.topic for one in rows], wanted)
    cursor = ""
    if len(matches.found) < matches.left:
        last = matches.found[-1]
        cursor = cursor_of(str(last.rank), last.id, last.topic)
    hits, gone = [], Counter[str]()
    for match in matches.found:
        try:
            hits.append(_hit(engine.entry(match), match, wanted))
        except WcError:
            # Replaced since it was found: no hit any more.
            gone[match.topic] += 1
    topics = Counter(matches.topics) - gone
    return Hits(
        tuple(hits),
        topics.total(),
        cursor,
        matches.unreadable,
        tuple(sorted(topics.items(), key=_most_hits)),
        matches.ready,
        matches.entries,
    )


def _hit(found: Numbered, match: Match, wanted: SearchQuery) -> Hit:
    text = found.entry.body or found.entry.title
    terms = (*wanted.terms, *wanted.about.terms)
    return Hit(match.topic, found, words.marked(text, terms, _AROUND))


def _most_hits(one: tuple[str, int]) -> tuple[int, str]:
    return -one[1], one[0]


def _position(cursor: str) -> Match | None:
    """The hit after which a walk goes on."""
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
    """Whether a thread can have all of the words, of ASCII letters and digits.

    A quick look at the log as one text, before its lines are parsed. It rules
    out none in which an escape may stand for a letter.
    """
    if log is None or b"\\u" in log:
        return True
    text = words.folded(f"{topic} {log.decode(errors='replace')}")
    return all(word in text for word in sure)


class Scan:
    """Looks through the logs of a store, one after the other."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._entries: dict[tuple[str, str], Numbered] = {}

    def matches(self, topics: Iterable[str], wanted: SearchQuery) -> Matches:
        """As `Engine.matches`."""
        found: list[Match] = []
        unreadable = []
        sure = [
            word
            for term in (*wanted.terms, *wanted.about.terms)
            for word in term.words
            if word.isascii()
        ]
        for topic in topics:
            try:
                if may_have(topic, self._reader.log_bytes(topic), sure):
                    found += self._in_thread(topic, wanted)
            except WcError:
                unreadable.append(topic)
        counts = Counter(one.topic for one in found)
        behind = wanted.behind
        left = [one for one in found if behind is None or one < behind]
        left.sort(reverse=True)
        shown = left[: wanted.limit or None]
        return Matches(shown, len(left), counts, tuple(unreadable))

    def _in_thread(self, topic: str, wanted: SearchQuery) -> Iterable[Match]:
        for one in numbered(self._reader.thread(topic)):
            rank = wanted.rank(one.entry)
            if rank is not None:
                self._entries[topic, one.entry.id] = one
                yield Match(rank, one.entry.id, topic)

    def entry(self, match: Match) -> Numbered:
        """The entry, as it was found."""
        return self._entries[match.topic, match.id]

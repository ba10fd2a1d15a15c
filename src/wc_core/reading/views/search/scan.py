"""Searches by reading the logs of a store one by one."""

from __future__ import annotations

import os

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.values import NamedTuple
from wc_core.lookup import words
from wc_core.lookup.ranking import SearchedText, rough_score
from wc_core.lookup.threadwords import ThreadWords, thread_words
from wc_core.reading.views.entries import numbered
from wc_core.reading.views.search.facets import indexed_values
from wc_core.reading.views.search.query import (
    EntryPlace,
    Found,
    Match,
    Matches,
    SearchQuery,
    TermCounts,
    joined_counts,
    merged,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.mentions import Mentions
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.query import LooseQuery

# The number and start of an entry that is in no cache.
NOT_CACHED = -2


def may_have(topic: str, log: bytes | None, sure: Iterable[str]) -> bool:
    """Returns whether a thread can contain all of the words (ASCII letters and digits).

    A quick test on the log as one text, before its lines are parsed. A log with escapes
    that may stand for letters always passes.
    """
    if log is None or b"\\u" in log:
        return True
    text = words.fold_text(f"{topic} {log.decode(errors='replace')}")
    return all(word in text for word in sure)


class _Sighting(NamedTuple):
    """An entry with some of the terms, and the place of each, see `rough_score`."""

    places: tuple[int, ...]
    id: str
    topic: str


class Scan:
    """Searches by reading the logs of a store one by one."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._entries: dict[tuple[str, str], Numbered] = {}
        self._words: dict[str, ThreadWords] = {}
        # Threads that could not be read.
        self._unreadable: list[str] = []
        # The last answer of `_sightings`, and what was asked.
        self._seen: tuple[object, list[_Sighting]] | None = None

    def found(self, topics: Iterable[str], query: SearchQuery) -> Found:
        """Returns the matches in these threads."""
        sure = [
            word
            for term in (*query.terms, *query.about.terms)
            for word in term.words
            if word.isascii()
        ]
        matches = []
        for topic, thread in self._threads(topics, query.about, sure):
            for entry in thread:
                rank = query.rank(entry.entry, self._words[topic])
                if rank is not None and query.is_old_enough(entry.entry.id):
                    self._entries[topic, entry.entry.id] = entry
                    matches.append(Match(rank, entry.entry.id, topic))
        best = sorted(filter(query.follows, matches), reverse=True)
        places = [
            EntryPlace(NOT_CACHED, match.id, match.topic, NOT_CACHED)
            for match in matches
        ]
        return Found(best, places, tuple(self._unreadable))

    def _threads(
        self, topics: Iterable[str], about: Mentions, sure: Sequence[str] = ()
    ) -> Iterator[tuple[str, list[Numbered]]]:
        """Yields the threads that may have an entry with everything, with their
        entries."""
        self._unreadable = []
        for topic in topics:
            try:
                log = self._reader.log_bytes(topic)
                if not about.may_be_in(log) or not self._may_have(topic, log, sure):
                    continue
                thread = self._reader.thread(topic)
            except NotFoundError:
                continue  # removed since it was listed
            except WcError:
                self._unreadable.append(topic)
                continue
            self._words[topic] = thread_words(thread.snapshot)
            yield topic, [item for item in numbered(thread) if not item.retracted]

    def _may_have(self, topic: str, log: bytes | None, sure: Sequence[str]) -> bool:
        if may_have(topic, log, sure):
            return True
        # An older tool's tags are in another file.
        return os.path.lexists(self._reader.layout.annotations(topic))

    def values(self, places: Iterable[EntryPlace]) -> Iterator[tuple[str, str]]:
        """Yields the values of entries that were read, each after the name of its
        facet."""
        for place in places:
            entry = self._entries[place.topic, place.id].entry
            yield from indexed_values(entry.agent, entry.any_kind, entry.code_branch)

    def thread_words(self, topic: str) -> ThreadWords:
        """Returns the words of a thread. Raises WcError if it no longer exists."""
        if topic not in self._words:
            self._words[topic] = thread_words(self._reader.snapshot(topic))
        return self._words[topic]

    def counts(self, topics: Collection[str], query: LooseQuery) -> TermCounts:
        """Returns how many entries of these threads have each of the terms."""
        sightings = self._sightings(topics, query)
        counts = (
            sum(sighting.places[number] > 0 for sighting in sightings)
            for number in range(len(query.terms))
        )
        return joined_counts([TermCounts(len(topics), tuple(counts))], query)

    def candidates(self, topics: Collection[str], query: LooseQuery) -> Matches:
        """Returns the best entries of these threads with any of the terms."""
        sightings = self._sightings(topics, query)
        best = [
            Match(score, sighting.id, sighting.topic)
            for sighting in sightings
            if (score := rough_score(query.weights, sighting.places))
            and query.is_old_enough(sighting.id)
        ]
        unreadable = tuple(self._unreadable)
        candidates = Matches(best, {}, unreadable=unreadable, total=len(best))
        return merged([candidates], query.limit)

    def _sightings(self, topics: Collection[str], query: LooseQuery) -> list[_Sighting]:
        """The entries with any of the terms and everything required."""
        key = [*topics], query._replace(limit=0, newest="", weights=())
        if self._seen is None or self._seen[0] != key:
            self._seen = key, [*self._look_for(topics, query)]
        return self._seen[1]

    def _look_for(
        self, topics: Iterable[str], query: LooseQuery
    ) -> Iterator[_Sighting]:
        condition = SearchQuery(query.required, query.about)
        for topic, thread in self._threads(topics, query.about):
            own_words = self._words[topic]
            for item in thread:
                if condition.rank(item.entry, own_words) is None:
                    continue
                places = SearchedText(item.entry, own_words).places(query.terms)
                if any(places):
                    self._entries[topic, item.entry.id] = item
                    yield _Sighting(places, item.entry.id, topic)

    def entry(self, topic: str, entry_id: str) -> Numbered:
        """Returns an entry, as it was read if it was found. Raises WcError if it does
        not exist."""
        if (topic, entry_id) in self._entries:
            return self._entries[topic, entry_id]
        for item in numbered(self._reader.thread(topic)):
            if item.entry.id == entry_id and not item.retracted:
                return item
        raise NotFoundError(f"{topic} no longer has the entry {entry_id}.")

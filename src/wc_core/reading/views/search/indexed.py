"""Searches in the cache, and reads the logs of threads that it lacks."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import read_from
from wc_core.ledger.index.cache import UnusableCacheError
from wc_core.ledger.index.freshness import CacheState, freshness
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.longlines import MAX_LINE_BYTES
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.ways import with_ways
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.entries import Numbered
from wc_core.reading.views.rows import ANYTHING, Filter
from wc_core.reading.views.search.facets import indexed_values
from wc_core.reading.views.search.hits import CachedEntries, CachedThreads, position
from wc_core.reading.views.search.query import (
    EntriesAfter,
    joined_counts,
    matches_of,
    merged,
)
from wc_core.reading.views.search.scan import NOT_CACHED, Scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import TypeVar

    from wc_core.lookup.threadwords import ThreadWords
    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.search.query import (
        EntryPlace,
        LooseQuery,
        Matches,
        MeaningSource,
        SearchQuery,
        TermCounts,
    )

    Answer = TypeVar("Answer")

# The number of bytes of a line to read first; few entries are longer.
_LINE = 4096


class IndexedSearch:
    """An engine of `wc_core.reading.views.search`, for one answer about the threads of
    an overview; it goes beyond words if it has ``meaning``."""

    def __init__(
        self, overview: Overview, meaning: MeaningSource | None = None
    ) -> None:
        self.overview = overview
        self.meaning = meaning
        self._reader = overview.reader
        self._scan = Scan(overview.reader)
        self._fresh: CacheState | None = None
        self._listed: dict[Filter, list[str]] = {}
        # The entries of the answers that are in the cache.
        self._places: dict[tuple[str, str], EntryPlace] = {}

    def matches(self, criteria: Filter, query: SearchQuery) -> Matches:
        """Like `Engine.matches`."""

        def answer(cached: CachedEntries | None, direct: Collection[str]) -> Matches:
            read = self._scan.found(direct, query)
            if cached is None:
                return matches_of([read], query, self._scan.values)

            def values(places: Sequence[EntryPlace]) -> Iterator[tuple[str, str]]:
                indexed = [place for place in places if place.start != NOT_CACHED]
                for fields in cached.values(indexed):
                    yield from indexed_values(*fields)
                unindexed = (place for place in places if place.start == NOT_CACHED)
                yield from self._scan.values(unindexed)

            own_query = query._replace(unranked=query.unranked - len(read.newest))
            return matches_of([cached.found(own_query), read], query, values)

        return self._answer(criteria, query.about, answer)

    def counts(self, criteria: Filter, query: LooseQuery) -> TermCounts:
        """Like `Engine.counts`."""

        def answer(cached: CachedEntries | None, direct: Collection[str]) -> TermCounts:
            parts = [] if cached is None else [cached.counts(query)]
            return joined_counts([*parts, self._scan.counts(direct, query)], query)

        return self._answer(criteria, query.about, answer)

    def candidates(self, criteria: Filter, query: LooseQuery) -> Matches:
        """Like `Engine.candidates`."""

        def answer(cached: CachedEntries | None, direct: Collection[str]) -> Matches:
            parts = [] if cached is None else [cached.candidates(query)]
            parts.append(self._scan.candidates(direct, query))
            return merged(parts, query.limit)

        return self._answer(criteria, query.about, answer)

    def written_after(
        self, topics: Sequence[str], floor: str, branch: str, limit: int
    ) -> EntriesAfter:
        """Returns the first entries of these threads that were written after ``floor``,
        an id; of a ``branch`` unless that is empty."""
        about = Mentions(branch=branch, since=floor)

        def answer(cached: CachedEntries | None, _: Collection[str]) -> EntriesAfter:
            if cached is None:
                return EntriesAfter((), 0, topics)
            # One extra: if its id equals the last one, their order is not known here.
            places, total = cached.oldest(limit + 1)
            if len(places) > limit and places[-1].id == places[-2].id:
                return EntriesAfter((), 0, topics)
            readable = cached.readable_topics()
            unindexed = [topic for topic in topics if topic not in readable]
            return EntriesAfter(places[:limit], total, unindexed)

        return self._answer(Filter(topics=frozenset(topics)), about, answer)

    def _answer(
        self,
        criteria: Filter,
        about: Mentions,
        answer: Callable[[CachedEntries | None, Collection[str]], Answer],
    ) -> Answer:
        """Returns an answer from the cache, if it can be used, and the threads whose
        logs have to be read."""
        if self._fresh is None:
            self._fresh = freshness(self._reader)
            self.overview.note_unindexed(self._fresh.unindexed)
        cache, direct = self._fresh.cache, self._fresh.direct
        if cache is not None:
            threads, direct = self._threads(criteria, self._fresh)
            try:
                cached = CachedEntries(cache, threads, about, self._fits)
                answered = answer(cached, direct)
            except UnusableCacheError:
                everything = self._reader.topics()
                self._fresh = CacheState(None, everything)
                self.overview.note_unindexed(len(everything))
            else:
                self._places |= cached.places
                return answered
        if criteria != ANYTHING:
            direct = self._topics(criteria)
        return answer(None, direct)

    def _threads(
        self, criteria: Filter, fresh: CacheState
    ) -> tuple[CachedThreads, Collection[str]]:
        """The threads in the cache that pass a filter, and those whose logs have to be
        read."""
        direct = fresh.direct
        if criteria != Filter(status=criteria.status):
            topics = self._topics(criteria)
            direct = {*topics}.intersection(direct)
            return CachedThreads(topics, fresh.outdated), direct
        if criteria.status and direct:
            own = criteria._replace(topics=frozenset(direct))
            direct = self.overview.topics(own)
        return CachedThreads(None, fresh.outdated, criteria.status), direct

    def _topics(self, criteria: Filter) -> Collection[str]:
        if criteria.topics is not None and criteria == Filter(topics=criteria.topics):
            return criteria.topics
        if criteria not in self._listed:
            self._listed[criteria] = self.overview.topics(criteria)
        return self._listed[criteria]

    def _fits(self, place: EntryPlace, about: Mentions) -> bool:
        """Whether an entry with the words of a mention mentions it."""
        try:
            return about.fit(self.read(place).entry)
        except WcError:
            return False  # removed since it was found

    def entry(self, topic: str, entry_id: str) -> Numbered:
        """Like `Engine.entry`."""
        place = self._places.get((topic, entry_id))
        return self._scan.entry(topic, entry_id) if place is None else self.read(place)

    def thread_words(self, topic: str) -> ThreadWords:
        """Like `Engine.thread_words`."""
        return self._scan.thread_words(topic)

    def read(self, place: EntryPlace) -> Numbered:
        """Returns an entry of the cache. Raises WcError if it no longer exists."""
        topic, entry_id = place.topic, place.id
        entry = self._entry_at(place)
        if entry is not None and entry.id == entry_id:
            position = self._position(place)
            if position >= 0:
                return Numbered(position, entry)
        return self._scan.entry(topic, entry_id)

    def _position(self, place: EntryPlace) -> int:
        """The position of an entry in its thread; -1 if the cache does not have it."""
        try:
            if self._fresh is not None and self._fresh.cache is not None:
                return position(self._fresh.cache, place)
        except UnusableCacheError:
            pass
        return -1

    def _entry_at(self, place: EntryPlace) -> Entry | None:
        """The entry whose line begins at a place of its log; None if it cannot be read
        from there."""
        if place.start < 0:
            return None
        layout, topic, length = self._reader.layout, place.topic, _LINE
        while True:
            try:
                data = read_from(layout.log(topic), layout.root, place.start, length)
            except OSError:
                return None
            line, end, _ = data.partition(b"\n")
            if end or len(data) < length:
                entry = codec.read_line(topic, line)
                if not isinstance(entry, Entry):
                    return None
                return with_ways([entry], layout)[0]
            if length > MAX_LINE_BYTES:
                return None
            length *= 8

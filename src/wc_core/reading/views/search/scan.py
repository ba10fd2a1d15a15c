"""Searches by reading the logs of a store one by one."""

from __future__ import annotations

import os

from wc_core.base.errors import NotFoundError, WcError
from wc_core.lookup.search import words
from wc_core.lookup.search.ranking import SearchedText
from wc_core.lookup.search.threadwords import ThreadWords, thread_words
from wc_core.reading.views.entries import numbered
from wc_core.reading.views.search.facets import MOST_COUNTED, counted, indexed_values
from wc_core.reading.views.search.loose import (
    Loose,
    LooseQuery,
    ReadCandidates,
    Sighting,
    best_matches,
    topic_counts,
)
from wc_core.reading.views.search.query import EntriesAfter, Match, Matches, SearchQuery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.index.entries import IndexedEntry
    from wc_core.reading.views.entries import Numbered


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
    """Searches by reading the logs of a store one by one."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._entries: dict[tuple[str, str], Numbered] = {}
        self._words: dict[str, ThreadWords] = {}

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
                if query.about.may_be_in(log) and self._may_have(topic, log, sure):
                    found_matches += self._in_thread(topic, query)
            except NotFoundError:
                continue  # removed since it was listed
            except WcError:
                unreadable.append(topic)
        counts = topic_counts(match.topic for match in found_matches)
        remaining = [match for match in found_matches if query.follows(match)]
        remaining.sort(reverse=True)
        visible = remaining[: query.limit or None]
        matches = Matches(visible, len(remaining), counts, tuple(unreadable))
        if not query.counted or len(found_matches) > MOST_COUNTED:
            return matches
        entries = (
            self._entries[match.topic, match.id].entry for match in found_matches
        )
        return matches._replace(
            counts=counted(
                value
                for entry in entries
                for value in indexed_values(
                    entry.agent, entry.any_kind, entry.code_branch
                )
            )
        )

    def _may_have(self, topic: str, log: bytes | None, sure: Sequence[str]) -> bool:
        if may_have(topic, log, sure):
            return True
        # An older tool's tags are in another file.
        return os.path.lexists(self._reader.layout.annotations(topic))

    def thread_words(self, topic: str) -> ThreadWords:
        """Like `Engine.thread_words`."""
        if topic not in self._words:
            self._words[topic] = thread_words(self._reader.snapshot(topic))
        return self._words[topic]

    def _in_thread(self, topic: str, query: SearchQuery) -> Iterable[Match]:
        thread = self._reader.thread(topic)
        own_words = self._words[topic] = thread_words(thread.snapshot)
        for entry in numbered(thread):
            rank = None if entry.retracted else query.rank(entry.entry, own_words)
            if rank is not None:
                self._entries[topic, entry.entry.id] = entry
                yield Match(rank, entry.entry.id, topic)

    def loose_matches(self, topics: Sequence[str], query: LooseQuery) -> Loose:
        """Like `Engine.loose_matches`."""
        read = self.candidates(topics, query)
        return best_matches(query, len(topics), [read], read.unreadable)

    def candidates(self, topics: Iterable[str], query: LooseQuery) -> ReadCandidates:
        """Returns the entries of these threads with any of the terms."""
        sightings: list[Sighting] = []
        unreadable = []
        for topic in topics:
            try:
                if query.about.may_be_in(self._reader.log_bytes(topic)):
                    sightings += self._sightings_in(topic, query)
            except NotFoundError:
                continue  # removed since it was listed
            except WcError:
                unreadable.append(topic)
        return ReadCandidates(query, sightings, unreadable)

    def _sightings_in(self, topic: str, query: LooseQuery) -> Iterable[Sighting]:
        thread = self._reader.thread(topic)
        own_words = self._words[topic] = thread_words(thread.snapshot)
        condition = SearchQuery(query.required, query.about)
        for item in numbered(thread):
            entry = item.entry
            if item.retracted or condition.rank(entry, own_words) is None:
                continue
            places = SearchedText(entry, own_words).places(query.terms)
            if any(places):
                self._entries[topic, entry.id] = item
                yield Sighting(places, entry.id, topic)

    def written_after(
        self, topics: Sequence[str], floor: str, branch: str, limit: int
    ) -> EntriesAfter:
        """Like `Engine.written_after`: nothing is known without reading the logs."""
        del floor, branch, limit
        return EntriesAfter((), 0, topics)

    def read(self, topic: str, indexed: IndexedEntry) -> Numbered:
        """Like `Engine.read`."""
        raise NotFoundError(f"{topic} no longer has the entry {indexed.id}.")

    def entry(self, topic: str, entry_id: str) -> Numbered:
        """Like `Engine.entry`: the entry as it was read."""
        return self._entries[topic, entry_id]

"""Entries with any of the words, best first: the part that is the same with and without
the index.

`wc_core.lookup.search.ranking` defines the order.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.lookup.search.mentions import Mentions
from wc_core.lookup.search.ranking import (
    Candidate,
    chosen_terms,
    rough_score,
    term_weights,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from wc_core.lookup.search.words import Term

    class CandidateSource(Protocol):
        """The entries of some threads: those in the index, or in logs."""

        def counts(self) -> Sequence[int]:
            """Returns how many entries have each term."""

        def best(self, weights: Sequence[int]) -> tuple[list[Candidate], int]:
            """Returns the best of the entries by their rough score, given the weight of
            each term, and how many have a score."""


class LooseQuery(NamedTuple):
    """What entries must have: any of the ``terms``, each ``required`` term, and each of
    the mentions.

    The best ``limit`` of them are returned (0: all). The next page of a result has the
    ``weights`` of its first page, with the terms that were ``chosen`` there, and
    ignores entries that are newer than ``newest``.
    """

    terms: tuple[Term, ...]
    about: Mentions = Mentions()
    limit: int = 0
    newest: str = ""
    weights: tuple[int, ...] = ()
    required: tuple[Term, ...] = ()
    chosen: tuple[bool, ...] = ()

    def has(self, entry_id: str) -> bool:
        """Returns whether an entry is old enough to be in the result."""
        return not self.newest or entry_id <= self.newest


class Loose(NamedTuple):
    """The best candidates in order, of ``total``. With the ``weights`` of the terms,
    and those ``chosen`` (see `chosen_terms`), their order can be reproduced.
    ``counts`` has the number of entries with each term, unless the query has the
    weights. ``unreadable`` are threads that could not be searched."""

    best: list[Candidate]
    total: int
    weights: tuple[int, ...]
    unreadable: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    chosen: tuple[bool, ...] = ()


class Sighting(NamedTuple):
    """An entry with some of the terms, and the place of each, see `rough_score`."""

    places: tuple[int, ...]
    id: str
    topic: str


class ReadCandidates:
    """A `CandidateSource`: the entries found in logs. ``unreadable`` are the threads
    that could not be read."""

    def __init__(
        self, query: LooseQuery, entries: Sequence[Sighting], unreadable: Sequence[str]
    ) -> None:
        self.unreadable = tuple(unreadable)
        self._query = query
        self._entries = entries

    def counts(self) -> list[int]:
        """Like `CandidateSource.counts`."""
        return [
            sum(sighting.places[number] > 0 for sighting in self._entries)
            for number in range(len(self._query.terms))
        ]

    def best(self, weights: Sequence[int]) -> tuple[list[Candidate], int]:
        """Like `CandidateSource.best`."""
        candidates = [
            Candidate(score, sighting.id, sighting.topic)
            for sighting in self._entries
            if (score := rough_score(weights, sighting.places))
        ]
        best = [item for item in candidates if self._query.has(item.id)]
        return best, len(candidates)


def best_matches(
    query: LooseQuery,
    threads: int,
    sources: Sequence[CandidateSource],
    unreadable: tuple[str, ...] = (),
) -> Loose:
    """Returns the best of the entries in the sources, which have this many
    ``threads``."""
    counts: tuple[int, ...] = ()
    weights, chosen = query.weights, query.chosen
    if not weights or not chosen:
        counts = tuple(
            sum(numbers)
            for numbers in zip(*(source.counts() for source in sources), strict=True)
        )
        weights = weights or term_weights(counts, threads)
        chosen = chosen_terms(counts)
    choosing = tuple(map(int.__mul__, weights, map(int, chosen)))
    best: list[Candidate] = []
    total = 0
    for source in sources:
        candidates, count = source.best(choosing)
        best += candidates
        total += count
    best.sort(reverse=True)
    del best[query.limit or len(best) :]
    return Loose(best, total, weights, unreadable, counts, chosen)


def topic_counts(topics: Iterable[str]) -> dict[str, int]:
    """Returns how often each topic occurs. Avoids `collections.Counter`, whose import
    takes 2 ms."""
    counts: dict[str, int] = {}
    for topic in topics:
        counts[topic] = counts.get(topic, 0) + 1
    return counts

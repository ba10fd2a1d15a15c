"""Entries with any of the words, best first: the part that is the same with and without
the index.

`wc_core.search.ranking` defines the order.
"""

from __future__ import annotations

from wc_core.search.mentions import Mentions
from wc_core.search.ranking import (
    Candidate,
    chosen_terms,
    rough_score,
    term_weights,
)
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from wc_core.search.words import Term

    class IndexedPart(Protocol):
        """The index's data on the entries in question."""

        def counts(self) -> Sequence[int]:
            """Returns how many entries have each term."""

        def scores(self, weights: Sequence[int]) -> dict[int, int]:
            """Returns the rough score of each entry, by its number."""

        def best(self, scores: dict[int, int], query: LooseQuery) -> list[Candidate]:
            """Returns the best of the entries with these scores."""


class LooseQuery(NamedTuple):
    """What entries must have: any of the ``terms``, each ``required`` term, and each of
    the mentions.

    The best ``limit`` of them are returned (0: all). The next page of a result has the
    ``weights`` of its first page and ignores entries that are newer than ``newest``.
    """

    terms: tuple[Term, ...]
    about: Mentions = Mentions()
    limit: int = 0
    newest: str = ""
    weights: tuple[int, ...] = ()
    required: tuple[Term, ...] = ()

    def has(self, entry_id: str) -> bool:
        """Returns whether an entry is old enough to be in the result."""
        return not self.newest or entry_id <= self.newest


class Loose(NamedTuple):
    """The best candidates in order, of ``total``. With the ``weights`` of the terms,
    their order can be reproduced; ``counts`` has the number of entries with each term.
    ``unreadable`` are threads that could not be searched."""

    best: list[Candidate]
    total: int
    weights: tuple[int, ...]
    unreadable: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()


class Sighting(NamedTuple):
    """An entry with some of the terms, and the place of each, see `rough_score`."""

    places: tuple[int, ...]
    id: str
    topic: str


class Sightings(NamedTuple):
    """What was found in logs, and the threads that could not be read."""

    entries: list[Sighting]
    unreadable: tuple[str, ...] = ()


def best_matches(
    query: LooseQuery,
    threads: int,
    scanned: Sightings,
    indexed: IndexedPart | None = None,
) -> Loose:
    """Returns the best of the entries found in this many ``threads``, in logs and in
    the index."""
    sightings = scanned.entries
    counts = [
        sum(sighting.places[number] > 0 for sighting in sightings)
        for number in range(len(query.terms))
    ]
    if indexed is not None:
        counts = list(map(int.__add__, counts, indexed.counts()))
    weights = query.weights or term_weights(counts, threads)
    choosing = tuple(map(int.__mul__, weights, map(int, chosen_terms(counts))))
    candidates = [
        Candidate(score, sighting.id, sighting.topic)
        for sighting in sightings
        if (score := rough_score(choosing, sighting.places))
    ]
    total = len(candidates)
    if indexed is not None:
        scores = indexed.scores(choosing)
        candidates += indexed.best(scores, query)
        total += len(scores)
    best = [candidate for candidate in candidates if query.has(candidate.id)]
    best.sort(reverse=True)
    del best[query.limit or len(best) :]
    return Loose(best, total, weights, scanned.unreadable, tuple(counts))


def topic_counts(topics: Iterable[str]) -> dict[str, int]:
    """Returns how often each topic occurs. Avoids `collections.Counter`, whose import
    takes 2 ms."""
    counts: dict[str, int] = {}
    for topic in topics:
        counts[topic] = counts.get(topic, 0) + 1
    return counts

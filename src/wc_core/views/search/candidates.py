"""Entries with any of the words, from the index."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from wc_core.index import entries as entryfile
from wc_core.index.entries import ENTRIES, EntryFile, Facets, IndexedEntry
from wc_core.search.mentions import Mentions, at_least
from wc_core.search.ranking import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wc_core.views.search.loose import LooseQuery

    Fits = Callable[[str, IndexedEntry, Mentions], bool]


def facets_of(about: Mentions) -> Facets:
    """Returns what the index knows about a mention apart from words."""
    severities = at_least(about.severity) if about.severity else ()
    return Facets(about.branch, about.kind, severities, about.since, about.until)


class IndexedCandidates:
    """An `IndexedPart` of a result: the entries of the threads with these numbers.
    ``fits`` checks whether an entry with the words really mentions a thing. Every
    method may raise UnusableIndexError."""

    def __init__(
        self,
        file: EntryFile,
        names: Mapping[int, str],
        query: LooseQuery,
        fits: Fits,
    ) -> None:
        self._file = file
        self._names = names
        self._query = query
        self._fits = fits
        # The entries that `best` returned, by topic and id.
        self.chosen: dict[tuple[str, str], IndexedEntry] = {}

    def counts(self) -> list[int]:
        """Returns how many entries have each term."""
        if self._about != Mentions():
            return [len(numbers & self._fitting) for numbers in map(set, self._lists())]
        return [
            sum(count for number, count in self._counted(term) if number in self._names)
            for term in range(len(self._query.terms))
        ]

    @property
    def _about(self) -> Mentions:
        return self._query.about

    def _counted(self, term: int) -> list[tuple[int, int]]:
        return self._file.counts(self._expression(term))

    def _expression(self, term: int) -> str:
        terms = (self._query.terms[term], *self._query.required)
        return entryfile.words_expression(terms, self._about.terms)

    def _lists(self) -> list[list[int]]:
        return [self._numbers(term) for term in range(len(self._query.terms))]

    def _numbers(self, term: int) -> list[int]:
        return self._of_threads(self._file.numbers(self._expression(term)))

    def _of_threads(self, numbers: Sequence[int]) -> list[int]:
        return [number for number in numbers if number // ENTRIES in self._names]

    @cached_property
    def _fitting(self) -> set[int]:
        """The entries that mention everything required."""
        about = self._about
        entries = self._file.entries(
            entryfile.words_expression((), about.terms),
            facets_of(about),
        )
        return {
            entry.number
            for entry in entries
            if entry.thread in self._names
            and (
                not about.needs_text
                or self._fits(self._names[entry.thread], entry, about)
            )
        }

    def scores(self, weights: Sequence[int]) -> dict[int, int]:
        """Returns the rough score of each entry, by its number, given the weights of
        the terms; 0: no match."""
        scores: defaultdict[int, int] = defaultdict(int)
        for term, weight in enumerate(weights):
            if weight:
                for number in self._numbers(term):
                    scores[number] += weight
                for number in self._prominent(term):
                    scores[number] += weight
        if self._about == Mentions():
            return scores
        return {
            number: score for number, score in scores.items() if number in self._fitting
        }

    def _prominent(self, term: int) -> list[int]:
        expression = entryfile.prominent_expression(
            self._query.terms[term], self._query.required, self._about.terms
        )
        return self._of_threads(self._file.numbers(expression)) if expression else []

    def topics(self, numbers: Iterable[int]) -> Iterable[str]:
        """Returns the thread of each of the entries."""
        return (self._names[number // ENTRIES] for number in numbers)

    def best(self, scores: dict[int, int], query: LooseQuery) -> list[Candidate]:
        """Returns the best of the entries with these scores; of equal ones, newest
        first."""
        by_score: defaultdict[int, list[int]] = defaultdict(list)
        for number, score in scores.items():
            by_score[score].append(number)
        best: list[Candidate] = []
        for score in sorted(by_score, reverse=True):
            entries = self._file.numbered(by_score[score])
            entry_of = {
                Candidate(score, entry.id, self._names[entry.thread]): entry
                for entry in entries
                if query.has(entry.id)
            }
            room = query.limit - len(best) if query.limit else None
            first = sorted(entry_of, reverse=True)[:room]
            best += first
            self.chosen |= {(item.topic, item.id): entry_of[item] for item in first}
            if query.limit and len(best) >= query.limit:
                break
        return best

"""Entries with any of the words, from the index."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property

from wc_core.lookup.index.entries import ENTRIES, EntryFile, Facets, IndexedEntry
from wc_core.lookup.search.mentions import Mentions, at_least
from wc_core.lookup.search.ranking import COMMON, Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wc_core.reading.views.search.loose import LooseQuery

    Fits = Callable[[str, IndexedEntry, Mentions], bool]

# Up to this many threads are cut out of a list of entries one by one.
_FEW_OTHERS = 100


def facets_of(about: Mentions) -> Facets:
    """Returns what the index knows about a mention apart from words."""
    severities = at_least(about.severity) if about.severity else ()
    return Facets(about.branch, about.kind, severities, about.since, about.until)


class IndexedCandidates:
    """A `CandidateSource`: the indexed entries of the threads with these numbers.
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
        # The entries with a term, by its place in the query.
        self._lists: dict[int, list[int]] = {}
        # The entries that `best` returned, by topic and id.
        self.chosen: dict[tuple[str, str], IndexedEntry] = {}

    def counts(self) -> list[int]:
        """Returns how many entries have each term."""
        terms = range(len(self._query.terms))
        if self._about != Mentions():
            return [len(self._fitting.intersection(self._numbers(i))) for i in terms]
        return [self._count(term) for term in terms]

    @property
    def _about(self) -> Mentions:
        return self._query.about

    def _count(self, term: int) -> int:
        """How many entries have a term. Of one that is not too common, the entries are
        needed soon."""
        expression = self._expression(term)
        numbers = self._file.numbers(expression, COMMON + 1)
        if len(numbers) <= COMMON:
            self._lists[term] = self._of_threads(numbers)
            return len(self._lists[term])
        if not self._others:
            return self._file.count(expression)
        return sum(
            count
            for number, count in self._file.counts(expression)
            if number in self._names
        )

    def _expression(self, term: int) -> str:
        terms = (self._query.terms[term], *self._query.required)
        return self._file.expressions.words(terms, self._about.terms)

    def _numbers(self, term: int) -> list[int]:
        if term not in self._lists:
            numbers = self._file.numbers(self._expression(term))
            self._lists[term] = self._of_threads(numbers)
        return self._lists[term]

    @cached_property
    def _others(self) -> set[int]:
        """The threads in the file that are not searched."""
        numbers = {thread.number for thread in self._file.threads().values()}
        return numbers.union(self._file.dropped()).difference(self._names)

    def _of_threads(self, numbers: list[int]) -> list[int]:
        """Those of the entries, in ascending order, whose threads are searched."""
        if len(self._others) > _FEW_OTHERS:
            return [number for number in numbers if number // ENTRIES in self._names]
        for thread in self._others:
            first = bisect_left(numbers, thread * ENTRIES)
            end = bisect_left(numbers, (thread + 1) * ENTRIES, first)
            del numbers[first:end]
        return numbers

    @cached_property
    def _fitting(self) -> set[int]:
        """The entries that mention everything required."""
        about = self._about
        entries = self._file.entries(
            self._file.expressions.words((), about.terms),
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

    def _scores(self, weights: Sequence[int]) -> dict[int, int]:
        """The rough score of each entry, by its number, given the weights of the
        terms."""
        scores: defaultdict[int, int] = defaultdict(int)
        for term, weight in enumerate(weights):
            if not weight:
                continue
            for numbers in (self._numbers(term), self._prominent(term)):
                if not scores:
                    scores.update(dict.fromkeys(numbers, weight))
                    continue
                for number in numbers:
                    scores[number] += weight
        if self._about == Mentions():
            return scores
        return {
            number: score for number, score in scores.items() if number in self._fitting
        }

    def _prominent(self, term: int) -> list[int]:
        expression = self._file.expressions.prominent(
            self._query.terms[term], self._query.required, self._about.terms
        )
        return self._of_threads(self._file.numbers(expression)) if expression else []

    def best(self, weights: Sequence[int]) -> tuple[list[Candidate], int]:
        """Returns the best of the entries by their rough score, and how many have a
        score; of equal ones, newest first."""
        query, scores = self._query, self._scores(weights)
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
        return best, len(scores)

"""Searches in the index, and reads the logs of threads that it lacks."""

from __future__ import annotations

from itertools import groupby

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.files import read_from
from wc_core.base.lean.functools import partial
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.longlines import MAX_LINE_BYTES
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.ways import with_ways
from wc_core.lookup.index import entries as entryfile
from wc_core.lookup.index.entries import (
    EntryFile,
    EntryFiles,
    IndexedEntry,
    UnusableIndexError,
)
from wc_core.reading.views.entries import Numbered, numbered
from wc_core.reading.views.search.candidates import IndexedCandidates, facets_of
from wc_core.reading.views.search.facets import (
    MOST_COUNTED,
    counted,
    indexed_values,
)
from wc_core.reading.views.search.loose import (
    Loose,
    LooseQuery,
    best_matches,
    topic_counts,
)
from wc_core.reading.views.search.query import (
    ALL_IN_TITLE,
    ELSEWHERE,
    SOME_IN_TITLE,
    EntriesAfter,
    Match,
    Matches,
    SearchQuery,
    merged,
)
from wc_core.reading.views.search.scan import Scan

# With `EntryFiles`: modules that searches import together, and late.
__all__ = ["EntryFiles", "IndexedSearch"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.search.mentions import Mentions
    from wc_core.lookup.search.threadwords import ThreadWords
    from wc_core.reading.views.search.facets import Counts

    _Answer = TypeVar("_Answer")

# Up to this many matches are all examined; of more, only the newest.
_FEW = 5_000
# The most that are examined for the best matches before a query for all of them.
_FEW_THREADS = 30
# With more threads than this, none are excluded in a query.
_MOST_OTHERS = 200
# How often to query an index that is being written.
_ATTEMPTS = 3
# The number of bytes of a line to read first; few entries are longer.
_LINE = 4096


class IndexedSearch:
    """An engine of `wc_core.reading.views.search`. ``keys`` returns each thread's
    current key, or the part about its words. ``note_unindexed`` gets the number of
    threads that had to be read because the index lacks them."""

    def __init__(
        self,
        reader: StoreReader,
        files: EntryFiles,
        keys: Callable[[Sequence[str]], Mapping[str, str]],
        note_unindexed: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._reader = reader
        self._scan = Scan(reader)
        self._files = files
        self._keys = keys
        self._file: EntryFile | None = None
        self._indexed: dict[tuple[str, str], IndexedEntry] = {}
        self._note_unindexed = note_unindexed
        # The threads whose files differed from the index.
        self._changed: set[str] = set()

    def matches(self, topics: Sequence[str], query: SearchQuery) -> Matches:
        """Like `Engine.matches`."""

        def find(file: EntryFile, names: Mapping[int, str]) -> Matches:
            finder = _Finder(file, names, query)
            matches = finder.matches(self._fits)
            chosen = finder.chosen
            self._indexed |= {(names[item.thread], item.id): item for item in chosen}
            return matches

        indexed, unindexed = self._consistent(topics, find)
        parts = [] if indexed is None else [indexed]
        return merged([*parts, self._scan.matches(unindexed, query)], query.limit)

    def loose_matches(self, topics: Sequence[str], query: LooseQuery) -> Loose:
        """Like `Engine.loose_matches`."""

        def find(file: EntryFile, names: Mapping[int, str]) -> Loose:
            indexed = IndexedCandidates(file, names, query, self._fits)
            read = self._scan.candidates(_topics_outside(topics, names), query)
            loose = best_matches(query, len(topics), [read, indexed], read.unreadable)
            self._indexed |= indexed.chosen
            return loose

        loose, _ = self._consistent(topics, find)
        return self._scan.loose_matches(topics, query) if loose is None else loose

    def written_after(
        self, topics: Sequence[str], floor: str, branch: str, limit: int
    ) -> EntriesAfter:
        """Returns the first entries of these threads that were written after ``floor``,
        an id; of a ``branch`` unless that is empty."""

        def find(file: EntryFile, names: Mapping[int, str]) -> EntriesAfter:
            return _written(file, topics, names, (floor, branch, limit))

        entries_after, _ = self._consistent(topics, find)
        return entries_after or EntriesAfter([], 0, topics)

    def read(self, topic: str, indexed: IndexedEntry) -> Numbered:
        """Returns an entry of `written_after`. Raises WcError if it no longer
        exists."""
        return self._read(topic, indexed)

    def _consistent(
        self,
        topics: Sequence[str],
        find: Callable[[EntryFile, Mapping[int, str]], _Answer],
    ) -> tuple[_Answer | None, Sequence[str]]:
        """Returns what ``find`` answers from one version of the file, and the threads
        that it lacks. ``find`` gets the topic of each thread that the file has in its
        current state, by its number. ``None`` if the file cannot be used."""
        current = self._keys(topics)
        try:
            file = self._files.current()
            for _ in range(_ATTEMPTS):
                version, changed = file.version(), len(self._changed)
                names = self._threads(file, topics, current)
                answer = find(file, names)
                if file.version() == version and len(self._changed) == changed:
                    self._file = file
                    unindexed = _topics_outside(topics, names)
                    self._note(unindexed, current)
                    return answer, unindexed
        except UnusableIndexError:
            pass
        self._note(topics, current)
        return None, topics

    def _note(self, unindexed: Sequence[str], current: Mapping[str, str]) -> None:
        self._note_unindexed(sum(bool(current.get(topic)) for topic in unindexed))

    def _threads(
        self, file: EntryFile, topics: Sequence[str], current: Mapping[str, str]
    ) -> Mapping[int, str]:
        names = file.current_threads(topics, current).topics
        if not self._changed:
            return names
        return {
            number: topic
            for number, topic in names.items()
            if topic not in self._changed
        }

    def _fits(self, topic: str, entry: IndexedEntry, about: Mentions) -> bool:
        """Whether an entry with the words really mentions the thing."""
        entry_read = self._entry_at(topic, entry.start)
        if entry_read is None or entry_read.id != entry.id:
            try:
                entry_read = self._find(topic, entry.id).entry
            except WcError:
                self._changed.add(topic)
                return False
        return about.fit(entry_read)

    def entry(self, topic: str, entry_id: str) -> Numbered:
        """Like `Engine.entry`."""
        indexed = self._indexed.get((topic, entry_id))
        if indexed is None:
            return self._scan.entry(topic, entry_id)
        return self._read(topic, indexed)

    def thread_words(self, topic: str) -> ThreadWords:
        """Like `Engine.thread_words`."""
        return self._scan.thread_words(topic)

    def _read(self, topic: str, indexed: IndexedEntry) -> Numbered:
        """The entry. Raises NotFoundError if it no longer exists."""
        entry = self._entry_at(topic, indexed.start)
        position = self._position(indexed)
        if entry is not None and entry.id == indexed.id and position >= 0:
            return Numbered(position, entry)
        return self._find(topic, indexed.id)

    def _position(self, indexed: IndexedEntry) -> int:
        """The position of an entry in its thread; -1 if the index does not have it."""
        if self._file is None:
            return -1
        try:
            return self._file.position(indexed)
        except UnusableIndexError:
            return -1

    def _find(self, topic: str, entry_id: str) -> Numbered:
        """The entry, from the whole thread. Raises NotFoundError if it no longer
        exists."""
        for item in numbered(self._reader.thread(topic)):
            if item.entry.id == entry_id and not item.retracted:
                return item
        raise NotFoundError(f"{topic} no longer has the entry {entry_id}.")

    def _entry_at(self, topic: str, start: int) -> Entry | None:
        """The entry at an offset of a log, or None if it cannot be read from there."""
        if start == entryfile.NOWHERE:
            return None
        layout, length = self._reader.layout, _LINE
        while True:
            try:
                data = read_from(layout.log(topic), layout.root, start, length)
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


def _topics_outside(topics: Sequence[str], names: Mapping[int, str]) -> list[str]:
    """Returns the topics that are not among the ``names``."""
    if len(names) == len(topics):
        return []
    known = {*names.values()}
    return [topic for topic in topics if topic not in known]


def _written(
    file: EntryFile,
    topics: Sequence[str],
    indexed: Mapping[int, str],
    question: tuple[str, str, int],
) -> EntriesAfter:
    """The result of `IndexedSearch.written_after` from one version of the file."""
    threads = file.threads()
    names = {
        number: topic
        for number, topic in indexed.items()
        if threads[topic].size != entryfile.NOWHERE
    }
    floor, branch, limit = question
    without = [
        thread.number
        for thread in threads.values()
        if thread.number not in names and thread.last_id > floor
    ]
    if len(without) > _MOST_OTHERS:
        return EntriesAfter([], 0, topics)
    # One extra: if its id equals the last one, their order is not known here.
    first_entries, total = file.written_after(floor, branch, without, limit + 1)
    if len(first_entries) > limit and first_entries[-1].id == first_entries[-2].id:
        return EntriesAfter([], 0, topics)
    entries = [(names[entry.thread], entry) for entry in first_entries[:limit]]
    return EntriesAfter(entries, total, _topics_outside(topics, names))


class _Finder:
    """Finds the matches of one query in the index, in the threads with these
    numbers."""

    def __init__(
        self,
        file: EntryFile,
        names: Mapping[int, str],
        query: SearchQuery,
    ) -> None:
        self._file = file
        self._names = names
        self._query = query
        about = query.about
        self._words = file.expressions.words(query.terms, about.terms)
        self._facets = facets_of(about)
        fields = {term.field for term in query.terms}
        self._is_for_titles = fields <= {"", "title"} and not about.terms
        # The entries of the returned matches.
        self.chosen: list[IndexedEntry] = []

    def matches(self, fits: Callable[[str, IndexedEntry, Mentions], bool]) -> Matches:
        """Returns the matches. ``fits`` checks whether an entry mentions a thing."""
        query, names = self._query, self._names
        has_facets = self._facets != entryfile.NO_FACETS
        if self._words and not (has_facets or query.about.terms) and query.limit:
            counts = {
                number: count
                for number, count in self._file.counts(self._words)
                if number in names
            }
            if sum(counts.values()) > _FEW:
                matches = self._newest(counts)
                if not query.counted or sum(counts.values()) > MOST_COUNTED:
                    return matches
                numbers = [
                    number
                    for number in self._file.numbers(self._words)
                    if number // entryfile.ENTRIES in names
                ]
                return matches._replace(counts=self._counts(numbers))
        entries = [
            entry
            for entry in self._file.entries(self._words, self._facets)
            if entry.thread in names
        ]
        if query.about.needs_text:
            entries = [
                entry
                for entry in entries
                if fits(names[entry.thread], entry, query.about)
            ]
        matches = self._ranked(entries)
        if query.counted and len(entries) <= MOST_COUNTED:
            numbers = [entry.number for entry in entries]
            matches = matches._replace(counts=self._counts(numbers))
        return matches

    def _counts(self, numbers: Sequence[int]) -> Counts:
        """The values of these entries."""
        return counted(
            value
            for fields in self._file.values(numbers)
            for value in indexed_values(*fields)
        )

    def _ranked(self, entries: list[IndexedEntry]) -> Matches:
        """The matches among all entries that have what the query requires."""
        query, ranks = self._query, self._ranks()
        by_match = {
            Match(ranks.get(entry.number, ELSEWHERE), entry.id, self._topic(entry)): (
                entry
            )
            for entry in entries
        }
        remaining = [match for match in by_match if query.follows(match)]
        remaining.sort(reverse=True)
        best = remaining[: query.limit or None]
        self.chosen = [by_match[match] for match in best]
        return Matches(best, len(remaining), topic_counts(map(self._topic, entries)))

    def _topic(self, entry: IndexedEntry) -> str:
        return self._names[entry.thread]

    def _ranks(self) -> dict[int, int]:
        """The rank of each entry with a term in its title."""
        ranks: dict[int, int] = {}
        if self._query.terms and self._query.by_title:
            for rank in (SOME_IN_TITLE, ALL_IN_TITLE):
                entries = self._file.entries(self._expression(rank, exactly=False))
                ranks |= dict.fromkeys((entry.number for entry in entries), rank)
        return ranks

    def _expression(self, rank: int, *, exactly: bool = True) -> str:
        """The expression for the entries of a rank; with those of higher ranks unless
        ``exactly``."""
        terms = self._query.terms
        title = self._file.expressions.title
        in_title = {
            ALL_IN_TITLE: title(terms, all_terms=True),
            SOME_IN_TITLE: title(terms, all_terms=False),
        }
        expression = self._words
        if not self._query.by_title:
            return expression
        if rank == ALL_IN_TITLE and self._is_for_titles:
            return in_title[rank]  # terms in the title imply that the entry has them
        if rank in in_title:
            expression = f"({expression}) AND ({in_title[rank]})"
        if exactly and rank + 1 in in_title:
            expression = f"({expression}) NOT ({in_title[rank + 1]})"
        return expression

    def _newest(self, counts: Mapping[int, int]) -> Matches:
        """The best of many matches: thread by thread, those with the newest entries
        first, until no other thread can have a better one."""
        query = self._query
        threads = self._file.threads()
        last_ids = {number: threads[self._names[number]].last_id for number in counts}
        numbers = sorted(last_ids, key=last_ids.__getitem__, reverse=True)
        best: list[tuple[Match, IndexedEntry]] = []
        for rank in self._ranks_to_search():
            if len(best) > query.limit:
                break
            if query.behind is None or rank <= query.behind.rank:
                most = query.limit + 1 - len(best)
                best += self._newest_of_rank(rank, numbers, last_ids, most)
        self.chosen = [entry for _, entry in best[: query.limit]]
        topics = {self._names[number]: count for number, count in counts.items()}
        return Matches([match for match, _ in best[: query.limit]], len(best), topics)

    def _ranks_to_search(self) -> tuple[int, ...]:
        """The ranks that matches can have, best first."""
        if not self._query.by_title:
            return (ELSEWHERE,)
        if len(self._query.terms) == 1:
            return (ALL_IN_TITLE, ELSEWHERE)
        return (ALL_IN_TITLE, SOME_IN_TITLE, ELSEWHERE)

    def _newest_of_rank(
        self,
        rank: int,
        numbers: Sequence[int],
        last_ids: Mapping[int, str],
        count: int,
    ) -> list[tuple[Match, IndexedEntry]]:
        """The first matches of a rank, only in threads with these numbers; those with
        the greatest last ids come first."""
        expression = self._expression(rank)
        best: list[tuple[Match, IndexedEntry]] = []
        for number, entries in self._by_thread(expression, numbers):
            if len(best) >= count and best[-1][0].id > last_ids[number]:
                break
            for entry in entries():
                match = Match(rank, entry.id, self._topic(entry))
                if self._query.follows(match):
                    best.append((match, entry))
            best.sort(reverse=True)
            del best[count:]
        return best

    def _by_thread(
        self, expression: str, numbers: Sequence[int]
    ) -> Iterator[tuple[int, Callable[[], list[IndexedEntry]]]]:
        """Yields those of the threads with these numbers that may have what the
        expression finds, each with a function that returns its entries that have it."""
        file = self._file
        for number in numbers[:_FEW_THREADS]:
            yield number, partial(file.in_thread, expression, number)
        further_threads = numbers[_FEW_THREADS:]
        if not further_threads:
            return
        # Examining a few is faster than a query for all that have it.
        entry_numbers = file.numbers(expression, _FEW)
        if len(entry_numbers) >= _FEW:
            having = {number for number, _ in file.counts(expression)}
            for number in filter(having.__contains__, further_threads):
                yield number, partial(file.in_thread, expression, number)
            return
        groups = groupby(entry_numbers, key=lambda number: number // entryfile.ENTRIES)
        by_thread = {number: [*group] for number, group in groups}
        for number in filter(by_thread.__contains__, further_threads):
            yield number, partial(file.numbered, by_thread[number])

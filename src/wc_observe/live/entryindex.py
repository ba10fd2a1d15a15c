"""The full-text index of a store's entries, so that a search reads no log.

It is built in the background at the first search, the most recent threads first, and
follows changes from then on. Until it is complete, every answer says how far it is.
"""

from __future__ import annotations

import threading
from array import array
from collections import Counter
from heapq import nlargest
from typing import TYPE_CHECKING
from zlib import crc32

from wc_core import ulid
from wc_core.errors import NotFoundError, WcError
from wc_core.files import read_from
from wc_core.search.mentions import at_least, recorded
from wc_core.threads import codec
from wc_core.threads.model import Entry
from wc_core.values import NamedTuple
from wc_core.views.entries import Numbered, numbered
from wc_core.views.search import (
    ALL_IN_TITLE,
    ELSEWHERE,
    SOME_IN_TITLE,
    Match,
    Matches,
    SearchQuery,
)
from wc_observe.live.filestamps import Stamp, stamp_of
from wc_observe.live.fulltext import FullText

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.search.mentions import Mentions
    from wc_observe.live.reader import LiveReader

# Up to this many changed threads are read by the caller; more are read in the
# background.
_AT_ONCE = 50
# Entries indexed in one transaction, during which the lock is held.
_BATCH = 500
# Rows of replaced logs that are tolerated before the index is rebuilt.
_MOST_DEAD = 10_000
# The offset of an entry that cannot be read from its log alone.
_NOWHERE = -1
_LINE = 8192


class IndexedThread(NamedTuple):
    """How far a thread has been indexed.

    ``number`` stands for the topic, ``stamp`` is that of its log, ``size`` the number
    of bytes read and ``check`` their checksum. ``rows`` are its entries in the order of
    the log; ``ordered`` says that their ids are in the same order.
    """

    number: int
    stamp: Stamp
    size: int
    check: int
    rows: array[int]
    ordered: bool = True


class Piece(NamedTuple):
    """Entries to be indexed, and the offset of each in its log."""

    entries: Sequence[Entry]
    starts: Sequence[int]
    size: int


class EntryIndex:
    """Finds the entries that match; an engine of `wc_core.views.search`."""

    def __init__(self, reader: LiveReader) -> None:
        self._reader = reader
        self._lock = threading.RLock()
        self._pending: dict[str, int] = {}
        self._unreadable: set[str] = set()
        self._builder: threading.Thread | None = None
        self._done = threading.Event()
        self._clear()

    def _clear(self) -> None:
        self._text = FullText()
        # By row: the entry's id, the number of its thread, its offset in the log.
        self._ids: list[str] = []
        self._numbers = array("I")
        self._starts = array("q")
        # By branch, kind or severity: the rows of entries that have it.
        self._facets: dict[tuple[str, str], array[int]] = {}
        # By number: the topic; empty if the thread got another number.
        self._names: list[str] = []
        self._places: dict[str, IndexedThread] = {}
        self._live = 0

    # --- keeping up ----------------------------------------------------------

    def expect(self, threads: Iterable[tuple[str, int]]) -> None:
        """Queues threads that are new or changed, with their number of entries; the
        first are read first. A thread without entries was removed or is empty."""
        with self._lock:
            for topic, count in threads:
                self._pending[topic] = count
            if len(self._ids) - self._live > max(_MOST_DEAD, self._live):
                self._pending |= dict.fromkeys(self._places, 0)
                self._clear()

    def catch_up(self, seconds: float) -> bool:
        """Indexes what is queued, or waits up to ``seconds`` for the thread that
        does. Returns whether everything is indexed."""
        if len(self._pending) <= _AT_ONCE and self._builder is None:
            while self._step():
                pass
            return True
        if self._builder is None:
            self._done.clear()
            self._builder = threading.Thread(
                target=self._build, name="index", daemon=True
            )
            self._builder.start()
        return self._done.wait(seconds)

    @property
    def unreadable(self) -> set[str]:
        """The threads that could not be read."""
        with self._lock:
            return {*self._unreadable}

    @property
    def progress(self) -> tuple[int, int]:
        """How many entries are indexed, and how many there are."""
        # No lock: a report of progress must not wait for indexing.
        live = self._live
        return live, live + sum([*self._pending.values()])

    def _build(self) -> None:
        try:
            while self._step():
                pass
        finally:
            self._builder = None
            self._done.set()

    def _step(self) -> bool:
        """Indexes some threads. Returns whether there was anything to do."""
        with self._lock:
            count = 0
            rows: list[tuple[int, Sequence[str]]] = []
            while self._pending and count < _BATCH:
                topic = next(iter(self._pending))
                rows += self._read(topic)
                del self._pending[topic]
                count = len(rows)
            if rows:
                self._text.add(rows)
            return bool(self._pending or rows)

    def _read(self, topic: str) -> list[tuple[int, Sequence[str]]]:
        """Returns the rows for what was added to a thread since it was read last."""
        self._unreadable.discard(topic)
        stamp = stamp_of(self._reader.layout.log(topic))
        place = self._places.get(topic)
        if place is not None and place.stamp == stamp and stamp.size >= 0:
            return []
        try:
            data = self._reader.log_bytes(topic) or b""
            piece = self._tail(topic, place, data)
            if piece is None:
                self._drop(topic)
                place = None
                piece = self._whole(topic, data)
        except NotFoundError:
            return []
        except WcError:
            # Its entries cannot be shown, so none of them may be found.
            self._drop(topic)
            self._unreadable.add(topic)
            return []
        if place is None:
            place = IndexedThread(len(self._names), stamp, 0, 0, array("I"))
            self._names.append(topic)
        ordered = place.ordered and all(
            ulid.prefix(entry.id) for entry in piece.entries
        )
        check = crc32(data[: piece.size]) if piece.size != _NOWHERE else 0
        self._places[topic] = place._replace(
            stamp=stamp, size=piece.size, check=check, ordered=ordered
        )
        return self._rows(topic, place, piece)

    def _rows(
        self, topic: str, place: IndexedThread, piece: Piece
    ) -> list[tuple[int, Sequence[str]]]:
        rows: list[tuple[int, Sequence[str]]] = []
        names = " ".join((topic, *self._reader.snapshot(topic).state.names))
        for entry, start in zip(piece.entries, piece.starts, strict=True):
            row = len(self._ids)
            self._ids.append(entry.id)
            self._numbers.append(place.number)
            self._starts.append(start)
            place.rows.append(row)
            for facet in _facets_of(entry):
                self._facets.setdefault(facet, array("I")).append(row)
            texts = (entry.title, entry.body, names, entry.agent, recorded(entry))
            rows.append((row, texts))
        self._live += len(rows)
        return rows

    def _drop(self, topic: str) -> None:
        place = self._places.pop(topic, None)
        if place is not None:
            self._names[place.number] = ""
            self._live -= len(place.rows)

    def _tail(
        self, topic: str, place: IndexedThread | None, data: bytes
    ) -> Piece | None:
        """Returns what was appended to a log; ``None`` if all of it has to be read."""
        if place is None or place.size == _NOWHERE:
            return None
        if len(data) < place.size or crc32(data[: place.size]) != place.check:
            return None
        piece = _parse_piece(topic, data[place.size :], place.size)
        indexed = {self._ids[row] for row in place.rows}
        if piece is None or any(
            entry.id in indexed or entry.supersedes or entry.new_topic
            for entry in piece.entries
        ):
            return None
        return piece

    def _whole(self, topic: str, data: bytes) -> Piece:
        """Returns all of a thread."""
        piece = _parse_piece(topic, data, 0)
        if (
            piece is None
            or not piece.entries
            or any(entry.supersedes for entry in piece.entries)
        ):
            # Torn, with a duplicate id, corrected, or without a log: use the reader's
            # view.
            visible = numbered(self._reader.thread(topic))
            entries = [item.entry for item in visible if not item.retracted]
            piece = Piece(entries, [_NOWHERE] * len(entries), _NOWHERE)
        return piece

    # --- asking --------------------------------------------------------------

    def matches(self, topics: Sequence[str], query: SearchQuery) -> Matches:
        """Like `Engine.matches`, over the entries that are indexed."""
        with self._lock:
            allowed = bytearray(len(self._names))
            for topic in topics:
                if (place := self._places.get(topic)) is not None:
                    allowed[place.number] = 1
            numbers = self._numbers
            rows = [row for row in self._rows_matching(query) if allowed[numbers[row]]]
            if query.about.terms:
                rows = [row for row in rows if self._is_about(row, query.about)]
            counts = Counter(map(numbers.__getitem__, rows))
            best, total = self._best(rows, query)
            return Matches(
                best,
                total,
                {self._names[number]: count for number, count in counts.items()},
                tuple(name for name in topics if name in self._unreadable),
                *self.progress,
            )

    def threads(self, topics: Sequence[str], about: Mentions) -> Matches:
        """Like `Engine.threads`, over the entries that are indexed."""
        return self.matches(topics, SearchQuery((), about, limit=1))

    def _rows_matching(self, query: SearchQuery) -> Iterable[int]:
        """Returns the rows that match the query; candidates only, if it asks for
        files, pull requests or commits."""
        chosen = self._rows_with(query.about)
        if not query.terms and not query.about.terms:
            return sorted(chosen or ())
        rows = self._text.find(query.terms, query.about.terms)
        return rows if chosen is None else [row for row in rows if row in chosen]

    def _rows_with(self, about: Mentions) -> set[int] | None:
        """Returns the rows with the branch, the kind and the severity that are asked
        for; ``None`` for any."""
        asked_facets = [[("branch", about.branch)]] if about.branch else []
        asked_facets += [[("kind", about.kind)]] if about.kind else []
        if about.severity:
            levels = at_least(about.severity)
            asked_facets.append([("severity", level) for level in levels])
        rows = [
            {row for facet in facets for row in self._facets.get(facet, ())}
            for facets in asked_facets
        ]
        return set.intersection(*rows) if rows else None

    def _is_about(self, row: int, about: Mentions) -> bool:
        """Returns whether an entry that has the words really mentions the thing."""
        return about.fit(self.entry(self._match(0, row)).entry)

    def _match(self, rank: int, row: int) -> Match:
        return Match(rank, self._ids[row], self._names[self._numbers[row]])

    def _best(self, rows: list[int], query: SearchQuery) -> tuple[list[Match], int]:
        """Returns the best of the rows in order, and how many there were to choose
        from."""
        best: list[Match] = []
        total = 0
        for rank, members in self._by_rank(rows, query):
            after = members
            if query.behind is not None:
                behind = query.behind
                after = [row for row in members if self._match(rank, row) < behind]
            total += len(after)
            room = query.limit - len(best) if query.limit else len(after)
            newest = self._newest(after, room)
            best += sorted((self._match(rank, row) for row in newest), reverse=True)[
                :room
            ]
        return best, total

    def _newest(self, rows: list[int], count: int) -> list[int]:
        """Returns the rows with the greatest ids: ``count``, or a few more where ids
        are equal and topics decide."""
        if count >= len(rows):
            return rows
        ids = self._ids
        best = nlargest(count, rows, key=ids.__getitem__)
        edge = ids[best[-1]] if best else ""
        return [
            *(row for row in best if ids[row] != edge),
            *(row for row in rows if best and ids[row] == edge),
        ]

    def _by_rank(
        self, rows: list[int], query: SearchQuery
    ) -> Iterable[tuple[int, list[int]]]:
        """Returns the rows grouped by how well they match, best first."""
        if not query.terms or not rows:
            return ((ELSEWHERE, rows),)
        all_terms = self._text.in_titles(query.terms, all_terms=True)
        some_terms = self._text.in_titles(query.terms, all_terms=False)
        return (
            (ALL_IN_TITLE, [row for row in rows if row in all_terms]),
            (
                SOME_IN_TITLE,
                [row for row in rows if row in some_terms and row not in all_terms],
            ),
            (ELSEWHERE, [row for row in rows if row not in some_terms]),
        )

    def entry(self, match: Match) -> Numbered:
        """Returns the entry of a match. Raises NotFoundError if it is gone."""
        with self._lock:
            place = self._places.get(match.topic)
            ids = [self._ids[row] for row in place.rows] if place else []
            if place is not None and place.ordered and match.id in ids:
                start = self._starts[place.rows[ids.index(match.id)]]
                entry = self._entry_at(match.topic, start)
                if entry is not None and entry.id == match.id:
                    return Numbered(sum(member < match.id for member in ids), entry)
        for item in numbered(self._reader.thread(match.topic)):
            if item.entry.id == match.id and not item.retracted:
                return item
        raise NotFoundError(f"{match.topic} has no entry {match.id} any more.")

    def _entry_at(self, topic: str, start: int) -> Entry | None:
        """Returns the entry at an offset of a log, or None if it cannot be read from
        there."""
        if start == _NOWHERE:
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
                return entry if isinstance(entry, Entry) else None
            length *= 8


def _facets_of(entry: Entry) -> list[tuple[str, str]]:
    """Returns what an entry can be found by apart from its words."""
    facets = {
        "branch": entry.code_branch,
        "kind": entry.any_kind,
        "severity": entry.severity,
    }
    return [(name, value) for name, value in facets.items() if value]


def _parse_piece(topic: str, data: bytes, start: int) -> Piece | None:
    """Returns the entries of whole lines, the first of which is at offset ``start``;
    ``None`` if the lines alone do not say what the log contains."""
    entries: list[Entry] = []
    starts: list[int] = []
    end = start
    # A complete last line leaves nothing after its newline.
    *lines, torn = data.split(b"\n")
    if torn:
        return None
    for line in lines:
        begin, end = end, end + len(line) + 1
        if not line.strip():
            continue
        entry = codec.read_line(topic, line)
        if isinstance(entry, Entry):
            entries.append(entry)
            starts.append(begin)
    if len({parsed.id for parsed in entries}) < len(entries):
        return None
    return Piece(entries, starts, end)

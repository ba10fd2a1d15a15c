"""The entries of a store by their words, so that a search reads no log.

Made in the background when somebody searches for the first time, the threads
that moved last first; from then on it follows what changes. Until it is whole,
every answer says how far it is.
"""

from __future__ import annotations

import threading
from array import array
from collections import Counter
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from wc_core import ulid
from wc_core.errors import NotFoundError, WcError
from wc_core.files import read_from
from wc_core.threads import codec
from wc_core.threads.model import Entry
from wc_core.views.mentions import recorded
from wc_core.views.rows import Numbered
from wc_core.views.search import ALL_IN_TITLE, ELSEWHERE, SOME_IN_TITLE, Match, Matches
from wc_observe.live.filestamps import Stamp, stamp_of
from wc_observe.live.fulltext import FullText

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.views.mentions import Mentions
    from wc_core.views.search import SearchQuery
    from wc_observe.live.reader import LiveReader

# So many changed threads are read by whoever asks; more take a while, and are
# read in the background.
_AT_ONCE = 50
# Entries that go into the index together; the lock is held meanwhile.
_BATCH = 500
# Of these, rows of logs that were replaced, before all is made anew.
_MOST_DEAD = 10_000
# Where an entry does not begin in its log: it is none, or not read that way.
_NOWHERE = -1
_LINE = 8192


class IndexedThread(NamedTuple):
    """How far a thread is in the index: its number, its log then, up to which
    byte that was read, and a checksum of so much. ``rows`` are its entries in
    the order they were found; ``ordered``: that of their ids is the thread's."""

    number: int
    stamp: Stamp
    size: int
    check: int
    rows: array[int]
    ordered: bool = True


class Piece(NamedTuple):
    """Entries to be added, and where each begins in its log."""

    entries: Sequence[Entry]
    starts: Sequence[int]
    size: int


class EntryIndex:
    """Knows which entries match; an engine of `wc_core.views.search`."""

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
        # By row: the entry's id, the number of its thread, where it begins.
        self._ids: list[str] = []
        self._numbers = array("I")
        self._starts = array("q")
        self._branches: dict[str, array[int]] = {}
        # By number: the topic; empty for one that another number stands for.
        self._names: list[str] = []
        self._places: dict[str, IndexedThread] = {}
        self._live = 0

    # --- keeping up ----------------------------------------------------------

    def expect(self, threads: Iterable[tuple[str, int]]) -> None:
        """These threads are new or changed and have so many entries; the first
        ones are read first. One without entries is gone or has none."""
        with self._lock:
            for topic, count in threads:
                self._pending[topic] = count
            if len(self._ids) - self._live > max(_MOST_DEAD, self._live):
                self._pending |= dict.fromkeys(self._places, 0)
                self._clear()

    def catch_up(self, seconds: float) -> bool:
        """Read what is expected, or wait so long for whoever does; whether
        all of it is in the index."""
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
        """The threads that could not be read when they were looked at."""
        with self._lock:
            return {*self._unreadable}

    @property
    def progress(self) -> tuple[int, int]:
        """How many entries are in the index, and how many there are."""
        # No lock: whoever reports it must not wait until more have been read.
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
        """Read some threads; whether there were any to be read."""
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
        """The rows of what a thread has got since it was read last."""
        self._unreadable.discard(topic)
        stamp = stamp_of(self._reader.layout.log(topic))
        known = self._places.get(topic)
        if known is not None and known.stamp == stamp and stamp.size >= 0:
            return []
        try:
            data = self._reader.log_bytes(topic) or b""
            piece = self._tail(topic, known, data)
            if piece is None:
                self._drop(topic)
                known = None
                piece = self._whole(topic, data)
        except NotFoundError:
            return []
        except WcError:
            # Its entries cannot be shown, so none of them is found.
            self._drop(topic)
            self._unreadable.add(topic)
            return []
        if known is None:
            known = IndexedThread(len(self._names), stamp, 0, 0, array("I"))
            self._names.append(topic)
        ordered = known.ordered and all(ulid.prefix(one.id) for one in piece.entries)
        check = crc32(data[: piece.size]) if piece.size != _NOWHERE else 0
        self._places[topic] = known._replace(
            stamp=stamp, size=piece.size, check=check, ordered=ordered
        )
        return self._rows(topic, known, piece)

    def _rows(
        self, topic: str, place: IndexedThread, piece: Piece
    ) -> list[tuple[int, Sequence[str]]]:
        rows: list[tuple[int, Sequence[str]]] = []
        for entry, start in zip(piece.entries, piece.starts, strict=True):
            row = len(self._ids)
            self._ids.append(entry.id)
            self._numbers.append(place.number)
            self._starts.append(start)
            place.rows.append(row)
            if entry.code_branch:
                self._branches.setdefault(entry.code_branch, array("I")).append(row)
            texts = (entry.title, entry.body, topic, entry.agent, recorded(entry))
            rows.append((row, texts))
        self._live += len(rows)
        return rows

    def _drop(self, topic: str) -> None:
        place = self._places.pop(topic, None)
        if place is not None:
            self._names[place.number] = ""
            self._live -= len(place.rows)

    def _tail(
        self, topic: str, known: IndexedThread | None, data: bytes
    ) -> Piece | None:
        """What a log has got behind what was read of it; ``None`` where all of
        it has to be read."""
        if known is None or known.size == _NOWHERE:
            return None
        if len(data) < known.size or crc32(data[: known.size]) != known.check:
            return None
        piece = _pieces(topic, data[known.size :], known.size)
        seen = {self._ids[row] for row in known.rows}
        if piece is None or any(one.id in seen for one in piece.entries):
            return None
        return piece

    def _whole(self, topic: str, data: bytes) -> Piece:
        """All of a thread."""
        piece = _pieces(topic, data, 0)
        if piece is None or not piece.entries:
            # Torn, twice the same entry, no log: what everybody makes of it.
            entries = self._reader.thread(topic).entries
            piece = Piece(entries, [_NOWHERE] * len(entries), _NOWHERE)
        return piece

    # --- asking --------------------------------------------------------------

    def matches(self, topics: Sequence[str], wanted: SearchQuery) -> Matches:
        """As `Engine.matches`, of the entries that are in the index."""
        with self._lock:
            allowed = bytearray(len(self._names))
            for topic in topics:
                if (place := self._places.get(topic)) is not None:
                    allowed[place.number] = 1
            numbers = self._numbers
            rows = [row for row in self._having(wanted) if allowed[numbers[row]]]
            if wanted.about.terms:
                rows = [row for row in rows if self._is_about(row, wanted.about)]
            counts = Counter(map(numbers.__getitem__, rows))
            found, left = self._best(rows, wanted)
            return Matches(
                found,
                left,
                {self._names[number]: count for number, count in counts.items()},
                tuple(one for one in topics if one in self._unreadable),
                *self.progress,
            )

    def _having(self, wanted: SearchQuery) -> Iterable[int]:
        """The rows that may have what is wanted; those that have it, unless it
        is about files, pull requests or commits."""
        about = wanted.about
        of_branch = self._branches.get(about.branch, ())
        if not wanted.terms and not about.terms:
            return of_branch
        found = self._text.find(wanted.terms, about.terms)
        if not about.branch:
            return found
        chosen = {*of_branch}
        return [row for row in found if row in chosen]

    def _is_about(self, row: int, about: Mentions) -> bool:
        """Whether an entry that has the words of it mentions the thing."""
        return about.fit(self.entry(self._match(0, row)).entry)

    def _match(self, rank: int, row: int) -> Match:
        return Match(rank, self._ids[row], self._names[self._numbers[row]])

    def _best(self, rows: list[int], wanted: SearchQuery) -> tuple[list[Match], int]:
        """The best of the rows in order, and how many there were to choose
        from."""
        found: list[Match] = []
        left = 0
        for rank, members in self._by_rank(rows, wanted):
            after = members
            if wanted.behind is not None:
                behind = wanted.behind
                after = [row for row in members if self._match(rank, row) < behind]
            left += len(after)
            room = wanted.limit - len(found) if wanted.limit else len(after)
            newest = self._newest(after, room)
            found += sorted((self._match(rank, row) for row in newest), reverse=True)[
                :room
            ]
        return found, left

    def _newest(self, rows: list[int], count: int) -> list[int]:
        """The rows with the greatest ids, so many or a few more: where two have
        the same one, their topics decide."""
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
        self, rows: list[int], wanted: SearchQuery
    ) -> Iterable[tuple[int, list[int]]]:
        """The rows apart, by how well they match, the best first."""
        if not wanted.terms or not rows:
            return ((ELSEWHERE, rows),)
        every = self._text.in_titles(wanted.terms, every=True)
        some = self._text.in_titles(wanted.terms, every=False)
        return (
            (ALL_IN_TITLE, [row for row in rows if row in every]),
            (SOME_IN_TITLE, [row for row in rows if row in some and row not in every]),
            (ELSEWHERE, [row for row in rows if row not in some]),
        )

    def entry(self, match: Match) -> Numbered:
        """The entry of a match. Raises NotFoundError where it is gone."""
        with self._lock:
            place = self._places.get(match.topic)
            ids = [self._ids[row] for row in place.rows] if place else []
            if place is not None and place.ordered and match.id in ids:
                start = self._starts[place.rows[ids.index(match.id)]]
                entry = self._at(match.topic, start)
                if entry is not None and entry.id == match.id:
                    return Numbered(sum(one < match.id for one in ids), entry)
        for idx, entry in enumerate(self._reader.thread(match.topic).entries):
            if entry.id == match.id:
                return Numbered(idx, entry)
        raise NotFoundError(f"{match.topic} has no entry {match.id} any more.")

    def _at(self, topic: str, start: int) -> Entry | None:
        """The entry that begins there, if it can be read from there alone."""
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


def _pieces(topic: str, data: bytes, start: int) -> Piece | None:
    """The entries of whole lines, the first of which begins at ``start``;
    ``None`` where the lines alone do not say what the log has."""
    entries: list[Entry] = []
    starts: list[int] = []
    end = start
    # The end of the last line leaves nothing behind it.
    *lines, rest = data.split(b"\n")
    if rest:
        return None
    for line in lines:
        begin, end = end, end + len(line) + 1
        if not line.strip():
            continue
        entry = codec.read_line(topic, line)
        if isinstance(entry, Entry):
            entries.append(entry)
            starts.append(begin)
    if len({one.id for one in entries}) < len(entries):
        return None
    return Piece(entries, starts, end)

"""Reads single entries of a log whose seal matches its bytes."""

from __future__ import annotations

from binascii import crc32

from wc_core.base.errors import WcError
from wc_core.base.files import MAX_BYTES, Folder
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.aliases import labelled
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.snapshot import Snapshot
from wc_core.ledger.threads.ways import with_ways

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.base.errors import Damage
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.projections import Seal
    from wc_core.ledger.threads.reader import StoreReader


class _CheckedLines:
    """The lines of a log, numbered from 0. The whole log is read for its checksum, but
    only some lines are kept in memory: first the last ones; others when they are
    needed, by reading the log again and comparing its checksum.

    ``count`` is the number of lines, ``size`` the number of bytes, and ``checksum``
    their CRC-32. ``kept`` are the lines from number ``start`` on.
    """

    def __init__(self, reader: StoreReader, topic: str) -> None:
        self._layout, self._topic = reader.layout, topic
        self.count = self.size = self.checksum = 0
        previous = current = b""
        previous_line = current_line = 0
        for piece in self._pieces():
            previous, previous_line = current, current_line
            current, current_line = piece, self.count
            self.count += piece.count(b"\n")
            self.size += len(piece)
            self.checksum = crc32(piece, self.checksum)
        end = previous + current
        self._set_kept(previous_line, end, is_cut=len(end) < self.size)

    def line(self, number: int) -> bytes | None:
        """The line with this number; ``None`` if it cannot be kept (see `keep`)."""
        if not self.keep(number, number + 1):
            return None
        return self.kept[number - self.start]

    def keep(self, start: int, stop: int) -> bool:
        """Keep the lines from number ``start`` up to, but not including, ``stop``.
        Returns false if the log has changed or can no longer be read."""
        if self.start <= start and stop <= self.start + len(self.kept):
            return True
        pieces: list[bytes] = []
        first_line = count = checksum = 0
        is_cut = False
        try:
            for piece in self._pieces():
                # This piece has at least a part of each line from `count` to
                # `following`.
                following = count + piece.count(b"\n")
                if start > following:
                    first_line, is_cut = following, True
                elif count < stop:
                    pieces.append(piece)
                count, checksum = following, crc32(piece, checksum)
        except OSError:
            return False
        if (count, checksum) != (self.count, self.checksum):
            return False
        self._set_kept(first_line, b"".join(pieces), is_cut=is_cut)
        return True

    def _pieces(self) -> Iterator[bytes]:
        layout = self._layout
        with Folder(layout.folder(self._topic), layout.root) as folder:
            yield from folder.pieces(layout.log(self._topic))

    def _set_kept(self, start: int, data: bytes, *, is_cut: bool) -> None:
        """Keep the complete lines in ``data``, which begins in line ``start``. What
        follows the last line break is dropped and, if ``is_cut``, the first line."""
        cut = int(is_cut)
        self.start, self.kept = start + cut, data.split(b"\n")[cut:-1]


class SealedThread(NamedTuple):
    """A thread whose log has been checked, but no entry decoded yet."""

    snapshot: Snapshot
    seal: Seal
    lines: _CheckedLines
    layout: Layout

    @property
    def state(self) -> State:
        """The fold of all entries."""
        return self.snapshot.state

    @property
    def entry_count(self) -> int:
        """The number of its entries, corrections included."""
        return self.lines.count

    def entry(self, position: int) -> Entry | None:
        """The entry at a position; ``None`` if its line is not an entry, or if the log
        has changed."""
        line = self.lines.line(position)
        if line is None:
            return None
        result = codec.read_line(self.state.topic, line)
        if not isinstance(result, Entry):
            return None
        return with_ways([result], self.layout)[0]


class Excerpt(NamedTuple):
    """Some entries of a thread, by position, and the names of all authors. It has the
    same facts about the thread as `Thread`."""

    snapshot: Snapshot
    authors: tuple[str, ...]
    entries: dict[int, Entry]

    @property
    def state(self) -> State:
        """The fold of all entries."""
        return self.snapshot.state

    @property
    def name(self) -> str:
        """The thread's name in its store."""
        return self.snapshot.name

    @property
    def damage(self) -> tuple[Damage, ...]:
        """The defects of the thread's files: a sealed log has none."""
        return self.snapshot.damage


def sealed_thread(reader: StoreReader, topic: str) -> SealedThread | None:
    """The thread with the lines of its log; ``None`` if it has to be read completely,
    or cannot be read."""
    try:
        meta = reader.meta(topic)
        seal, state = meta.seal, meta.state if meta.has_boxes else None
        if seal is None or state is None or meta.newer or state.lost:
            return None
        with Folder(reader.layout.folder(topic), reader.layout.root) as folder:
            size = folder.size(reader.layout.log(topic))
            if size != meta.log_size or size > MAX_BYTES:
                return None
            lines = _CheckedLines(reader, topic)
            if lines.size != size or lines.checksum != seal.checksum:
                return None
            pairs = seal.corrections
            if not all(0 <= first < second < lines.count for first, second in pairs):
                return None
            snapshot = Snapshot(state, size, True, (), meta.unknown, meta)
            snapshot = labelled(reader, folder, snapshot)
    except (WcError, OSError):
        return None  # reading all of it raises the error that explains it
    return SealedThread(snapshot, seal, lines, reader.layout)


def excerpt(thread: SealedThread, positions: Iterable[int]) -> Excerpt | None:
    """The entries at these positions, and those that they correct or are corrected by;
    ``None`` if a line is not an entry, or if the log has changed."""
    wanted = set(positions)
    for original, correction in thread.seal.corrections:
        if original in wanted or correction in wanted:
            wanted |= {original, correction}
    if wanted and not thread.lines.keep(min(wanted), max(wanted) + 1):
        return None
    entries: dict[int, Entry] = {}
    for position in sorted(wanted):
        entry = thread.entry(position)
        if entry is None:
            return None
        entries[position] = entry
    return Excerpt(thread.snapshot, thread.seal.authors, entries)

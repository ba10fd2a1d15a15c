"""Reads single entries of a log whose seal matches its bytes."""

from __future__ import annotations

from binascii import crc32

from wc_core.errors import WcError
from wc_core.files import Folder
from wc_core.threads import codec
from wc_core.threads.labels import labelled
from wc_core.threads.model import Entry
from wc_core.threads.reader import Snapshot
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.threads.model import State
    from wc_core.threads.projections import Seal
    from wc_core.threads.reader import StoreReader


class SealedThread(NamedTuple):
    """A thread whose log was read, but no entry decoded yet."""

    snapshot: Snapshot
    seal: Seal
    lines: list[bytes]

    @property
    def state(self) -> State:
        """The fold of all entries."""
        return self.snapshot.state

    def entry(self, position: int) -> Entry | None:
        """The entry at a position; ``None`` if its line is not an entry."""
        result = codec.read_line(self.state.topic, self.lines[position])
        return result if isinstance(result, Entry) else None


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
    def damage(self) -> tuple[codec.Damage, ...]:
        """The defects of the thread's files: a sealed log has none."""
        return self.snapshot.damage


def sealed_thread(reader: StoreReader, topic: str) -> SealedThread | None:
    """The thread with the lines of its log; ``None`` if it has to be read completely,
    or cannot be read."""
    try:
        meta = reader.meta(topic)
        seal, state = meta.seal, meta.state
        if seal is None or state is None or meta.newer or state.lost:
            return None
        data = reader.log_bytes(topic)
        if data is None or len(data) != meta.log_size or crc32(data) != seal.checksum:
            return None
        snapshot = Snapshot(state, len(data), True, (), meta.unknown, meta)
        with Folder(reader.layout.folder(topic), reader.layout.root) as folder:
            snapshot = labelled(reader, folder, snapshot)
    except (WcError, OSError):
        return None  # reading all of it raises the error that explains it
    lines = data.split(b"\n")
    lines.pop()
    return SealedThread(snapshot, seal, lines)


def excerpt(thread: SealedThread, positions: Iterable[int]) -> Excerpt | None:
    """The entries at these positions, and those that they correct or are corrected by;
    ``None`` if a line is not an entry."""
    wanted = set(positions)
    for original, correction in thread.seal.corrections:
        if original in wanted or correction in wanted:
            wanted |= {original, correction}
    entries: dict[int, Entry] = {}
    for position in sorted(wanted):
        entry = thread.entry(position)
        if entry is None:
            return None
        entries[position] = entry
    return Excerpt(thread.snapshot, thread.seal.authors, entries)

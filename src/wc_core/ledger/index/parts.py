"""Reads a part of a long thread by the cache, which has where each line begins."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import read_from
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.cache import NOWHERE, Cache, UnusableCacheError
from wc_core.ledger.index.keys import thread_keys
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.ways import with_ways

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot

# A log of so many bytes is read in less time than SQLite needs to start.
_SHORT = 100_000
_ROWS = (
    "SELECT id, start FROM entries WHERE thread = ? ORDER BY number LIMIT ? OFFSET ?"
)
_FIRST = (
    "SELECT number FROM entries WHERE thread = ? AND author = ? ORDER BY number LIMIT 1"
)


class ThreadPart(NamedTuple):
    """The entries of a thread from position ``start`` on, none of which is corrected,
    and the names of all authors. It has the same facts about the thread as `Thread`."""

    snapshot: Snapshot
    authors: tuple[str, ...]
    start: int
    entries: tuple[Entry, ...]

    @property
    def state(self) -> State:
        """The fold of all entries."""
        return self.snapshot.state

    @property
    def name(self) -> str:
        """The thread's name in its store."""
        return self.snapshot.name


def read_part(
    reader: StoreReader, topic: str, choose: Callable[[State], range | None]
) -> ThreadPart | None:
    """Returns the entries of a thread at the positions that ``choose`` returns for its
    state; ``None`` if that is ``None``, or if the thread has to be read completely: it
    is short, forked, damaged, has corrections or ticked boxes, or is not in the cache
    as it is."""
    try:
        return _part(reader, topic, choose)
    except (WcError, OSError, UnusableCacheError):
        return None  # reading all of it raises the error that explains it


def _part(
    reader: StoreReader, topic: str, choose: Callable[[State], range | None]
) -> ThreadPart | None:
    layout = reader.layout
    snapshot = reader.snapshot(topic)
    state = snapshot.state
    if snapshot.log_size <= _SHORT or snapshot.damage or state.forked:
        return None
    positions = choose(state)
    if not snapshot.fresh or positions is None:
        return None
    cache = Cache(layout)
    rows = cache.ask("SELECT number, key, size FROM threads WHERE topic = ?", topic)
    if not rows or rows[0][2] == NOWHERE:
        return None
    number, key, size = rows[0]
    # One more, for where the last one ends.
    found = cache.ask(_ROWS, number, len(positions) + 1, positions.start)
    ends = [*(start for _, start in found), size]
    names = [entry_id for entry_id, _ in found[: len(positions)]]
    data = b""
    if names:
        start, end = ends[0], ends[len(names)]
        data = read_from(layout.log(topic), layout.root, start, end - start)
    authors = _authors(cache, number, state)
    # After all of it: then nothing changed in the meantime.
    if thread_keys(layout, [topic])[topic] != key:
        return None
    entries = codec.read_log(topic, data).entries
    if [entry.id for entry in entries] != names or len(names) < len(positions):
        return None
    return ThreadPart(snapshot, authors, positions.start, with_ways(entries, layout))


def _authors(cache: Cache, number: int, state: State) -> tuple[str, ...]:
    """The names of all authors, in the order of their first entries."""
    names = [item.name for item in state.participants]
    # Most come early. To group all entries by author takes longer.
    return tuple(sorted(names, key=lambda name: cache.ask(_FIRST, number, name)))

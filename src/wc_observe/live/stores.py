"""The stores that are kept in memory, one `Live` for each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from wc_core.views.search import Scan
from wc_observe.live.overview import LiveOverview
from wc_observe.live.reader import LiveReader

if TYPE_CHECKING:
    from wc_core.identity.viewer import Viewer
    from wc_core.views.search import Engine
    from wc_observe.live.entryindex import EntryIndex
    from wc_observe.live.filestamps import Stamp

# A client with more roots than that reads the ones it comes back to anew.
_MOST_STORES = 4
# Over a network each caller is one: to see ten thousand threads anew takes 0.1 s.
_MOST_VIEWERS = 16


class Progress(NamedTuple):
    """How much is done of what."""

    done: int
    total: int
    what: str


class Live:
    """One store: its threads, its rows for each viewer, its words."""

    def __init__(self, root: str) -> None:
        self.reader = LiveReader(root)
        # What is wrong with the logs that were read in full, see `surveying`.
        self.sound: dict[str, tuple[Stamp, str]] = {}
        self._overviews: list[LiveOverview] = []
        self._index: EntryIndex | None = None
        self._unread: set[str] = set()
        self._lock = threading.RLock()

    @property
    def progress(self) -> Progress | None:
        """How far it is with what takes a while; ``None`` when nothing does."""
        for overview in self._overviews:
            done, total = overview.progress
            if done < total:
                return Progress(done, total, "threads read")
        if self._index is not None:
            done, total = self._index.progress
            if done < total:
                return Progress(done, total, "entries in the index")
        return None

    def refresh(self) -> None:
        """Let what changed show. Raises StorageError, CorruptError."""
        with self._lock:
            changed = self.reader.refresh()
            for overview in self._overviews:
                overview.forget(changed)
            if self._index is not None:
                self._unread |= changed

    def overview(self, viewer: Viewer) -> LiveOverview:
        """The threads as somebody sees them."""
        with self._lock:
            known = (one for one in self._overviews if one.is_for(viewer))
            found = next(known, None) or LiveOverview(self.reader, viewer)
            others = [one for one in self._overviews if one is not found]
            # Who has not looked for the longest time is forgotten first.
            self._overviews = [found, *others[: _MOST_VIEWERS - 1]]
            return found

    def engine(self, overview: LiveOverview, seconds: float) -> Engine:
        """What searches: the index, waited for so long if it is being made."""
        from wc_observe.live import entryindex, fulltext  # not before somebody searches

        if not fulltext.is_available():
            return Scan(self.reader)
        with self._lock:
            unread, self._unread = self._unread, set()
            if self._index is None:
                self._index = entryindex.EntryIndex(self.reader)
                unread = {row.topic for row in overview.rows()}
            # What could not be read may be read now.
            unread |= self._index.unreadable
            if unread:
                counts = {row.topic: row.entry_count for row in overview.rows()}
                found = [(one, count) for one, count in counts.items() if one in unread]
                gone = [(one, 0) for one in unread if one not in counts]
                self._index.expect([*found, *gone])
            index = self._index
        index.catch_up(seconds)
        return index


class Stores:
    """The stores in use."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Live] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def progress(self) -> Progress | None:
        """How far the store is that is busy; ``None`` when none is."""
        with self._lock:
            known = [*self._known.values()]
        return next((one.progress for one in known if one.progress), None)

    def at(self, root: str) -> Live:
        """The store at ``root``."""
        with self._lock:
            live = self._known.pop(root, None) or Live(root)
            self._known[root] = live
            if len(self._known) > _MOST_STORES:
                self._known.popitem(last=False)
            return live

    def known(self, root: str) -> Live | None:
        """The store at ``root``, if it has been used of late."""
        with self._lock:
            return self._known.get(root)

    def unwatched(self) -> list[str]:
        """The roots of those that are too large to be looked through at each
        call, which they are as long as nobody tells of changes."""
        with self._lock:
            known = list(self._known.items())
        return [
            root
            for root, live in known
            if live.reader.is_large and not live.reader.watched
        ]

"""The stores kept in memory, one `Live` each."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from wc_core.base.values import NamedTuple
from wc_core.reading.views.search.scan import Scan
from wc_observe.stores.live.overview import LiveOverview
from wc_observe.stores.live.reader import LiveReader

if TYPE_CHECKING:
    from wc_core.lookup.index.entries import EntryFiles
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.search.query import Engine
    from wc_observe.stores.live.filestamps import Stamp

# A client with more roots than this reads a store again when it returns to it.
_MOST_STORES = 4
# Each caller over a network is a viewer; building ten thousand rows takes 0.1 s.
_MOST_VIEWERS = 16


class Progress(NamedTuple):
    """How much of a task is done."""

    done: int
    total: int
    what: str


def system_ms() -> int:
    """Returns the milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Live:
    """One store: its threads, its rows for each viewer, its index."""

    def __init__(self, root: str) -> None:
        self.reader = LiveReader(root)
        # Damage found in the logs that were read in full, see `survey`.
        self.sound: dict[str, tuple[Stamp, str]] = {}
        self._overviews: list[LiveOverview] = []
        self._entry_files: EntryFiles | None = None
        self._lock = threading.RLock()

    @property
    def progress(self) -> Progress | None:
        """The progress of a long task; ``None`` if there is none."""
        for overview in self._overviews:
            done, total = overview.progress
            if done < total:
                return Progress(done, total, "threads read")
        return None

    def refresh(self) -> None:
        """Applies the changes on disk. Raises StorageError and CorruptError."""
        with self._lock:
            changed = self.reader.refresh()
            for overview in self._overviews:
                overview.forget(changed)

    def overview(self, viewer: Viewer) -> LiveOverview:
        """Returns the threads as a viewer sees them."""
        with self._lock:
            matching = (
                overview for overview in self._overviews if overview.is_for(viewer)
            )
            chosen = next(matching, None) or LiveOverview(self.reader, viewer)
            older = [overview for overview in self._overviews if overview is not chosen]
            # The least recently used viewer is dropped first.
            self._overviews = [chosen, *older[: _MOST_VIEWERS - 1]]
            return chosen

    def engine(self) -> Engine:
        """Returns the searcher: it uses the index, and the logs that the index
        lacks."""
        try:
            # 4 ms (SQLite), which only a search needs.
            from wc_core.reading.views.search import indexed
        except ImportError:  # a few builds of Python have no SQLite
            return Scan(self.reader)
        with self._lock:
            if self._entry_files is None:
                files = indexed.EntryFiles(self.reader.layout)
                self._entry_files = files
            files = self._entry_files
        return indexed.IndexedSearch(self.reader, files, self.reader.word_keys)


class Stores:
    """The stores in use."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Live] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def progress(self) -> Progress | None:
        """The progress of the busy store; ``None`` if none is busy."""
        with self._lock:
            stores = [*self._known.values()]
        return next((live.progress for live in stores if live.progress), None)

    def at(self, root: str) -> Live:
        """Returns the store at ``root``."""
        with self._lock:
            live = self._known.pop(root, None) or Live(root)
            self._known[root] = live
            if len(self._known) > _MOST_STORES:
                self._known.popitem(last=False)
            return live

    def cached(self, root: str) -> Live | None:
        """Returns the store at ``root`` if it was used recently, else None."""
        with self._lock:
            return self._known.get(root)

    def unwatched(self) -> list[str]:
        """Returns the roots of large stores without a watcher: every call has to check
        all of their files."""
        with self._lock:
            stores = list(self._known.items())
        return [
            root
            for root, live in stores
            if live.reader.is_large and not live.reader.watched
        ]

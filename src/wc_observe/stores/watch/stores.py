"""One watcher for each store that has listeners."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from wc_core.base.layout import Layout
from wc_observe.stores.watch.threads import Changes, ThreadStamps
from wc_observe.stores.watch.watcher import WATCHING, Watcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_observe.stores.live.stores import Stores

# Stores that are watched only to keep their caches fresh.
_MOST_KEPT = 4


class StoreWatch:
    """Listeners by store. A store kept in memory learns of changes first."""

    def __init__(self, stores: Stores) -> None:
        self._memory = stores
        self._lock = threading.Lock()
        self._runs = 0
        self._stores: dict[str, _WatchedStore] = {}

    def listen(
        self, root: str, callback: Callable[[Changes], None]
    ) -> Callable[[], None]:
        """Calls ``callback``, on another thread, for every change in the store at
        ``root`` from now on. The store need not exist yet. Returns a function that
        stops it.

        ``callback`` must return immediately.
        """
        with self._lock:
            store = self._at(root)
            token = store.add(callback)

        def end() -> None:
            with self._lock:
                store.listeners.pop(token, None)
                self._drop(root, store)

        return end

    def keep(self, root: str) -> None:
        """Watches a store so that its cache stays fresh. At most four stores are
        kept."""
        with self._lock:
            if not self._runs:
                return  # the server has stopped in the meantime
            self._at(root).kept = True
            kept = [root for root, store in self._stores.items() if store.kept]
            for oldest in kept[:-_MOST_KEPT]:
                self._release(oldest)

    def keeps(self, root: str) -> bool:
        """Returns whether a store is watched for its cache."""
        store = self._stores.get(root)
        return store is not None and store.kept

    def open(self) -> None:
        """Counts another run of the server."""
        with self._lock:
            self._runs += 1

    def close(self) -> None:
        """Counts one run less. After the last one, nothing is watched for caches."""
        with self._lock:
            self._runs -= 1
            for root in [] if self._runs else list(self._stores):
                self._release(root)

    def _at(self, root: str) -> _WatchedStore:
        store = self._stores.get(root)
        if store is None:
            store = self._stores[root] = _WatchedStore(root, self._memory)
        return store

    def _release(self, root: str) -> None:
        store = self._stores[root]
        store.kept = False
        self._drop(root, store)

    def _drop(self, root: str, store: _WatchedStore) -> None:
        unused = not store.listeners and not store.kept
        if unused and self._stores.get(root) is store:
            del self._stores[root]
            store.end()

    @property
    def roots(self) -> list[str]:
        """The roots of the watched stores."""
        return list(self._stores)


class _WatchedStore:
    def __init__(self, root: str, memory: Stores) -> None:
        self.kept = False
        self.listeners: dict[object, Callable[[Changes], None]] = {}
        self._root = root
        self._memory = memory
        self._lock = threading.Lock()
        self._ended = False
        self._stamps: ThreadStamps | None = None
        layout = Layout(root)
        folders = (layout.threads, layout.pages, f"{layout.local}/cursors")
        self.watcher = Watcher(folders, self._report)
        self.watcher.start()

    def add(self, callback: Callable[[Changes], None]) -> object:
        """Adds a listener for all changes from now on, and reports the threads that
        came or went since the last call. Returns its key."""
        with self._lock:
            if self._stamps is None:
                # The watcher's first report is to check everything.
                self._stamps = ThreadStamps(self._root)
            token = object()
            self.listeners[token] = callback
            live = self._memory.cached(self._root)
            if live is None:
                return token
            topics = self._stamps.topics.symmetric_difference(live.reader.listed_topics)
        if topics:
            callback(Changes(topics, listed=True))
        return token

    def end(self) -> None:
        self.watcher.stop(wait=False)
        with self._lock:
            self._ended = True
            live = self._memory.cached(self._root)
            if live is not None:
                live.reader.watched = False

    def _report(self, paths: frozenset[str] | None) -> None:
        with self._lock:
            if self._ended:
                return
            live = self._memory.cached(self._root)
            if live is not None:
                live.reader.note_changed(paths)
                # While the watcher only polls, each call checks the files itself.
                live.reader.watched = self.watcher.state == WATCHING
            if self._stamps is None:
                return
            changes = self._stamps.changes_at(paths)
        if changes.topics:
            for callback in list(self.listeners.values()):
                callback(changes)

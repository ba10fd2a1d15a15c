"""One watcher for each store that has listeners."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from wc_core.base.layout import Layout, topic_of
from wc_observe.stores.live.filestamps import stamp_of
from wc_observe.stores.watch.watcher import WATCHING, Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wc_observe.stores.live.filestamps import Stamp
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
        self, root: str, callback: Callable[[frozenset[str]], None]
    ) -> Callable[[], None]:
        """Calls ``callback``, on another thread, with the threads that changed in the
        store at ``root``, from now on. The store need not exist yet. Returns a function
        that stops it.

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

    def keep_all(self) -> None:
        """Watches the large stores in memory so that their caches stay fresh, at most
        four."""
        for root in self.unkept():
            with self._lock:
                if not self._runs:
                    return  # the server has stopped in the meantime
                self._at(root).kept = True
                kept = [root for root, store in self._stores.items() if store.kept]
                for oldest in kept[:-_MOST_KEPT]:
                    self._release(oldest)

    def unkept(self) -> list[str]:
        """Returns the large stores in memory that are not watched for their caches."""
        kept = {root for root, store in [*self._stores.items()] if store.kept}
        return [root for root in self._memory.unwatched() if root not in kept]

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


class _WatchedStore:
    def __init__(self, root: str, memory: Stores) -> None:
        self.kept = False
        self.listeners: dict[object, Callable[[frozenset[str]], None]] = {}
        self._root = root
        self._memory = memory
        self._lock = threading.Lock()
        self._ended = False
        self._stamps: ThreadStamps | None = None
        layout = Layout(root)
        folders = (layout.threads, layout.pages, f"{layout.local}/cursors")
        self.watcher = Watcher(folders, self._report)
        self.watcher.start()

    def add(self, callback: Callable[[frozenset[str]], None]) -> object:
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
            callback(topics)
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
            topics = self._stamps.changed_at(paths)
        if topics:
            for callback in list(self.listeners.values()):
                callback(topics)


class ThreadStamps:
    """The stamps of all logs of a store; for a thread without a log, of its page."""

    def __init__(self, root: str) -> None:
        self._layout = Layout(root)
        self._stamps = dict(self._all_stamps())

    @property
    def folders(self) -> tuple[str, str]:
        """The folders in which threads change."""
        return (self._layout.threads, self._layout.pages)

    @property
    def topics(self) -> frozenset[str]:
        """The threads with entries, when they were last read."""
        return frozenset(map(topic_of, self._stamps))

    def changed_at(self, paths: frozenset[str] | None) -> frozenset[str]:
        """Returns the threads that changed since the last call: at these paths, or
        (None) anywhere."""
        names = None if paths is None else self._names(paths)
        if names is None:
            stamps = dict(self._all_stamps())
            names = stamps.keys() | self._stamps.keys()
        else:
            stamps = dict(self._stamps_of(names))
        moved = {name for name in names if stamps.get(name) != self._stamps.get(name)}
        for name in moved:
            if name in stamps:
                self._stamps[name] = stamps[name]
            else:
                del self._stamps[name]
        return frozenset(map(topic_of, moved))

    def _names(self, paths: frozenset[str]) -> set[str] | None:
        """Returns the file names of the threads that paths belong to; None means
        all."""
        names = set()
        for path in paths:
            for folder in self.folders:
                if path == folder:
                    return None
                if path.startswith(f"{folder}/"):
                    name = path[len(folder) + 1 :].partition("/")[0]
                    names.add(name.removesuffix(".md"))
        return names

    def _all_stamps(self) -> Iterator[tuple[str, Stamp]]:
        names = {*_names_in(self._layout.threads)}
        pages = _names_in(self._layout.pages)
        names |= {name[:-3] for name in pages if name.endswith(".md")}
        yield from self._stamps_of(names - {""})

    def _stamps_of(self, names: Iterable[str]) -> Iterator[tuple[str, Stamp]]:
        for name in names:
            stamp = stamp_of(f"{self._layout.threads}/{name}/entries.jsonl")
            if stamp.size <= 0:
                stamp = stamp_of(self._layout.page(topic_of(name)))
            if stamp.size > 0:
                yield name, stamp


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # reading the store reports why

"""One watcher for each store that has listeners."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from wc_core.base.layout import Layout, topic_of
from wc_observe.stores.watch.filestamps import stamp_of
from wc_observe.stores.watch.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wc_observe.stores.watch.filestamps import Stamp


class StoreWatch:
    """Listeners by store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
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
            store = self._stores.get(root)
            if store is None:
                store = self._stores[root] = _WatchedStore(root)
            token = object()
            store.listeners[token] = callback

        def end() -> None:
            with self._lock:
                store.listeners.pop(token, None)
                if not store.listeners and self._stores.get(root) is store:
                    del self._stores[root]
                    store.watcher.stop(wait=False)

        return end


class _WatchedStore:
    def __init__(self, root: str) -> None:
        self.listeners: dict[object, Callable[[frozenset[str]], None]] = {}
        # The watcher's first report is to check everything.
        self._stamps = ThreadStamps(root)
        self.watcher = Watcher(self._stamps.folders, self._report)
        self.watcher.start()

    def _report(self, paths: frozenset[str] | None) -> None:
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

"""One watcher for each store, as long as somebody listens."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING

from wc_core.layout import Layout
from wc_core.threads import settings
from wc_observe.watch.threads import ThreadLooks
from wc_observe.watch.watcher import WATCHING, Watcher
from wc_observe.watch.worktrees import WorktreeWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_core.git.discovery import Place
    from wc_observe.live.stores import Stores
    from wc_observe.watch.addresses import Changes
    from wc_observe.watch.watcher import Health

# That of the server that answers the current call.
CURRENT_WATCH: ContextVar[StoreWatch] = ContextVar("watch")

# Stores that are watched for the sake of calls alone.
_MOST_KEPT = 4


class StoreWatch:
    """Who listens to which store. What is heard of a store that is kept in
    memory is told there first."""

    def __init__(self, stores: Stores) -> None:
        self._memory = stores
        self._lock = threading.Lock()
        self._runs = 0
        self._stores: dict[str, _Store] = {}
        self._beside: dict[tuple[str, str, str], WorktreeWatch] = {}

    def listen(
        self, root: str, env: Mapping[str, str], callback: Callable[[Changes], None]
    ) -> Callable[[], None]:
        """Call back, on another thread, for what moves in the store at
        ``root`` from now on; it need not exist yet. Returns what ends that.

        ``callback`` must return at once.
        """
        with self._lock:
            store = self._at(root, env)
            token = store.add(callback)

        def end() -> None:
            with self._lock:
                store.listeners.pop(token, None)
                self._drop(root, store)

        return end

    def listen_at(
        self,
        place: Place,
        env: Mapping[str, str],
        callback: Callable[[Changes], None],
    ) -> Callable[[], None]:
        """The same, for the store of a place."""
        return self.listen(place.root, env, callback)

    def listen_beside(
        self,
        place: Place,
        env: Mapping[str, str],
        callback: Callable[[Changes], None],
    ) -> Callable[[], None]:
        """The same, and for what goes on in the worktrees of its repository."""
        end_store = self.listen_at(place, env, callback)
        where, root = place.repository, place.root
        if where is None or settings.load(root, env).watch == "off":
            return end_store
        key, token = (where.common, where.top, root), object()
        with self._lock:
            beside = self._beside.get(key)
            if beside is None:
                beside = self._beside[key] = WorktreeWatch(where, root, env)
            beside.listeners[token] = callback

        def end() -> None:
            with self._lock:
                beside.listeners.pop(token, None)
                if not beside.listeners and self._beside.get(key) is beside:
                    del self._beside[key]
                    beside.end()
            end_store()

        return end

    def keep(self, root: str, env: Mapping[str, str]) -> None:
        """Watch a store for the sake of what is kept of it in memory, which is
        not so for more than four of them."""
        with self._lock:
            if not self._runs:
                return  # the server ended since somebody asked for that
            self._at(root, env).kept = True
            kept = [root for root, store in self._stores.items() if store.kept]
            for one in kept[:-_MOST_KEPT]:
                self._release(one)

    def keeps(self, root: str) -> bool:
        """Whether that is so already."""
        store = self._stores.get(root)
        return store is not None and store.kept

    def open(self) -> None:
        """The server runs, once more if it does already."""
        with self._lock:
            self._runs += 1

    def close(self) -> None:
        """It ends; at last nothing is watched for the sake of calls any more."""
        with self._lock:
            self._runs -= 1
            for one in [] if self._runs else list(self._stores):
                self._release(one)

    def _at(self, root: str, env: Mapping[str, str]) -> _Store:
        store = self._stores.get(root)
        if store is None:
            mode = settings.load(root, env).watch
            store = self._stores[root] = _Store(root, mode, self._memory)
        return store

    def _release(self, root: str) -> None:
        store = self._stores[root]
        store.kept = False
        self._drop(root, store)

    def _drop(self, root: str, store: _Store) -> None:
        unused = not store.listeners and not store.kept
        if unused and self._stores.get(root) is store:
            del self._stores[root]
            store.end()

    def health(self, root: str) -> Health | None:
        """How changes in a store are noticed; None where nobody listens."""
        store = self._stores.get(root)
        return None if store is None else store.watcher.health

    @property
    def roots(self) -> list[str]:
        """The stores that are watched."""
        return list(self._stores)


class _Store:
    def __init__(self, root: str, mode: str, memory: Stores) -> None:
        self.kept = False
        self.listeners: dict[object, Callable[[Changes], None]] = {}
        self._root = root
        self._memory = memory
        self._lock = threading.Lock()
        self._ended = False
        self._looks: ThreadLooks | None = None
        layout = Layout(root)
        folders = (layout.threads, layout.pages, f"{layout.local}/cursors")
        self.watcher = Watcher(folders, self._heard, recursive=True, mode=mode)
        self.watcher.start()

    def add(self, callback: Callable[[Changes], None]) -> object:
        """Tell somebody of whatever changes from now on; the listener's key."""
        with self._lock:
            if self._looks is None:
                # Until the watcher has begun, its first word is to look again.
                self._looks = ThreadLooks(self._root)
            token = object()
            self.listeners[token] = callback
            return token

    def end(self) -> None:
        self.watcher.stop(wait=False)
        with self._lock:
            self._ended = True
            live = self._memory.known(self._root)
            if live is not None:
                live.reader.watched = False

    def _heard(self, paths: frozenset[str] | None) -> None:
        with self._lock:
            if self._ended:
                return
            live = self._memory.known(self._root)
            if live is not None:
                live.reader.hear(paths)
                # Where it only looks now and then, each call looks for itself.
                live.reader.watched = self.watcher.health.kind == WATCHING
            if self._looks is None:
                return
            changes = self._looks.look(paths)
        if changes:
            for callback in list(self.listeners.values()):
                callback(changes)

"""One watcher for each store, as long as somebody listens."""

from __future__ import annotations

import threading
from contextvars import ContextVar

from wc_core import settings
from wc_observe.stamps import Stamps
from wc_observe.watching import Watcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_observe.addresses import Changes
    from wc_observe.watching import Health


# That of the server that answers the current call.
CURRENT_HEARING: ContextVar[Hearing] = ContextVar("hearing")


class Hearing:
    """Who listens to which store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stores: dict[str, _Store] = {}

    def listen(
        self, root: str, env: Mapping[str, str], callback: Callable[[Changes], None]
    ) -> Callable[[], None]:
        """Call back, on another thread, for what moves in the store at
        ``root`` from now on; it need not exist yet. Returns what ends that.

        ``callback`` must return at once.
        """
        with self._lock:
            store = self._stores.get(root)
            if store is None:
                store = self._stores[root] = _Store(
                    root, settings.load(root, env).watch
                )
            token = object()
            store.listeners[token] = callback

        def end() -> None:
            with self._lock:
                store.listeners.pop(token, None)
                if not store.listeners and self._stores.get(root) is store:
                    del self._stores[root]
                    store.watcher.stop(wait=False)

        return end

    def health(self, root: str) -> Health | None:
        """How changes in a store are noticed; None where nobody listens."""
        store = self._stores.get(root)
        return None if store is None else store.watcher.health

    @property
    def roots(self) -> list[str]:
        """The stores somebody listens to."""
        return list(self._stores)


class _Store:
    def __init__(self, root: str, mode: str) -> None:
        self.listeners: dict[object, Callable[[Changes], None]] = {}
        # Looked at before the watcher runs: its first word is to look again,
        # so whatever comes after this is told.
        self._stamps = Stamps(root)
        self.watcher = Watcher(
            self._stamps.folders, self._heard, recursive=True, mode=mode
        )
        self.watcher.start()

    def _heard(self, paths: frozenset[str] | None) -> None:
        changes = self._stamps.look(paths)
        if changes:
            for callback in list(self.listeners.values()):
                callback(changes)

"""The threads that were read last, with their entries."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from wc_core.base.values import NamedTuple

if TYPE_CHECKING:
    from wc_core.ledger.threads.reader import Thread
    from wc_observe.stores.live.filestamps import Stamp

# The most entries kept, of all threads together.
MOST_ENTRIES = 4_000


class CachedThread(NamedTuple):
    """A thread with its entries, and the stamps of its log and meta."""

    log: Stamp
    meta: Stamp
    thread: Thread


class ThreadCache:
    """Threads by topic. Those that were put longest ago are dropped first."""

    def __init__(self) -> None:
        self._threads: OrderedDict[str, CachedThread] = OrderedDict()
        # How many entries they have. Counted as threads come and go: there may be as
        # many threads as entries, and each call reads one.
        self._count = 0

    def get(self, topic: str) -> CachedThread | None:
        """Returns a thread, ``None`` if it is not there."""
        return self._threads.get(topic)

    def pop(self, topic: str) -> CachedThread | None:
        """Removes a thread and returns it, ``None`` if it is not there."""
        cached = self._threads.pop(topic, None)
        if cached is not None:
            self._count -= len(cached.thread.entries)
        return cached

    def put(self, topic: str, cached: CachedThread) -> None:
        """Adds or replaces a thread, and drops others until there are few enough
        entries."""
        self.pop(topic)
        self._threads[topic] = cached
        self._count += len(cached.thread.entries)
        while self._count > MOST_ENTRIES:
            self.pop(next(iter(self._threads)))

    def clear(self) -> None:
        """Removes all threads."""
        self._threads.clear()
        self._count = 0

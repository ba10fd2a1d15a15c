"""A store kept in memory: what was read stays, what changed is read again.

Nothing is believed for longer than a call. `LiveReader.refresh` finds out what
changed since the last one:

* In a small store the files of every thread are looked at: a millisecond or two.
* In a large one a watcher says which files changed. It may be a moment late, so
  that what wc itself writes is looked for as well: each write leaves a marker
  before it, which stays until the thread is settled.
* Where nothing can be watched the files of every thread are looked at there too.

A log that grew is made entries of from where it ended; one that was replaced,
from the beginning.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from wc_core.errors import WcError
from wc_core.files import names_in
from wc_core.layout import file_name, topic_of
from wc_core.threads import codec, model
from wc_core.threads.reader import Cursor, Snapshot, StoreReader, Thread
from wc_observe.live.filestamps import Stamp, stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable


# So many threads are looked at one by one at each call.
FEW = 100
# Entries of whole threads kept in memory, all threads together.
_MOST_ENTRIES = 4_000
# The time of a folder may stand still for so long while things happen in it.
_YOUNG_NS = 100_000_000


class Stamps(NamedTuple):
    """Those of a thread's log, of its meta, of its page where there is no log,
    and of the folder with its cursors."""

    log: Stamp
    meta: Stamp
    page: Stamp
    cursors: Stamp


class CachedThread(NamedTuple):
    """A thread with its entries, and what its log and meta were like."""

    log: Stamp
    meta: Stamp
    thread: Thread

    def is_of(self, log: Stamp, meta: Stamp) -> bool:
        """Whether that is what files like these say. Of another tool's log its
        meta says more than the log; of ours nothing."""
        if self.log != log:
            return False
        return self.meta == meta or model.written_by_wc(self.thread.entries)


class CachedState(NamedTuple):
    """A thread's state (``None`` where it cannot be read), and what its files
    were like when it was read."""

    stamps: Stamps
    snapshot: Snapshot | None


class LiveReader(StoreReader):
    """A reader that remembers; its answers are as new as the last `refresh`.

    ``watched`` is set by whoever tells it of changes with `hear`: a store of
    more than ``few`` threads is then not looked through at each call.
    """

    def __init__(self, root: str, few: int = FEW) -> None:
        super().__init__(root)
        self._few = few
        self.lock = threading.RLock()
        self.watched = False
        self._heard: set[str] = set()
        self._anything = True
        self._root = self._folder = Stamp()
        self._topics: list[str] = []
        # Why they cannot be listed.
        self._broken: WcError | None = None
        self._kept: dict[str, CachedState] = {}
        self._threads: OrderedDict[str, CachedThread] = OrderedDict()
        self._read_by: frozenset[str] = frozenset()

    @property
    def is_large(self) -> bool:
        """Whether it has more threads than are looked at one by one."""
        return len(self._topics) > self._few

    # --- what changed --------------------------------------------------------

    def hear(self, paths: Iterable[str] | None) -> None:
        """These files changed; ``None``: anything may have."""
        found = {None} if paths is None else {self._topic_at(one) for one in paths}
        with self.lock:
            self._anything = self._anything or None in found
            self._heard |= {one for one in found if one}

    def _topic_at(self, path: str) -> str | None:
        """The thread a file is of; empty for a file of none, ``None`` for a
        folder with threads in it."""
        layout = self.layout
        cursors = f"{layout.local}/cursors"
        for folder in (layout.threads, layout.unsettled, cursors):
            if path.startswith(f"{folder}/"):
                return topic_of(path[len(folder) + 1 :].partition("/")[0])
        if path.startswith(f"{layout.pages}/"):
            return topic_of(path[len(layout.pages) + 1 :].removesuffix(".md"))
        return None if layout.threads.startswith(path) else ""

    def refresh(self) -> set[str]:
        """Find out what changed since the last time: the threads that did, that
        came or went. Where they cannot be listed `topics` says why, and each can
        still be read."""
        with self.lock:
            before = self._topics
            suspects = self._suspects()
            self._read_by = self._readers()
            changed = {one for one in suspects if self._look(one)}
            if before is not self._topics:
                others = {*before} ^ {*self._topics}
                for topic in others:
                    self._kept.pop(topic, None)
                    self._threads.pop(topic, None)
                changed |= others
            return changed

    def _suspects(self) -> Iterable[str]:
        """The threads to look at; which ones there are is known then."""
        heard, self._heard = self._heard, set()
        everything, self._anything = self._anything, False
        root, folder = stamp_of(self.layout.root), stamp_of(self.layout.threads)
        if root.inode != self._root.inode:
            # Another store in the place of the one that was here.
            everything = True
            self._kept.clear()
            self._threads.clear()
        young = folder.mtime_ns > time.time_ns() - _YOUNG_NS
        moved = folder != self._folder or self._broken is not None
        self._root, self._folder = root, folder
        if everything or not self.is_large or not self.watched:
            self._list()
            return self._topics if self._broken is None else [*self._kept]
        if young or moved or not heard <= self._kept.keys():
            self._list()
        return heard.union(self._marked())

    def _list(self) -> None:
        """Find out which threads there are."""
        try:
            self._topics, self._broken = super().topics(), None
        except WcError as error:
            self._broken = error

    def _marked(self) -> Iterable[str]:
        """The threads that wc writes, or has not settled."""
        try:
            return map(topic_of, names_in(self.layout.unsettled, self.layout.root))
        except WcError:
            return self._topics  # nobody knows: all of them

    def _readers(self) -> frozenset[str]:
        """The file names of the threads that anybody has a cursor in."""
        try:
            found = names_in(f"{self.layout.local}/cursors", self.layout.root)
        except WcError:
            return frozenset()  # doctor says what is in its place
        return frozenset(found)

    def _look(self, topic: str) -> bool:
        """Whether a thread is to be read again."""
        kept = self._kept.get(topic)
        if kept is None:
            return True
        # What could not be read may be read now, though nothing was written.
        if kept.snapshot is not None and kept.stamps == self._stamps(topic):
            return False
        del self._kept[topic]
        return True

    def _stamps(self, topic: str) -> Stamps:
        layout = self.layout
        log = stamp_of(layout.log(topic))
        page = stamp_of(layout.page(topic)) if log.size < 0 else Stamp()
        read = file_name(topic) in self._read_by
        cursors = stamp_of(layout.cursors(topic)) if read else Stamp()
        return Stamps(log, stamp_of(layout.meta(topic)), page, cursors)

    # --- what is there -------------------------------------------------------

    def topics(self) -> list[str]:
        """As `StoreReader.topics`."""
        if self._broken is not None:
            raise copy.copy(self._broken)
        return [*self._topics]

    @property
    def known(self) -> list[str]:
        """The threads there are, or were when they could be listed last."""
        return self._topics

    def snapshot(self, topic: str) -> Snapshot:
        """As `StoreReader.snapshot`."""
        kept = self._kept.get(topic)
        if kept is not None and kept.snapshot is not None:
            return kept.snapshot
        # Before reading: what is written meanwhile shows the next time.
        stamps = self._stamps(topic)
        found: Snapshot | None = None
        try:
            known = self._threads.get(topic)
            if known is not None and known.is_of(stamps.log, stamps.meta):
                found = known.thread.snapshot
            else:
                found = super().snapshot(topic)
        finally:
            self._kept[topic] = CachedState(stamps, found)
        return found

    def thread(self, topic: str) -> Thread:
        """As `StoreReader.thread`."""
        log = stamp_of(self.layout.log(topic))
        meta = stamp_of(self.layout.meta(topic))
        with self.lock:
            known = self._threads.pop(topic, None)
        thread = None
        if known is not None:
            same = known.is_of(log, meta)
            thread = known.thread if same else self._extended(topic, known, log)
        if thread is None:
            thread = super().thread(topic)
        if thread.log.size == log.size:
            with self.lock:
                self._threads[topic] = CachedThread(log, meta, thread)
                self._forget()
        return thread

    def _forget(self) -> None:
        """Keep no more than so many entries: those of the last threads read."""
        count = sum(len(one.thread.entries) for one in self._threads.values())
        while count > _MOST_ENTRIES and self._threads:
            _, oldest = self._threads.popitem(last=False)
            count -= len(oldest.thread.entries)

    def _extended(self, topic: str, known: CachedThread, stamp: Stamp) -> Thread | None:
        """The thread with what its log has got since; ``None`` where all of it
        has to be read."""
        thread = known.thread
        # Of another tool's log its meta says more, and that may have changed.
        if known.log.inode != stamp.inode or not model.written_by_wc(thread.entries):
            return None
        added = self._added(topic, thread)
        more = codec.read_log(topic, added)
        if not more.entries or more.damage:
            return None
        state = thread.state
        for one in more.entries:
            parents = (state.last_id,) if one.parents is None else one.parents
            if one.id <= state.last_id or {*parents} != {*state.heads}:
                return None
            state = model.apply(state, one)
        entries = (*thread.entries, *more.entries)
        size = thread.log.size + len(added)
        log = codec.Log(entries, (), size, size)
        snapshot = thread.snapshot._replace(state=state, log_size=size)
        return Thread(snapshot, entries, log, thread.data + added)

    def _added(self, topic: str, thread: Thread) -> bytes:
        """What a log has got since it was read, if that is whole lines behind
        what is still there."""
        log = thread.log
        if thread.damage or not log.size or log.complete != log.size:
            return b""
        data = self.log_bytes(topic) or b""
        if not data.startswith(thread.data) or not data.endswith(b"\n"):
            return b""
        return data[log.size :]

    def cursor(self, topic: str, key: str) -> Cursor:
        """As `StoreReader.cursor`."""
        if file_name(topic) in self._read_by:
            return super().cursor(topic, key)
        return Cursor(key)

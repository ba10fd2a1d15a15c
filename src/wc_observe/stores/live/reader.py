"""A store kept in memory: what was read is cached, what changed is read again.

Nothing is trusted for longer than a call. `LiveReader.refresh` finds out what changed
since the last one:

* In a small store it checks the files of every thread, a millisecond or two.
* In a large one a watcher reports the files that changed. It may be a moment late, so
  `refresh` also looks for what wc itself writes: each write leaves a marker before
  it, which stays until the thread is settled.
* If nothing can be watched, a large store is checked like a small one.

A log that grew is parsed from where it ended; one that was replaced, from the
beginning.
"""

from __future__ import annotations

import copy
import os
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import file_name, topic_of, topics_of
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec, folding, model
from wc_core.ledger.threads.aliases import labelled
from wc_core.ledger.threads.reader import StoreReader, Thread
from wc_core.ledger.threads.snapshot import Cursor
from wc_core.ledger.threads.ways import with_ways
from wc_core.lookup.index.keys import NONE, thread_keys, words_part
from wc_observe.stores.live.filestamps import Stamp, stamp_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from wc_core.lookup.index.overview import Survey

    from wc_core.ledger.threads.snapshot import Snapshot

# The most entries kept, of all threads together, and the bytes of their logs.
MOST_ENTRIES = 4_000
MOST_BYTES = 128 * 1024 * 1024


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
        self._count = self._bytes = 0

    def get(self, topic: str) -> CachedThread | None:
        """Returns a thread, ``None`` if it is not there."""
        return self._threads.get(topic)

    def pop(self, topic: str) -> CachedThread | None:
        """Removes a thread and returns it, ``None`` if it is not there."""
        cached = self._threads.pop(topic, None)
        if cached is not None:
            self._count -= len(cached.thread.entries)
            self._bytes -= len(cached.thread.data)
        return cached

    def put(self, topic: str, cached: CachedThread) -> None:
        """Adds or replaces a thread, and drops others until there are few enough
        entries and bytes."""
        self.pop(topic)
        self._threads[topic] = cached
        self._count += len(cached.thread.entries)
        self._bytes += len(cached.thread.data)
        while self._count > MOST_ENTRIES or self._bytes > MOST_BYTES:
            self.pop(next(iter(self._threads)))

    def clear(self) -> None:
        """Removes all threads."""
        self._threads.clear()
        self._count = self._bytes = 0


# Up to this many threads are checked one by one at each call.
FEW = 100
# A folder's modification time may lag behind its changes by this much.
_YOUNG_NS = 100_000_000


class Stamps(NamedTuple):
    """The stamps of a thread's log, of its meta, of its page if it has no log, of the
    folder with its cursors, and of an older tool's annotations."""

    log: Stamp
    meta: Stamp
    page: Stamp
    cursors: Stamp
    annotations: Stamp


class CachedState(NamedTuple):
    """A thread's state, and the stamps of its files when it was read. ``snapshot``
    is None if it could not be read."""

    stamps: Stamps
    snapshot: Snapshot | None


class LiveReader(StoreReader):
    """A reader with a cache; its answers are as recent as the last `refresh`.

    ``watched`` is set by the watcher that reports changes to `note_changed`. While it
    is true, a store of more than ``few`` threads is not checked file by file at each
    call.
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
        # The error if the threads cannot be listed.
        self._broken: WcError | None = None
        self._kept: dict[str, CachedState] = {}
        # Threads with a name that another thread's files may remove or restore.
        self._renamed: set[str] = set()
        # The index keys of threads that have not changed since.
        self._keys: dict[str, str] = {}
        # Their parts about words.
        self._word_keys: dict[str, str] = {}
        self._threads = ThreadCache()
        self._read_by: frozenset[str] = frozenset()

    @property
    def is_large(self) -> bool:
        """Whether the store has too many threads to check them all at every call."""
        return len(self._topics) > self._few

    # --- what changed --------------------------------------------------------

    def note_changed(self, paths: Iterable[str] | None) -> None:
        """Notes that these files changed; ``None`` means that any file may have."""
        topics = {None} if paths is None else {self._topic_at(path) for path in paths}
        with self.lock:
            self._anything = self._anything or None in topics
            self._heard |= {path for path in topics if path}

    def _topic_at(self, path: str) -> str | None:
        """Returns the thread that a file belongs to; an empty string if there is none,
        ``None`` for a folder that contains threads."""
        layout = self.layout
        cursors = f"{layout.local}/cursors"
        for folder in (layout.threads, layout.unsettled, cursors):
            if path.startswith(f"{folder}/"):
                return topic_of(path[len(folder) + 1 :].partition("/")[0])
        folder, _, name = path.rpartition("/")
        if name.endswith(".md") and folder == layout.pages:
            return topic_of(name.removesuffix(".md"))
        return None if layout.threads.startswith(path) else ""

    def refresh(self) -> set[str]:
        """Returns the threads that were changed, added or removed since the last call.

        If threads cannot be listed, `topics` raises the error; single threads can still
        be read.
        """
        with self.lock:
            before, readers = self._topics, self._read_by
            suspects = self._suspects()
            self._read_by = self._readers()
            same = self._unchanged(suspects, readers | self._read_by)
            changed = {
                suspect
                for suspect in suspects
                if suspect not in same and self._forget_changed(suspect)
            }
            if before is not self._topics:
                came_or_went = {*before} ^ {*self._topics}
                for topic in came_or_went:
                    self._kept.pop(topic, None)
                    self._threads.pop(topic)
                changed |= came_or_went
            self._renamed &= self._kept.keys() | changed
            return changed | self._renamed if changed else changed

    def _suspects(self) -> Collection[str]:
        """Returns the threads to check, after listing the threads if necessary."""
        reported, self._heard = self._heard, set()
        everything, self._anything = self._anything, False
        root, folder = stamp_of(self.layout.root), stamp_of(self.layout.threads)
        if root.inode != self._root.inode:
            # The store was replaced by another one.
            everything = True
            self._kept.clear()
            self._threads.clear()
            self._keys.clear()
            self._word_keys.clear()
        young = folder.mtime_ns > time.time_ns() - _YOUNG_NS
        moved = folder != self._folder or self._broken is not None
        self._root, self._folder = root, folder
        if everything or not self.is_large or not self.watched:
            self._list()
            return self._topics if self._broken is None else [*self._kept]
        if young or moved or not reported <= self._kept.keys():
            self._list()
        return reported.union(self._marked())

    def _list(self) -> None:
        """Lists the threads."""
        try:
            self._topics, self._broken = super().topics(), None
        except WcError as error:
            self._broken = error

    def _marked(self) -> Iterable[str]:
        """Returns the threads that wc is writing or has not settled."""
        try:
            return map(topic_of, names_in(self.layout.unsettled, self.layout.root))
        except WcError:
            return self._topics  # unknown, so all of them

    def _readers(self) -> frozenset[str]:
        """Returns the file names of the threads that have cursors."""
        try:
            names = names_in(f"{self.layout.local}/cursors", self.layout.root)
        except WcError:
            return frozenset()  # wc doctor reports what is in its place
        return frozenset(names)

    def _unchanged(
        self, topics: Iterable[str], readers: frozenset[str]
    ) -> frozenset[str]:
        """Returns the threads whose rows are from the index and whose files still have
        the same keys. Keys do not cover cursors, so threads in ``readers``, the file
        names of threads with cursors, are left out."""
        read = {*topics_of(readers)}
        listed = [
            topic
            for topic in topics
            if topic in self._keys and topic not in self._kept and topic not in read
        ]
        current = thread_keys(self.layout, listed) if listed else {}
        return frozenset(
            topic
            for topic in listed
            if current.get(topic, NONE) != NONE and current[topic] == self._keys[topic]
        )

    def _forget_changed(self, topic: str) -> bool:
        """Drops a thread's cached state if its files changed. Returns whether it has to
        be read again."""
        self._keys.pop(topic, None)
        self._word_keys.pop(topic, None)
        kept = self._kept.get(topic)
        if kept is None:
            return True
        # An unreadable thread may be readable now, although nothing was written.
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
        meta, annotations = layout.meta(topic), layout.annotations(topic)
        return Stamps(log, stamp_of(meta), page, cursors, stamp_of(annotations))

    def keys(self, topics: Iterable[str]) -> dict[str, str]:
        """Returns the key of each of these threads, see `wc_core.lookup.index.keys`."""
        with self.lock:
            missing = [topic for topic in topics if topic not in self._keys]
            if missing:
                self._keys |= thread_keys(self.layout, missing)
            return self._keys

    def word_keys(self, topics: Iterable[str]) -> dict[str, str]:
        """Returns the part of each key that is about the words of a thread."""
        with self.lock:
            keys = self.keys(topics)
            for topic in topics:
                if topic not in self._word_keys and topic in keys:
                    self._word_keys[topic] = words_part(keys[topic])
            return self._word_keys

    def note_listed(self, survey: Survey) -> None:
        """Notes the keys of threads whose rows are from the index."""
        with self.lock:
            for topic in survey.records:
                # Rows made from files with another key have to be made again.
                self._keys.setdefault(topic, survey.keys[topic])

    def note_renamed(self, topics: Iterable[str]) -> None:
        """Notes threads that have names besides their topic."""
        self._renamed.update(topics)

    # --- what is there -------------------------------------------------------

    def topics(self) -> list[str]:
        """Like `StoreReader.topics`."""
        if self._broken is not None:
            raise copy.copy(self._broken)
        return [*self._topics]

    @property
    def listed_topics(self) -> list[str]:
        """The threads as last listed."""
        return self._topics

    def has(self, topic: str) -> bool:
        """Like `StoreReader.has`."""
        # Nearly always. Opening its folder, too, would wake the watcher.
        is_link = os.path.islink(self.layout.folder(topic))
        if not is_link and stamp_of(self.layout.log(topic)).size > 0:
            return True
        return super().has(topic)

    def snapshot(self, topic: str) -> Snapshot:
        """Like `StoreReader.snapshot`."""
        kept = self._kept.get(topic)
        if kept is not None and kept.snapshot is not None:
            # Its names may now belong to another thread.
            renamed = kept.snapshot.state.names
            return self._relabelled(kept.snapshot) if renamed else kept.snapshot
        # Taken before reading, so that the next call shows a write in between.
        stamps = self._stamps(topic)
        snapshot: Snapshot | None = None
        try:
            cached = self._threads.get(topic)
            if cached is not None and self._is_current(cached, stamps.log, stamps.meta):
                snapshot = self._relabelled(cached.thread.snapshot)
            else:
                snapshot = super().snapshot(topic)
        finally:
            self._kept[topic] = CachedState(stamps, snapshot)
        if snapshot.state.names:
            self._renamed.add(topic)
        return snapshot

    def _is_current(self, cached: CachedThread, log: Stamp, meta: Stamp) -> bool:
        """Returns whether files with these stamps have the cached content.

        A meta beside a log of wc adds nothing to it; one of another tool does.
        """
        if cached.log != log or cached.meta == meta:
            return cached.log == log
        return model.written_by_wc(cached.thread.entries)

    def _relabelled(self, snapshot: Snapshot) -> Snapshot:
        """Returns a cached snapshot with the thread's current labels."""
        with self._open(self.layout.folder(snapshot.topic)) as folder:
            return labelled(self, folder, snapshot)

    def thread(self, topic: str) -> Thread:
        """Like `StoreReader.thread`."""
        log = stamp_of(self.layout.log(topic))
        meta = stamp_of(self.layout.meta(topic))
        with self.lock:
            cached = self._threads.pop(topic)
        thread = None
        if cached is not None:
            unchanged = self._is_current(cached, log, meta)
            thread = cached.thread if unchanged else self._extended(topic, cached, log)
        if thread is None:
            thread = super().thread(topic)
        else:
            thread = thread._replace(snapshot=self._relabelled(thread.snapshot))
        if thread.log.size == log.size:
            with self.lock:
                self._threads.put(topic, CachedThread(log, meta, thread))
        # How they came may be known only after the entries themselves.
        return thread._replace(entries=with_ways(thread.entries, self.layout))

    def _extended(
        self, topic: str, cached: CachedThread, stamp: Stamp
    ) -> Thread | None:
        """Returns the thread with the entries appended to its log; ``None`` if all of
        it has to be read."""
        thread = cached.thread
        # The meta beside another tool's log counts as well, and may have changed.
        if cached.log.inode != stamp.inode or not model.written_by_wc(thread.entries):
            return None
        added = self._added(topic, thread)
        tail = codec.read_log(topic, added)
        if not tail.entries or tail.damage:
            return None
        state = thread.state
        for entry in tail.entries:
            parents = (state.last_id,) if entry.parents is None else entry.parents
            if entry.id <= state.last_id or {*parents} != {*state.heads}:
                return None
            state = folding.apply(state, entry)
        entries = (*thread.entries, *tail.entries)
        size = thread.log.size + len(added)
        ordered = thread.log.ordered and tail.ordered
        log = codec.Log(entries, (), size, size, ordered)
        snapshot = thread.snapshot._replace(state=state, log_size=size)
        return Thread(snapshot, entries, log, thread.data + added)

    def _added(self, topic: str, thread: Thread) -> bytes:
        """Returns the bytes appended to a log since it was read, if they are whole
        lines and the bytes before them are unchanged; otherwise nothing."""
        log = thread.log
        if thread.damage or not log.size or log.complete != log.size:
            return b""
        data = self.log_bytes(topic) or b""
        if not data.startswith(thread.data) or not data.endswith(b"\n"):
            return b""
        return data[log.size :]

    def cursor(self, topic: str, key: str) -> Cursor:
        """Like `StoreReader.cursor`."""
        if file_name(topic) in self._read_by:
            return super().cursor(topic, key)
        return Cursor(key)

"""Decides for which threads the cache counts, without looking at every thread.

Each writer of ours leaves a marker of a thread before it changes the log. That stays
until the thread is settled, and then becomes a trace in the folder `Layout.traces`
until the cache has the thread. So a thread without either is as the cache has it,
unless another program changed it: the cache has the stamp of git's files for the
store, which such a program moves. If that has moved too, the keys of all logs are
compared. A program that moves nothing, such as an editor, is found when the cache is
next brought up to date, after each write and every ten minutes in which the store is
read; where there are few threads, they are compared each time.
"""

from __future__ import annotations

import os
from itertools import repeat

from wc_core.base.errors import WcError
from wc_core.base.files import age_of, names_in
from wc_core.base.layout import topic_of
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository
from wc_core.ledger.index.cache import Cache, UnusableCacheError
from wc_core.ledger.index.fields import COLUMNS, ThreadFields
from wc_core.ledger.index.keys import NONE, thread_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.reader import StoreReader

# Comparing the keys of so many takes a millisecond.
FEW = 200
# A list begins a comparison in the background if the last one is longer ago.
_COMPARED_SECONDS = 600.0


class CacheState(NamedTuple):
    """The ``cache``, or ``None`` if it cannot be used; the threads that are ``direct``:
    their files must be read; and the ``gone`` ones that only the cache still has."""

    cache: Cache | None
    direct: Collection[str]
    gone: frozenset[str] = frozenset()
    # How many of the direct ones the cache could have.
    unindexed: int = 0

    @property
    def outdated(self) -> frozenset[str]:
        """The threads whose rows in the cache do not count."""
        return self.gone.union(self.direct)

    def fields(self, conditions: str, *values: Any) -> list[ThreadFields]:
        """Returns the threads in the cache that count, and for which ``conditions``
        hold: what follows ``SELECT … FROM threads``. Raises UnusableCacheError."""
        rows = self.rows(COLUMNS, conditions, *values)
        # `_make` takes three times as long.
        return [*map(tuple.__new__, repeat(ThreadFields), rows)]

    def rows(
        self, columns: str, conditions: str, *values: Any
    ) -> list[tuple[Any, ...]]:
        """Returns only these columns of them, of which the first is ``topic``."""
        if self.cache is None:
            return []
        question = f"SELECT {columns} FROM threads {conditions}"
        rows, outdated = self.cache.ask(question, *values), self.outdated
        return [row for row in rows if row[0] not in outdated] if outdated else rows


def freshness(reader: StoreReader) -> CacheState:
    """Returns what the cache of a store can answer for. Raises StorageError and
    CorruptError if the threads cannot be listed."""
    layout = reader.layout
    try:
        # In the order in which threads pass from one to the next.
        folders = (layout.unsettled, layout.traces)
        touched = {topic for folder in folders for topic in topics_in(layout, folder)}
        touched = {topic for topic in touched if not reader.is_hidden(topic)}
        stamp = store_stamp(layout)
        cache = Cache(layout)
        is_large = _has_many(cache)
        if is_large and cache.stamp == stamp:
            rows = cache.ask("SELECT topic FROM direct")
            direct = sorted(touched.union(topic for (topic,) in rows))
            is_old = age_of(layout.cache) > _COMPARED_SECONDS
            return CacheState(cache, direct, unindexed=FEW if is_old else 0)
        kept = dict(cache.ask("SELECT topic, key FROM threads"))
    except (UnusableCacheError, WcError, OSError):
        # Without what writers leave, the cache is not believed.
        topics = reader.topics()
        return CacheState(None, topics, unindexed=len(topics))
    topics, names = reader.topics_and_folders()
    keys = thread_keys(layout, topics, names)
    direct = [
        topic
        for topic in topics
        if topic in touched
        or NONE in {keys[topic], kept.get(topic, NONE)}
        or kept[topic] != keys[topic]
    ]
    gone = frozenset(kept).difference(topics)
    # Whoever settles the touched threads brings the cache up to date.
    is_behind = is_large and not touched
    missing = FEW if is_behind else sum(topic not in touched for topic in direct)
    return CacheState(cache, direct, gone, missing)


def _has_many(cache: Cache) -> bool:
    ((count,),) = cache.ask("SELECT count(*) FROM (SELECT 1 FROM threads LIMIT ?)", FEW)
    return bool(count == FEW)


def topics_in(layout: Layout, folder: str) -> list[str]:
    """Returns the topics that the files in a folder are named after. Raises
    StorageError and CorruptError."""
    return [topic_of(name) for name in names_in(folder, layout.root)]


def store_stamp(layout: Layout) -> str:
    """Returns what changes when git changes the store, or a thread comes or goes."""
    paths = [layout.threads]
    checkout = repository.find(layout.root)
    if checkout is not None:
        paths += [f"{checkout.gitdir}/HEAD", f"{checkout.gitdir}/logs/HEAD"]
        if checkout.top == layout.root:
            # Of a store in the code's own branch, it changes with the code.
            paths.append(f"{checkout.gitdir}/index")
    return ",".join(map(_file_stamp, paths))


def _file_stamp(path: str) -> str:
    try:
        info = os.stat(path)
    except OSError:
        return ""
    return f"{info.st_ino}.{info.st_size}.{info.st_mtime_ns}"

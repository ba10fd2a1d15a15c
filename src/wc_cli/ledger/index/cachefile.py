"""Writes the cache of a store: `wc_core.ledger.index.cache` has its format.

The process that settles writes it after the logs, and makes it if it is missing. What
cannot be written here is read from the logs.
"""

from __future__ import annotations

import os
import time
from binascii import crc32

from wc_cli.ledger.index.pieces import Piece, added_piece, whole_piece
from wc_cli.ledger.store import durable, locks
from wc_core.attention.status.places import places_of
from wc_core.base import ulid
from wc_core.base.errors import StorageError, WcError
from wc_core.base.layout import file_name
from wc_core.base.lean import contextlib, sqlite3
from wc_core.base.values import NamedTuple
from wc_core.ledger.index import cache as format_
from wc_core.ledger.index import keys
from wc_core.ledger.index.cache import COLUMNS, NOWHERE, Cache, UnusableCacheError
from wc_core.ledger.index.fields import ThreadFields, can_have, fields_of
from wc_core.ledger.index.freshness import freshness, store_stamp, topics_in
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.mentions import recorded
from wc_core.lookup.threadwords import thread_words
from wc_core.lookup.words import plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry, State
    from wc_core.lookup.threadwords import ThreadWords

    # Returns nanoseconds since 1970.
    Clock = Callable[[], int]

# Nobody waits longer while the cache is made again.
_PATIENCE_SECONDS = 1.0
_BUSY_SECONDS = 2.0
# Relative to ``.local``: what an older wc kept in place of the cache.
_FORMER = (
    *("status", "links", "index/settled", "index/overview", "index/entries.db"),
    *("index/behind", "index/decisions"),
)
# How many threads are written in one transaction, during which nobody can read.
_BATCH = 200
# How many words of replaced entries are tolerated before the file is made again.
_MOST_DEAD = 10_000
# The numbers of the entries of one second.
_SECOND_BITS = 10
# Reading this many threads takes milliseconds.
_FEW_THREADS = 100
_THREAD_COLUMNS = (
    *ThreadFields._fields,
    *("number", "key", "changed_ns", "size", "check_sum"),
)
_ADD_THREAD = (
    f"INSERT OR REPLACE INTO threads({', '.join(_THREAD_COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(_THREAD_COLUMNS))})"
)
_ADD_ENTRY = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_WORDS = (
    f"INSERT INTO words(rowid, {', '.join(COLUMNS)}) "
    f"VALUES (?, {', '.join('?' * len(COLUMNS))})"
)
_ADD_VOCABULARY = "INSERT OR IGNORE INTO vocabulary VALUES (?)"
_LAST_NUMBER = (
    "SELECT max(number) FROM "
    "(SELECT max(number) AS number FROM entries WHERE number BETWEEN ?1 AND ?2 "
    "UNION ALL SELECT max(number) FROM dropped WHERE number BETWEEN ?1 AND ?2)"
)


def refresh(root: str, clock: Clock = time.time_ns) -> set[str]:
    """Bring the cache up to date; make it if it is missing, cannot be used, or is
    mostly about replaced logs. Returns the threads that it lacked. Raises WcError."""
    reader = StoreReader(root)
    with _locked(reader.layout):
        _remove_former(reader.layout)
        try:
            with _opened(reader.layout) as database:
                writer = _CacheWriter(reader, database, clock)
                if not writer.is_mostly_dead():
                    return writer.update()
        except (UnusableCacheError, sqlite3.Error):
            pass  # it is replaced
        return _make(reader, clock)


def remake(root: str) -> None:
    """Make the cache, including very recent writes. Raises WcError."""
    reader = StoreReader(root)
    if not reader.topics():
        return
    with _locked(reader.layout):
        time.sleep(keys.TICK_SECONDS)
        _make(reader, time.time_ns)


def _remove_former(layout: Layout) -> None:
    """Remove what an older wc kept in place of the cache, as far as that is
    possible."""
    for name in _FORMER:
        with contextlib.suppress(WcError, OSError):
            durable.remove_tree(f"{layout.local}/{name}", layout.root)


def problem(root: str) -> str:
    """Return why reading the store is slower than it could be; empty if it is not."""
    reader = StoreReader(root)
    try:
        fresh = freshness(reader)
        if fresh.cache is not None:
            fresh.cache.check()
        elif len(fresh.direct) > _FEW_THREADS:
            Cache(reader.layout)
    except WcError:
        return ""  # problems of the folders are among the findings
    except UnusableCacheError as error:
        if os.path.exists(f"{reader.layout.cache}-journal"):
            return "index: a write was interrupted, which the next write repairs"
        reason = error if _has_fts5() else "this Python's SQLite lacks FTS5"
        return f"index: lists and searches read every log: {reason}"
    if fresh.unindexed >= _FEW_THREADS:
        return f"index: lists read {fresh.unindexed} threads that it does not have"
    return ""


def _has_fts5() -> bool:
    database = sqlite3.connect(":memory:")
    modules = database.execute("SELECT name FROM pragma_module_list").fetchall()
    database.close()
    return ("fts5",) in modules


@contextlib.contextmanager
def _locked(layout: Layout) -> Iterator[None]:
    """Hold the lock for changing the cache. Raises LockTimeoutError."""
    lock = layout.index_lock
    with locks.locked(lock, "indexing", _PATIENCE_SECONDS, layout.root):
        yield


def _make(reader: StoreReader, clock: Clock) -> set[str]:
    """Make the file beside the one in use, and move it there. Returns all threads.
    Raises WcError."""
    layout = reader.layout
    durable.make_folder(layout.local, layout.root, flush=False)
    half = f"{layout.cache}.half"
    for path in (half, f"{half}-journal"):
        durable.remove(path, layout.root)
    try:
        with _connected(half, "rwc") as database:
            # Nobody sees the file before it is complete.
            database.execute("PRAGMA journal_mode = off")
            database.execute("PRAGMA synchronous = off")
            for statement in format_.SCHEMA.split(";"):
                database.execute(statement)
            inode = os.lstat(half).st_ino
            database.execute("INSERT INTO facts VALUES (?, '')", (inode,))
            lacking = _CacheWriter(reader, database, clock).update()
            database.execute("INSERT INTO words(words) VALUES ('optimize')")
            # A fifth of the file.
            database.execute("VACUUM")
            # Flushes all of the file. Without a version it is not used.
            database.execute("PRAGMA synchronous = full")
            database.execute(f"PRAGMA user_version = {format_.VERSION}")
    except (sqlite3.Error, OSError) as error:
        durable.remove(half, layout.root)
        raise StorageError(f"{half} could not be written: {error}.") from error
    # A journal left by a killed process would be applied to the new file, and the old
    # file is incomplete without it. So both go, the file first.
    for path in (layout.cache, f"{layout.cache}-journal"):
        durable.remove(path, layout.root)
    durable.move(half, layout.cache, layout.root)
    return lacking


@contextlib.contextmanager
def _opened(layout: Layout) -> Iterator[sqlite3.Connection]:
    """The file, if it can be used. Raises UnusableCacheError and `sqlite3.Error`."""
    with _connected(format_.checked_path(layout), "rw") as database:
        # Completes what a killed process began.
        database.execute("SELECT count(*) FROM facts").fetchall()
        Cache(layout)
        yield database


@contextlib.contextmanager
def _connected(path: str, mode: str) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(
        format_.file_uri(path, mode),
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
    )
    try:
        # Readers wait for the end of a transaction only, not for all of it.
        database.execute("PRAGMA cache_spill = off")
        yield database
    finally:
        database.close()


class _CachedThread(NamedTuple):
    """The part of a thread that is in the cache: ``size`` bytes of its log, whose
    CRC-32 is ``check_sum``."""

    number: int
    key: str
    last_id: str
    size: int
    check_sum: int


class _CacheWriter:
    """Writes into an open file. No other process may."""

    def __init__(
        self, reader: StoreReader, database: sqlite3.Connection, clock: Clock
    ) -> None:
        self._reader = reader
        self._db = database
        self._clock = clock
        self._numbers: dict[int, int] = {}
        # The words that were written.
        self._vocabulary: set[str] = set()

    def is_mostly_dead(self) -> bool:
        """Return whether most of the words are those of replaced entries."""
        ((dead,),) = self._db.execute("SELECT count(*) FROM dropped").fetchall()
        if dead <= _MOST_DEAD:
            return False
        ((live,),) = self._db.execute("SELECT count(*) FROM entries").fetchall()
        return bool(dead > live)

    def update(self) -> set[str]:
        """Write what the file lacks. Returns the threads that it lacked."""
        layout, now_ns = self._reader.layout, self._clock()
        # Before the keys: whatever changes later moves the stamp, or leaves a marker.
        traced = topics_in(layout, layout.traces)
        stamp = store_stamp(layout)
        topics, folders = self._reader.topics_and_folders()
        current = keys.thread_keys(layout, topics, folders)
        cached = dict(self._db.execute("SELECT topic, key FROM threads").fetchall())
        with self._transaction():
            for topic in cached:
                if current.get(topic, keys.NONE) == keys.NONE:
                    self._drop(topic)
        usable = {t: key for t, key in current.items() if key != keys.NONE}
        lacking = {t: key for t, key in usable.items() if key != cached.get(t)}
        pending = [t for t, key in lacking.items() if keys.is_settled(key, now_ns)]
        for start in range(0, len(pending), _BATCH):
            batch = {topic: lacking[topic] for topic in pending[start : start + _BATCH]}
            with self._transaction():
                self._write(batch)
        rows = self._db.execute("SELECT topic, key FROM threads").fetchall()
        written = {topic for topic, key in rows if key == current[topic]}
        with self._transaction():
            self._db.execute("DELETE FROM direct")
            direct = [(topic,) for topic in topics if topic not in written]
            self._db.executemany("INSERT INTO direct VALUES (?)", direct)
            self._db.execute("UPDATE facts SET stamp = ?", (stamp,))
        for topic in traced:
            durable.remove(f"{layout.traces}/{file_name(topic)}", layout.root)
        return {*lacking}

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _write(self, batch: Mapping[str, str]) -> None:
        """Write these threads, with their keys."""
        words: list[tuple[Any, ...]] = []
        for topic, key in batch.items():
            # A thread that cannot be read now is read, and reported, by each list.
            try:
                words += self._write_thread(topic, key)
            except WcError:
                self._drop(topic)
        # Each number that is less than the one before would end a segment.
        self._db.executemany(_ADD_WORDS, sorted(words))
        texts = (text for _, *columns in words for text in columns)
        new = {word for text in texts for word in text.split()} - self._vocabulary
        self._db.executemany(_ADD_VOCABULARY, ((word,) for word in sorted(new)))
        self._vocabulary |= new

    def _write_thread(self, topic: str, key: str) -> list[tuple[Any, ...]]:
        """Write a thread without the words of its entries. Returns these."""
        cached = self._cached(topic)
        data = self._reader.log_bytes(topic) or b""
        snapshot = self._reader.snapshot(topic)
        size = keys.log_size(key)
        if not (len(data) == snapshot.log_size == size and can_have(snapshot)):
            self._drop(topic)
            return []
        piece = self._added(topic, cached, key, data)
        if piece is None:
            self._drop(topic)
            cached, piece = None, whole_piece(self._reader, snapshot, data)
        number = self._next_thread() if cached is None else cached.number
        is_plain = piece.end != NOWHERE
        check = crc32(data[: piece.end]) if is_plain else 0
        changed_ns = keys.log_changed_ns(key)
        thread = (*fields_of(snapshot), number, key, changed_ns, piece.end, check)
        own_words = thread_words(snapshot)
        rows, words = [], []
        for entry, start in zip(piece.entries, piece.starts, strict=True):
            entry_number = self._next_number(entry.id)
            rows.append(
                (
                    *(entry_number, number, entry.id, start),
                    *(entry.code_branch, entry.any_kind, entry.severity),
                    entry.agent,
                )
            )
            texts = _words(entry, own_words)
            words.append((entry_number, *texts))
        self._db.execute(_ADD_THREAD, thread)
        self._write_others(number, snapshot.state)
        self._db.executemany(_ADD_ENTRY, rows)
        return words

    def _write_others(self, number: int, state: State) -> None:
        """Write where a thread is, and what it is linked to."""
        self._delete_others(number)
        places = places_of(state) if state.status != CLOSED else ()
        links = dict.fromkeys(link.topic for link in state.links)
        for table, values in (("places", places), ("links", links)):
            rows = ((value, number) for value in values)
            self._db.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)

    def _delete_others(self, number: int) -> None:
        for table in ("places", "links"):
            self._db.execute(f"DELETE FROM {table} WHERE thread = ?", (number,))

    def _added(
        self, topic: str, cached: _CachedThread | None, key: str, data: bytes
    ) -> Piece | None:
        """The part that was appended to a log; ``None`` if all of it must be read."""
        if cached is None or cached.size == NOWHERE:
            return None
        # An older tool's tags are among the words of all entries.
        if _tags_part(cached.key) != _tags_part(key):
            return None
        if len(data) < cached.size or crc32(data[: cached.size]) != cached.check_sum:
            return None
        return added_piece(topic, data[cached.size :], cached.size, cached.last_id)

    def _cached(self, topic: str) -> _CachedThread | None:
        rows = self._db.execute(
            "SELECT number, key, last_id, size, check_sum FROM threads WHERE topic = ?",
            (topic,),
        ).fetchall()
        return _CachedThread(*rows[0]) if rows else None

    def _drop(self, topic: str) -> None:
        """Drop a thread. Its words stay, under numbers that no entry has."""
        cached = self._cached(topic)
        if cached is not None:
            self._delete_others(cached.number)
            number = (cached.number,)
            self._db.execute(
                "INSERT INTO dropped SELECT number FROM entries WHERE thread = ?",
                number,
            )
            self._db.execute("DELETE FROM entries WHERE thread = ?", number)
            self._db.execute("DELETE FROM threads WHERE number = ?", number)

    def _next_thread(self) -> int:
        ((highest,),) = self._db.execute("SELECT max(number) FROM threads").fetchall()
        return int(highest or 0) + 1

    def _next_number(self, entry_id: str) -> int:
        """The number of a new entry: the next one of its second."""
        written = ulid.prefix(entry_id)
        second = ulid.timestamp_ms(written) // 1000 if written else 0
        while True:
            first = second << _SECOND_BITS
            highest = first + (1 << _SECOND_BITS) - 1
            if second not in self._numbers:
                rows = self._db.execute(_LAST_NUMBER, (first, highest)).fetchall()
                self._numbers[second] = rows[0][0] or first - 1
            if self._numbers[second] < highest:
                self._numbers[second] += 1
                return self._numbers[second]
            second += 1


def _tags_part(key: str) -> str:
    """Return the part of a key that stands for an older tool's tags."""
    return key.partition(",")[2].partition(",")[2]


def _words(entry: Entry, thread: ThreadWords) -> tuple[str, ...]:
    texts = {
        "title": entry.title,
        "body": entry.body,
        "topic": thread.names,
        "author": entry.agent,
        "tag": thread.tags,
        "recorded": recorded(entry),
    }
    return tuple(plain_words(texts[column]).strip() for column in COLUMNS)

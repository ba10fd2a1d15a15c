"""Writes the part of the index that has the words of each entry."""

from __future__ import annotations

import time
from binascii import crc32

from wc_cli.ledger.index.commonwords import LARGE, common_words
from wc_cli.ledger.store import durable
from wc_core.base import ulid
from wc_core.base.errors import StorageError, WcError
from wc_core.base.lean import contextlib, sqlite3
from wc_core.base.values import NamedTuple
from wc_core.ledger.index import keys
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.folding import in_effect_order
from wc_core.ledger.threads.model import Entry
from wc_core.lookup.index import entries as entryfile
from wc_core.lookup.index.entries import UnusableIndexError
from wc_core.lookup.index.expressions import CommonWords, indexed_words
from wc_core.lookup.search.mentions import recorded
from wc_core.lookup.search.threadwords import thread_words
from wc_core.reading.views.entries import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_cli.ledger.index.cachefile import Clock
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.search.threadwords import ThreadWords

# How many rows of replaced logs are tolerated before the file is rebuilt.
_MOST_DEAD = 10_000
# How many threads are written in one transaction, during which nobody can read.
_BATCH = 200
_BUSY_SECONDS = 2.0
# Including dropped threads: their words are still there.
_LAST_NUMBER = (
    "SELECT max(number) FROM "
    "(SELECT number FROM threads UNION ALL SELECT number FROM dropped)"
)
_ADD_THREAD = "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, ?)"
_ADD_ENTRY = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)"
# In the order of `entryfile.COLUMNS`.
_ADD_WORDS = (
    "INSERT INTO words(rowid, body, title, topic, author, tag, recorded) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class Piece(NamedTuple):
    """Entries to index, the offset of each in its log, and the offset of their end."""

    entries: Sequence[Entry]
    starts: Sequence[int]
    end: int


class KeptThread(NamedTuple):
    """The indexed part of a thread: ``size`` bytes of its log, whose CRC-32 is
    ``check``, with this number of ``entries``."""

    number: int
    key: str
    last_id: str
    size: int
    check: int
    entries: int


def update(
    reader: StoreReader,
    topics: Iterable[str],
    clock: Clock = time.time_ns,
    large: int = LARGE,
) -> set[str]:
    """Index what is new in these threads. Very recent changes are left to the next
    time. If the file must be made, it has pairs if there are ``large`` entries. Returns
    the threads whose logs are not completely indexed. Raises WcError."""
    try:
        with _opened(reader) as database:
            return EntryWriter(reader, database, clock).update(topics)
    except (UnusableIndexError, sqlite3.Error):
        return rebuild(reader, clock, large)


def rebuild(
    reader: StoreReader, clock: Clock = time.time_ns, large: int = LARGE
) -> set[str]:
    """Bring the file up to date for all threads. Rebuilds it if it is unusable, mostly
    about replaced logs, or made before there were ``large`` entries. Returns the same
    as `update`. Raises WcError."""
    topics = reader.topics()
    try:
        with _opened(reader) as database:
            writer = EntryWriter(reader, database, clock)
            writer.forget_others(topics)
            is_outgrown = not writer.common and common_words(reader, large)
            if not (is_outgrown or writer.is_mostly_dead()):
                return writer.update(topics)
    except (UnusableIndexError, sqlite3.Error):
        pass  # it is replaced
    return remake(reader, clock, large)


def remake(
    reader: StoreReader, clock: Clock = time.time_ns, large: int = LARGE
) -> set[str]:
    """Build the file beside the one in use, and move it there; with pairs if there are
    ``large`` entries. Returns the same as `update`. Raises WcError."""
    layout = reader.layout
    durable.make_folder(layout.index_folder, layout.root, flush=False)
    half = f"{layout.entry_index}.half"
    for path in (half, f"{half}-journal"):
        durable.remove(path, layout.root)
    try:
        with _connected(half, "rwc") as database:
            # Nobody sees the file before it is complete.
            database.execute("PRAGMA journal_mode = off")
            database.execute("PRAGMA synchronous = off")
            database.executescript(entryfile.SCHEMA)
            common = ((word,) for word in common_words(reader, large))
            database.executemany("INSERT INTO common VALUES (?)", common)
            lacking = EntryWriter(reader, database, clock).update(reader.topics())
            # Searches then take three quarters of the time.
            database.execute("INSERT INTO words(words) VALUES ('optimize')")
            # Flushes all of the file. Without a version it is not used.
            database.execute("PRAGMA synchronous = full")
            database.execute(f"PRAGMA user_version = {entryfile.VERSION}")
    except sqlite3.Error as error:
        durable.remove(half, layout.root)
        raise StorageError(f"{half} could not be written: {error}.") from error
    # A journal left by a killed process would be applied to the new file, and the old
    # file is incomplete without it. So both go, the file first.
    for path in (layout.entry_index, f"{layout.entry_index}-journal"):
        durable.remove(path, layout.root)
    durable.move(half, layout.entry_index, layout.root)
    return lacking


@contextlib.contextmanager
def _opened(reader: StoreReader) -> Iterator[sqlite3.Connection]:
    """The file, if it exists and has this version. Raises UnusableIndexError and
    `sqlite3.Error`."""
    with _connected(entryfile.checked_path(reader.layout), "rw") as database:
        ((version,),) = database.execute("PRAGMA user_version").fetchall()
        if version != entryfile.VERSION:
            raise UnusableIndexError(f"it has version {version}")
        yield database


@contextlib.contextmanager
def _connected(path: str, mode: str) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(
        entryfile.file_uri(path, mode),
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
    )
    try:
        yield database
    finally:
        database.close()


class EntryWriter:
    """Writes into an open file. No other process may."""

    def __init__(
        self, reader: StoreReader, database: sqlite3.Connection, clock: Clock
    ) -> None:
        self._reader = reader
        self._db = database
        self._clock = clock
        rows = database.execute("SELECT word FROM common").fetchall()
        # The words of this file whose pairs are indexed.
        self.common = CommonWords(word for (word,) in rows)

    def is_mostly_dead(self) -> bool:
        """Return whether most of the words belong to replaced logs."""
        ((dead,),) = self._db.execute("SELECT sum(entries) FROM dropped").fetchall()
        ((live,),) = self._db.execute("SELECT count(*) FROM entries").fetchall()
        return int(dead or 0) > max(_MOST_DEAD, int(live))

    def forget_others(self, topics: Iterable[str]) -> None:
        """Drop the threads that are not among the ``topics``."""
        kept = {topic for (topic,) in self._db.execute("SELECT topic FROM threads")}
        with self._transaction():
            for topic in kept.difference(topics):
                self._drop(topic)

    def update(self, topics: Iterable[str]) -> set[str]:
        """Index what is new in these threads. Returns the threads whose logs are not
        completely indexed."""
        now_ns = self._clock()
        with keys.ThreadFiles(self._reader.layout) as files:
            current = files.keys(topics)
        pending = [
            (topic, key)
            for topic, key in current.items()
            if key and keys.is_settled(key, now_ns)
        ]
        lacking = {topic: keys.words_part(key) for topic, key in current.items() if key}
        for start in range(0, len(pending), _BATCH):
            with self._transaction():
                for topic, key in pending[start : start + _BATCH]:
                    # If a log cannot be read now, a search will read and report it.
                    with contextlib.suppress(WcError):
                        self._update_thread(topic, keys.words_part(key))
        for topic, key in self._db.execute("SELECT topic, key FROM threads"):
            if lacking.get(topic) == key:
                del lacking[topic]
        return set(lacking)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _kept(self, topic: str) -> KeptThread | None:
        rows = self._db.execute(
            "SELECT number, key, last_id, size, check_sum, entries FROM threads "
            "WHERE topic = ?",
            (topic,),
        ).fetchall()
        return KeptThread(*rows[0]) if rows else None

    def _update_thread(self, topic: str, key: str) -> None:
        kept = self._kept(topic)
        if kept is not None and kept.key == key:
            return
        data = self._reader.log_bytes(topic) or b""
        if len(data) != keys.log_size(key):
            self._drop(topic)
            return
        # Tags are among the words of all entries.
        is_same = kept is not None and _tags_part(kept.key) == _tags_part(key)
        piece = self._tail(topic, kept, data) if is_same else None
        if piece is None:
            self._drop(topic)
            kept, piece = None, self._whole(topic, data)
        if kept is None:
            ((highest,),) = self._db.execute(_LAST_NUMBER).fetchall()
            kept = KeptThread((highest or 0) + 1, "", "", 0, 0, 0)
        self._add(topic, key, data, kept, piece)

    def _drop(self, topic: str) -> None:
        """Drop a thread. Its words stay, under numbers that no thread has."""
        kept = self._kept(topic)
        if kept is not None:
            first = kept.number * entryfile.ENTRIES
            end = first + entryfile.ENTRIES
            self._db.execute(
                "DELETE FROM entries WHERE number >= ? AND number < ?", (first, end)
            )
            self._db.execute("DELETE FROM threads WHERE topic = ?", (topic,))
            self._db.execute(
                "INSERT INTO dropped VALUES (?, ?)", (kept.number, kept.entries)
            )

    def _tail(self, topic: str, kept: KeptThread | None, data: bytes) -> Piece | None:
        """The part that was appended to a log; ``None`` if all of it must be read."""
        if kept is None or kept.size == entryfile.NOWHERE:
            return None
        if len(data) < kept.size or crc32(data[: kept.size]) != kept.check:
            return None
        piece = _parse_piece(topic, data[kept.size :], kept.size)
        if piece is None:
            return None
        previous = kept.last_id
        for entry in piece.entries:
            # Something that changes the words of earlier entries, or is older than they
            # are.
            if _changes_others(entry) or entry.id <= previous:
                return None
            previous = entry.id
        return piece

    def _whole(self, topic: str, data: bytes) -> Piece:
        """All of a thread."""
        piece = _parse_piece(topic, data, 0)
        if piece is None or not _are_plain(piece.entries):
            # Torn, corrected, with duplicate or foreign ids, or from a clock that was
            # wrong: the shown entries differ from the lines, or their ids do not say
            # which of them were written after another.
            visible = numbered(self._reader.thread(topic))
            entries = [item.entry for item in visible if not item.retracted]
            starts = [entryfile.NOWHERE] * len(entries)
            piece = Piece(entries, starts, entryfile.NOWHERE)
        return piece

    def _add(
        self, topic: str, key: str, data: bytes, kept: KeptThread, piece: Piece
    ) -> None:
        count = kept.entries + len(piece.entries)
        if count > entryfile.ENTRIES:
            return
        own_words = thread_words(self._reader.snapshot(topic))
        first = kept.number * entryfile.ENTRIES + kept.entries
        places = zip(piece.entries, piece.starts, strict=True)
        numbers = range(first, first + len(piece.entries))
        self._db.executemany(
            _ADD_ENTRY,
            (
                (
                    *(number, entry.id, start),
                    *(entry.code_branch, entry.any_kind, entry.severity),
                    entry.agent,
                )
                for number, (entry, start) in zip(numbers, places, strict=True)
            ),
        )
        self._db.executemany(
            _ADD_WORDS,
            (
                (number, *_words(entry, own_words, self.common))
                for number, entry in zip(numbers, piece.entries, strict=True)
            ),
        )
        self._db.execute("DELETE FROM threads WHERE topic = ?", (topic,))
        last_id = max((kept.last_id, *(entry.id for entry in piece.entries)))
        check = crc32(data[: piece.end]) if piece.end != entryfile.NOWHERE else 0
        thread = (kept.number, topic, key, last_id, piece.end, check, count)
        self._db.execute(_ADD_THREAD, thread)


def _are_plain(entries: Sequence[Entry]) -> bool:
    """Whether each entry is shown as it was written, in the order of the ids."""
    if any(
        entry.supersedes or _changes_items(entry) or not ulid.prefix(entry.id)
        for entry in entries
    ):
        return False
    ids = [entry.id for entry in entries]
    return ids == sorted(ids) and in_effect_order(entries) == entries


def _tags_part(key: str) -> str:
    """Return the part of a key of words that stands for an older tool's tags."""
    return key.partition(",")[2]


def _changes_others(entry: Entry) -> bool:
    """Return whether an entry changes the words by which other entries are found."""
    return bool(
        entry.supersedes
        or entry.new_topic
        or entry.tags_added
        or entry.tags_removed
        or _changes_items(entry)
    )


def _changes_items(entry: Entry) -> bool:
    """Return whether an entry changes a checklist, which the first entry shows."""
    return bool(
        entry.items_added
        or entry.items_removed
        or entry.items_checked
        or entry.items_unchecked
    )


def _words(entry: Entry, thread: ThreadWords, common: CommonWords) -> tuple[str, ...]:
    texts = {
        "title": entry.title,
        "body": entry.body,
        "topic": thread.names,
        "author": entry.agent,
        "tag": thread.tags,
        "recorded": recorded(entry),
    }
    return tuple(
        indexed_words(column, texts[column], common) for column in entryfile.COLUMNS
    )


def _parse_piece(topic: str, data: bytes, start: int) -> Piece | None:
    """The entries of complete lines, starting at offset ``start``; ``None`` if the
    lines alone do not determine what the log contains."""
    entries: list[Entry] = []
    starts: list[int] = []
    end = start
    # A complete last line leaves nothing after its newline.
    *lines, torn = data.split(b"\n")
    if torn:
        return None
    for line in lines:
        begin, end = end, end + len(line) + 1
        if not line.strip():
            continue
        entry = codec.read_line(topic, line)
        if isinstance(entry, Entry):
            entries.append(entry)
            starts.append(begin)
    if len({parsed.id for parsed in entries}) < len(entries):
        return None
    return Piece(entries, starts, end)

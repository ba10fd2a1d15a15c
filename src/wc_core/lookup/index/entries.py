"""The part of the index that has the words of each entry: a SQLite file, only read
here.

Its tables (`SCHEMA`): ``threads`` has a number for each indexed version of a thread,
with the key of the files that its words are from; ``entries`` has what an entry can be
found by apart from its words, its author, and where its line begins in the log (-1: it
cannot be shown from one line); ``words`` is the full-text index, which `expressions`
describes; ``common`` has the words whose pairs are indexed, the same as long as
the file exists. The number of an entry is that of its thread times `ENTRIES`, plus
its position: this tells which threads have words without looking up entries.
``dropped`` has the numbers of threads that were removed from the index while their
words are still in it.

A file of another `VERSION` is not used, nor one that is locked, damaged or missing.
"""

from __future__ import annotations

import os
from itertools import repeat

from wc_core.base.files import read_from
from wc_core.base.lean import json, sqlite3
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.keys import NONE, words_part
from wc_core.lookup.index.expressions import CommonWords, Expressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 6
# More than a thread has entries. A thread with more is not indexed.
ENTRIES = 1 << 20
NOWHERE = -1
# The tokenizer "ascii" splits the output of `words.fold_text` into exactly its words:
# ASCII letters, digits and everything beyond ASCII. The index stores only positions of
# words, neither texts nor lengths, because it does not rank. A position in the first
# column takes two bytes less than one in another, so that is the one with most words.
SCHEMA = """
CREATE TABLE threads(
  number INTEGER PRIMARY KEY, topic TEXT UNIQUE, key TEXT, last_id TEXT,
  size INTEGER, check_sum INTEGER, entries INTEGER
);
CREATE TABLE entries(
  number INTEGER PRIMARY KEY, id TEXT, start INTEGER,
  branch TEXT, kind TEXT, severity TEXT, author TEXT
);
CREATE INDEX ids ON entries(id);
CREATE INDEX kinds ON entries(kind) WHERE kind != '';
CREATE INDEX branches ON entries(branch) WHERE branch != '';
CREATE VIRTUAL TABLE words USING fts5(
  body, title, topic, author, tag, recorded,
  content='', columnsize=0, tokenize='ascii'
);
CREATE TABLE dropped(number INTEGER, entries INTEGER);
CREATE TABLE common(word TEXT);
"""
COLUMNS = ("body", "title", "topic", "author", "tag", "recorded")
# The header of a SQLite file. Two bytes later follow the versions of its format for
# writing and reading.
_MAGIC = b"SQLite format 3\0"
_NO_WRITE_AHEAD_LOG = b"\1\1"
# Milliseconds to wait while the index is being written. After that, logs are read.
_BUSY_MS = 30
# So many entries are not counted one by one.
_MANY = 20_000
# Every version of SQLite allows this many values in a query.
_MOST_VALUES = 999


class UnusableIndexError(Exception):
    """The file is missing, locked, damaged or of another version: read the logs
    instead."""


def checked_path(layout: Layout) -> str:
    """Returns the path of the file. Raises UnusableIndexError if it must not be opened:
    a link may lead out of the store, and reading a file with a write-ahead log creates
    files beside it."""
    path = layout.entry_index
    try:
        head = read_from(path, layout.root, 0, len(_MAGIC) + 4)
    except FileNotFoundError:
        raise UnusableIndexError("it is missing") from None
    except OSError as error:
        raise UnusableIndexError(f"it {error.strerror}") from error
    if head.startswith(_MAGIC) and head[-2:] != _NO_WRITE_AHEAD_LOG:
        raise UnusableIndexError("it has a write-ahead log")
    return path


def file_uri(path: str, mode: str) -> str:
    """Returns the URI with which SQLite opens a file in a mode: ro, rw or rwc."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{name}?mode={mode}"


class IndexedThread(NamedTuple):
    """A thread in the index: its number, the key of its log, and its greatest id.

    ``size`` is the length of its log; `NOWHERE` if its lines do not suffice to show its
    entries.
    """

    topic: str
    number: int
    key: str
    last_id: str
    size: int


class CurrentThreads(NamedTuple):
    """The threads that the file has in their current state: the threads by topic, and
    the topics by the number of the thread."""

    threads: Mapping[str, IndexedThread]
    topics: Mapping[int, str]


class _Lookup(NamedTuple):
    """The result of `EntryFile.current_threads` for these ``topics`` and ``keys``.
    ``threads`` are all threads of the file at that time."""

    threads: Mapping[str, IndexedThread]
    topics: Sequence[str]
    keys: Mapping[str, str]
    current: CurrentThreads


class IndexedEntry(NamedTuple):
    """An entry in the index, and the offset of its line in the log."""

    number: int
    id: str
    start: int

    @property
    def thread(self) -> int:
        """The number of its thread."""
        return self.number // ENTRIES


class Facets(NamedTuple):
    """Conditions on entries apart from their words; an empty one allows anything."""

    branch: str = ""
    kind: str = ""
    severities: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    def conditions(self) -> tuple[str, list[str]]:
        """Returns them as SQL conditions, each after ``AND``, and their values."""
        parts = ""
        values: list[str] = []
        for column, accepted in (
            ("branch", (self.branch,) if self.branch else ()),
            ("kind", (self.kind,) if self.kind else ()),
            ("severity", self.severities),
        ):
            if accepted:
                marks = ", ".join("?" * len(accepted))
                parts += f" AND {column} != '' AND {column} IN ({marks})"
                values += accepted
        for condition, entry_id in (
            (" AND id > ?", self.since),
            (" AND id <= ?", self.until),
        ):
            if entry_id:
                parts += condition
                values.append(entry_id)
        return parts, values


NO_FACETS = Facets()


class EntryFile:
    """The file, open for reading. Every method may raise UnusableIndexError."""

    def __init__(self, layout: Layout) -> None:
        # The threads in one version of the file.
        self._threads: tuple[int, Mapping[str, IndexedThread]] | None = None
        self._last_lookup: _Lookup | None = None
        self._db = _connect(checked_path(layout))
        common = self._ask("SELECT word FROM common")
        # What to ask for.
        self.expressions = Expressions(CommonWords(word for (word,) in common))

    def __del__(self) -> None:
        """Closes the file. From Python 3.13 on, one that is left open is a
        ResourceWarning."""
        if hasattr(self, "_db"):
            self._db.close()

    def check(self) -> None:
        """Reads all of it, and raises UnusableIndexError if it is damaged."""
        ((verdict,),) = self._ask("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise UnusableIndexError(str(verdict))

    def version(self) -> int:
        """Returns a number that changes when the file is written to."""
        ((version,),) = self._ask("PRAGMA data_version")
        return int(version)

    def threads(self) -> Mapping[str, IndexedThread]:
        """Returns the threads, by topic."""
        version = self.version()
        if self._threads is None or self._threads[0] != version:
            rows = self._ask("SELECT topic, number, key, last_id, size FROM threads")
            # `_make` takes 3 ms for 10,000.
            threads = map(tuple.__new__, repeat(IndexedThread), rows)
            self._threads = version, {thread.topic: thread for thread in threads}
        return self._threads[1]

    def current_threads(
        self, topics: Sequence[str], keys: Mapping[str, str]
    ) -> CurrentThreads:
        """Returns those of these threads that were indexed with their present key in
        ``keys``, or with its part about words."""
        threads, last = self.threads(), self._last_lookup
        # A server asks the same for each search. For 10,000 threads, comparing takes
        # 0.3 ms and looking them up 2 ms.
        if (
            last is not None
            and last.threads is threads
            and last.topics == topics
            and last.keys == keys
        ):
            return last.current
        # Copied first: others may change the keys at any time.
        topics, keys = [*topics], {**keys}
        by_topic = {
            topic: thread
            for topic in topics
            if (thread := threads.get(topic)) is not None
            # Most keys are already the part about words.
            and (
                (key := keys.get(topic, NONE)) == thread.key
                or words_part(key) == thread.key
            )
        }
        by_number = {thread.number: topic for topic, thread in by_topic.items()}
        current = CurrentThreads(by_topic, by_number)
        self._last_lookup = _Lookup(threads, topics, keys, current)
        return current

    def counts(self, words: str) -> list[tuple[int, int]]:
        """Returns the number of each thread with the words, and how many of its entries
        have them. Some threads may have been replaced since."""
        return self._ask(
            "SELECT rowid / ?, count(*) FROM words WHERE words MATCH ? GROUP BY 1",
            *(ENTRIES, words),
        )

    def count(self, words: str) -> int:
        """Returns how many entries have the words, those of replaced threads
        included."""
        return self._number("count(*) FROM words WHERE words MATCH ?", words)

    def numbers(self, words: str, most: int = -1) -> list[int]:
        """Returns the numbers of the entries that have the words, in ascending order;
        of more than ``most``, at least so many. Some may be of replaced threads."""
        # One long text takes half the time of a row for each number.
        ((text,),) = self._ask(
            "SELECT group_concat(rowid) FROM "
            "(SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)",
            *(words, most),
        )
        return sorted(json.loads(f"[{text or ''}]"))

    def dropped(self) -> list[int]:
        """Returns the numbers of the threads that were removed while their words are
        still in the file."""
        return [number for (number,) in self._ask("SELECT number FROM dropped")]

    def numbered(self, numbers: Sequence[int]) -> list[IndexedEntry]:
        """Returns the entries with these numbers."""
        rows = self._rows_of("SELECT number, id, start", numbers)
        return [IndexedEntry(*fields) for fields in rows]

    def values(self, numbers: Sequence[int]) -> list[tuple[str, str, str]]:
        """Returns the author, the kind and the branch of the entries with these
        numbers."""
        rows = self._rows_of("SELECT author, kind, branch", numbers)
        return [(author, kind, branch) for author, kind, branch in rows]

    def _rows_of(
        self, columns: str, numbers: Sequence[int]
    ) -> Iterator[tuple[Any, ...]]:
        """Yields the columns of the entries with these numbers, in any order."""
        for start in range(0, len(numbers), _MOST_VALUES):
            part = numbers[start : start + _MOST_VALUES]
            marks = ", ".join("?" * len(part))
            yield from self._ask(
                f"{columns} FROM entries WHERE number IN ({marks})", *part
            )

    def in_thread(self, words: str, thread: int) -> list[IndexedEntry]:
        """Returns the entries of a thread that have the words."""
        first = thread * ENTRIES
        rows = self._ask(
            "SELECT number, id, start FROM words CROSS JOIN entries "
            "ON number = words.rowid WHERE words MATCH ? AND words.rowid >= ? "
            "AND words.rowid < ?",
            *(words, first, first + ENTRIES),
        )
        return [IndexedEntry(*fields) for fields in rows]

    def entries(self, words: str, facets: Facets = NO_FACETS) -> list[IndexedEntry]:
        """Returns the entries that have the words (empty: any) and the facets."""
        if words and facets == NO_FACETS:
            return self.numbered(self.numbers(words))
        conditions, values = facets.conditions()
        columns = "SELECT number, id, start FROM"
        if words:
            rows = self._ask(
                f"{columns} words CROSS JOIN entries ON number = words.rowid "
                f"WHERE words MATCH ?{conditions}",
                *(words, *values),
            )
        else:
            rows = self._ask(f"{columns} entries WHERE true{conditions}", *values)
        return [IndexedEntry(*fields) for fields in rows]

    def written_after(
        self, floor: str, branch: str, without: Sequence[int], limit: int
    ) -> tuple[list[IndexedEntry], int]:
        """Returns the first entries whose ids are greater than ``floor``, written on a
        ``branch`` unless that is empty, and how many there are, excluding threads with
        the numbers in ``without``."""
        conditions, accepted = Facets(branch).conditions()
        values: list[Any] = [floor, *accepted]
        excluded = ", ".join("?" * len(without))
        if without:
            conditions += f" AND number / ? NOT IN ({excluded})"
            values += (ENTRIES, *without)
        later = f"FROM entries WHERE id > ?{conditions}"
        count = self._number(
            f"count(*) FROM (SELECT 1 {later} LIMIT ?)", *values, _MANY
        )
        if count == _MANY and branch:
            count = self._number(f"count(*) {later}", *values)
        elif count == _MANY:
            # Counting 500,000 takes 25 ms: subtract the earlier ones from all.
            source = f"FROM threads WHERE number NOT IN ({excluded})"
            earlier = f"FROM entries WHERE id <= ?{conditions}"
            count = self._number(f"sum(entries) {source}", *without)
            count -= self._number(f"count(*) {earlier}", *values)
        columns = f"SELECT number, id, start {later} ORDER BY id LIMIT ?"
        rows = self._ask(columns, *values, limit)
        return [IndexedEntry(*fields) for fields in rows], count

    def _number(self, expression: str, *values: Any) -> int:
        ((number,),) = self._ask(f"SELECT {expression}", *values)
        return int(number)

    def position(self, entry: IndexedEntry) -> int:
        """Returns the position of an entry in its thread, counted from 0; -1 if its
        thread was dropped since it was found."""
        first = entry.thread * ENTRIES
        ((count,),) = self._ask(
            "SELECT count(*) FROM entries WHERE number >= ? AND number < ? AND id <= ?",
            *(first, first + ENTRIES, entry.id),
        )
        return int(count) - 1

    def _ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        return _rows(self._db, question, *values)


def _connect(path: str) -> sqlite3.Connection:
    """Opens the file at a path. Raises UnusableIndexError."""
    uri = file_uri(path, "ro")
    try:
        # Calls of a server may come in any thread.
        database = sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise UnusableIndexError(str(error)) from error
    try:
        _rows(database, "PRAGMA query_only = on")
        _rows(database, "PRAGMA temp_store = memory")
        database.set_authorizer(_no_other_file)
        _rows(database, f"PRAGMA busy_timeout = {_BUSY_MS}")
        ((version,),) = _rows(database, "PRAGMA user_version")
    except BaseException:  # also an interrupt: the open file would be a leak
        database.close()
        raise
    if version != VERSION:
        database.close()
        raise UnusableIndexError(f"it has version {version}")
    return database


def _rows(
    database: sqlite3.Connection, question: str, *values: Any
) -> list[tuple[Any, ...]]:
    try:
        return database.execute(question, values).fetchall()
    except (sqlite3.Error, UnicodeError) as error:
        # SQLite has no lone surrogates, which the bytes of an argument may become.
        raise UnusableIndexError(str(error)) from error


class EntryFiles:
    """The file of a store, kept open until another file replaces it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._opened: tuple[int, EntryFile] | None = None

    def current(self) -> EntryFile:
        """Returns the current file. Raises UnusableIndexError."""
        try:
            inode = os.lstat(self._layout.entry_index).st_ino
        except OSError as error:
            raise UnusableIndexError("it is missing") from error
        if self._opened is None or self._opened[0] != inode:
            # The previous one is closed with its last reference: another thread may
            # still be searching in it.
            self._opened = inode, EntryFile(self._layout)
        return self._opened[1]


def _no_other_file(action: int, *_: str | None) -> int:
    """Authorises every action except attaching another file. This file is open for
    reading only."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK

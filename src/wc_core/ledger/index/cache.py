"""The cache of a store: a SQLite file, only read here.

``threads`` has a row for each thread with what lists show (`ThreadFields`), and the key
of the files that it was made from; ``entries`` has what an entry can be found by apart
from its words, and where its line begins in the log (`NOWHERE`: it cannot be shown from
one line); ``words`` is the full-text index, whose rows have the numbers of the entries.
These are in the order of time: the second of an entry's id, then a count.
``vocabulary`` has every word of ``words``, ``dropped`` the numbers of entries that are
gone while their words are still there.
``places`` has where the open threads are (`wc_core.attention.status.places`), ``links``
the topics that threads are linked to. ``direct`` has the threads that the cache cannot
answer for: their files are read. ``facts`` has one row about the whole file.

A file of another `VERSION` is not used, nor one that is damaged, or a copy of another.
"""

from __future__ import annotations

import os

from wc_core.base.files import read_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.base.lean import sqlite3

VERSION = 4
NOWHERE = -1
# Columns of `words`. The tokenizer "ascii" splits the output of `words.fold_text` into
# exactly its words: ASCII letters, digits and everything beyond ASCII. Only positions
# of words are stored, neither texts nor lengths. A position in the first column takes
# two bytes less than one in another, so that is the one with most words.
COLUMNS = ("body", "title", "topic", "author", "tag", "recorded")
SCHEMA = f"""
CREATE TABLE threads(
  number INTEGER PRIMARY KEY, topic TEXT UNIQUE, key TEXT,
  last_id TEXT, status TEXT, ball TEXT, title TEXT, updated_at TEXT,
  updated_by TEXT, branch TEXT, entry_count INTEGER, new TEXT, more TEXT,
  planned INTEGER, asked INTEGER, since TEXT, changed_ns INTEGER,
  size INTEGER, check_sum INTEGER
);
CREATE INDEX latest ON threads(last_id, topic);
CREATE INDEX open_threads ON threads(last_id, topic) WHERE status != 'CLOSED';
CREATE INDEX statuses ON threads(status, last_id, topic);
CREATE INDEX balls ON threads(ball);
CREATE INDEX changed ON threads(changed_ns) WHERE status != 'CLOSED';
CREATE INDEX held ON threads(since, topic) WHERE status != 'CLOSED';
CREATE INDEX open_balls ON threads(ball, since, topic, status) WHERE status != 'CLOSED';
CREATE INDEX plans ON threads(number) WHERE planned;
CREATE INDEX questions ON threads(number) WHERE asked;
CREATE TABLE entries(
  number INTEGER PRIMARY KEY, thread INTEGER, id TEXT, start INTEGER,
  branch TEXT, kind TEXT, severity TEXT, author TEXT
);
CREATE INDEX of_threads ON entries(thread);
CREATE INDEX ids ON entries(id);
CREATE INDEX kinds ON entries(kind) WHERE kind != '';
CREATE INDEX branches ON entries(branch) WHERE branch != '';
CREATE VIRTUAL TABLE words USING fts5(
  {", ".join(COLUMNS)}, content='', columnsize=0, tokenize='ascii'
);
CREATE TABLE places(
  place TEXT, thread INTEGER, PRIMARY KEY (place, thread)
) WITHOUT ROWID;
CREATE INDEX placed ON places(thread);
CREATE TABLE links(
  target TEXT, thread INTEGER, PRIMARY KEY (target, thread)
) WITHOUT ROWID;
CREATE INDEX linked ON links(thread);
CREATE TABLE vocabulary(word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE dropped(number INTEGER PRIMARY KEY);
CREATE TABLE direct(topic TEXT PRIMARY KEY);
CREATE TABLE facts(inode INTEGER, stamp TEXT);
"""
# The header of a SQLite file. Two bytes later follow the versions of its format for
# writing and reading.
_MAGIC = b"SQLite format 3\0"
_NO_WRITE_AHEAD_LOG = b"\1\1"
# Milliseconds to wait while a process writes a transaction.
_BUSY_MS = 500


class UnusableCacheError(Exception):
    """The file is missing, damaged, a copy or of another version, or has been busy for
    too long: read the logs instead."""


class Cache:
    """The file, open for reading: all answers are from one moment. Every method may
    raise UnusableCacheError."""

    def __init__(self, layout: Layout) -> None:
        self._db = _connect(checked_path(layout))
        self.ask("PRAGMA query_only = on")
        self.ask("PRAGMA temp_store = memory")
        self.ask(f"PRAGMA busy_timeout = {_BUSY_MS}")
        self.ask("BEGIN")
        ((version,),) = self.ask("PRAGMA user_version")
        if version != VERSION:
            raise UnusableCacheError(f"it has version {version}")
        ((inode, self.stamp),) = self.ask("SELECT inode, stamp FROM facts")
        if inode != os.lstat(layout.cache).st_ino:
            raise UnusableCacheError("it is a copy of another")

    def __del__(self) -> None:
        """Closes the file. From Python 3.13 on, one that is left open is a
        ResourceWarning."""
        if hasattr(self, "_db"):
            self._db.close()

    def ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        """Returns the rows of a query."""
        try:
            return self._db.execute(question, values).fetchall()
        # SQLite has no lone surrogates, which the bytes of an argument may become.
        except (_sqlite().Error, UnicodeError) as error:
            raise UnusableCacheError(str(error)) from error

    def check(self) -> None:
        """Reads all of it, and raises UnusableCacheError if it is damaged."""
        ((verdict,),) = self.ask("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise UnusableCacheError(str(verdict))


def checked_path(layout: Layout) -> str:
    """Returns the path of the file. Raises UnusableCacheError if it must not be opened:
    a link may lead out of the store, and reading a file with a write-ahead log creates
    files beside it."""
    try:
        head = read_from(layout.cache, layout.root, 0, len(_MAGIC) + 4)
    except FileNotFoundError:
        raise UnusableCacheError("it is missing") from None
    except OSError as error:
        raise UnusableCacheError(f"it {error.strerror}") from error
    if head.startswith(_MAGIC) and head[-2:] != _NO_WRITE_AHEAD_LOG:
        raise UnusableCacheError("it has a write-ahead log")
    return layout.cache


def file_uri(path: str, mode: str) -> str:
    """Returns the URI with which SQLite opens a file in a mode: ro, rw or rwc."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{name}?mode={mode}"


def _sqlite() -> ModuleType:
    """Returns SQLite. Raises UnusableCacheError if this Python lacks it, as a few
    builds do."""
    try:
        from wc_core.base.lean import sqlite3  # 4 ms, where there is a cache
    except ImportError:
        raise UnusableCacheError("this Python has no SQLite") from None
    return sqlite3


def _connect(path: str) -> sqlite3.Connection:
    """Opens the file at a path. Raises UnusableCacheError."""
    sqlite = _sqlite()
    uri = file_uri(path, "ro")
    try:
        # Calls of a server may come in any thread.
        database: sqlite3.Connection = sqlite.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite.Error as error:
        raise UnusableCacheError(str(error)) from error
    database.set_authorizer(_no_other_file)
    return database


def _no_other_file(action: int, *_: str | None) -> int:
    """Authorises every action except attaching another file. This file is open for
    reading only."""
    sqlite = _sqlite()
    return int(
        sqlite.SQLITE_DENY if action == sqlite.SQLITE_ATTACH else sqlite.SQLITE_OK
    )

"""Which rows have which words: a full-text index that lives in memory alone.

The only module with a database in it, and it never opens a file: what is lost
with the process is made anew from the logs.
"""

from __future__ import annotations

import functools
import sqlite3
import threading
import weakref
from contextlib import closing
from typing import TYPE_CHECKING

from wc_core.views import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.views.words import Term

# A text in the form of `words.folded` has words of ASCII letters, digits and
# anything beyond ASCII: what the tokenizer named "ascii" takes them for. Nothing
# is kept but where which word stands: no texts, and no lengths, since the order
# of what is found is not the index's business.
_TABLE = """
CREATE VIRTUAL TABLE entries USING fts5(
  title, body, topic, author, recorded,
  content='', columnsize=0, tokenize='ascii'
)
"""
_ADD = (
    "INSERT INTO entries(rowid, title, body, topic, author, recorded) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_FIND = "SELECT rowid FROM entries WHERE entries MATCH ?"
_SAID = "title body topic author"
_MENTIONED = "title body recorded"


def _no_file(action: int, *_: str | None) -> int:
    """Whether SQLite may do something: all but open another database."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


@functools.cache
def is_available() -> bool:
    """Whether this Python's SQLite has full-text search, found out once."""
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute(_TABLE)
    except sqlite3.Error:
        return False
    return True


class FullText:
    """An index of rows by the words in their texts; rows are only ever added."""

    def __init__(self) -> None:
        # Several threads ask, one at a time.
        self._db = sqlite3.connect(
            ":memory:", check_same_thread=False, isolation_level=None
        )
        # Closed with the last reference: another thread may still be searching when
        # the index is replaced. From Python 3.13 on, a database that is not closed
        # is a ResourceWarning. At exit the process takes it along.
        weakref.finalize(self, self._db.close).atexit = False
        self._lock = threading.Lock()
        self._db.execute("PRAGMA temp_store = memory")
        self._db.set_authorizer(_no_file)
        self._db.execute(_TABLE)

    def add(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Add rows: a number each, not used before, and the texts of the five
        columns."""
        made = [
            (number, *(words.folded(one).replace("\0", " ") for one in texts))
            for number, texts in rows
        ]
        with self._lock:
            self._db.execute("BEGIN")
            self._db.executemany(_ADD, made)
            self._db.execute("COMMIT")

    def find(self, said: Iterable[Term], mentioned: Iterable[Term] = ()) -> list[int]:
        """The rows that have all of the terms: the first ones in the fields
        that a query speaks of, the others where an entry mentions things."""
        parts = [_part(one.field or _SAID, one) for one in said]
        parts += [_part(_MENTIONED, one) for one in mentioned]
        return self._ask(" AND ".join(parts))

    def in_titles(self, terms: Iterable[Term], *, every: bool) -> set[int]:
        """The rows that have every term, or any, in their title."""
        parts = [_part("title", one) for one in terms]
        return set(self._ask((" AND " if every else " OR ").join(parts)))

    def _ask(self, query: str) -> list[int]:
        with self._lock:
            return [number for (number,) in self._db.execute(_FIND, (query,))]


def _part(fields: str, term: Term) -> str:
    # Words have neither quotes nor anything else that a query would obey.
    star = "*" if term.prefix else ""
    return f'{{{fields}}} : "{" ".join(term.words)}" {star}'

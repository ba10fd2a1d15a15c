"""A full-text index in memory: which rows contain which words.

The only module with a database, and it never opens a file. The index is rebuilt from
the logs when the process starts again.
"""

from __future__ import annotations

import functools
import sqlite3
import threading
import weakref
from contextlib import closing
from typing import TYPE_CHECKING

from wc_core.search import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.search.words import Term

# The tokenizer "ascii" splits the output of `words.fold_text` into exactly its words:
# ASCII letters, digits and everything beyond ASCII. The index stores only positions
# of words, neither texts nor lengths: ranking is not its job.
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
_TEXT_FIELDS = "title body topic author"
_MENTION_FIELDS = "title body recorded"


def _no_file(action: int, *_: str | None) -> int:
    """Authorises every action of SQLite except attaching another database."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


@functools.cache
def is_available() -> bool:
    """Returns whether this Python's SQLite has full-text search. Asked once."""
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute(_TABLE)
    except sqlite3.Error:
        return False
    return True


class FullText:
    """An index of rows by the words in their texts. Rows are only added."""

    def __init__(self) -> None:
        # Used by several threads, one at a time.
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
        """Adds rows: an unused number each, and the texts of the five columns."""
        folded = [
            (number, *(words.fold_text(text).replace("\0", " ") for text in texts))
            for number, texts in rows
        ]
        with self._lock:
            self._db.execute("BEGIN")
            self._db.executemany(_ADD, folded)
            self._db.execute("COMMIT")

    def find(self, terms: Iterable[Term], mentioned: Iterable[Term] = ()) -> list[int]:
        """Returns the rows that contain all of the terms: ``terms`` in the fields
        they name, ``mentioned`` in the fields that mention files, commits and
        pull requests."""
        parts = [_part(term.field or _TEXT_FIELDS, term) for term in terms]
        parts += [_part(_MENTION_FIELDS, term) for term in mentioned]
        return self._ask(" AND ".join(parts))

    def in_titles(self, terms: Iterable[Term], *, all_terms: bool) -> set[int]:
        """Returns the rows that have all of the terms, or any of them, in their
        title."""
        parts = [_part("title", term) for term in terms]
        return set(self._ask((" AND " if all_terms else " OR ").join(parts)))

    def _ask(self, query: str) -> list[int]:
        with self._lock:
            return [number for (number,) in self._db.execute(_FIND, (query,))]


def _part(fields: str, term: Term) -> str:
    # Words contain neither quotes nor anything else with a meaning in a query.
    star = "*" if term.prefix else ""
    return f'{{{fields}}} : "{" ".join(term.words)}" {star}'

"""Makes the index of all threads, and reports what it lacks. Needs SQLite, which a few
builds of Python lack."""

from __future__ import annotations

import time

from wc_cli.ledger.index import entriesfile, overviewfile
from wc_cli.ledger.index.keeping import index_entries, locked, note_behind
from wc_core.base.errors import WcError
from wc_core.base.lean import sqlite3
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.index import keys, overview
from wc_core.lookup.index.entries import EntryFile, UnusableIndexError

# Reading this many takes milliseconds.
_FEW_THREADS = 100
# More than this are soon indexed: the next list starts that.
_FEW_UNINDEXED = 20


def rebuild(root: str) -> None:
    """Bring the index up to date, whatever its state. Raises WcError."""
    reader = StoreReader(root)
    with locked(reader):
        overviewfile.rebuild(reader)
        note_behind(reader.layout)
        index_entries(reader, lambda: entriesfile.rebuild(reader))


def remake(root: str) -> None:
    """Rebuild the index from scratch, including very recent writes. Raises WcError."""
    reader = StoreReader(root)
    if not reader.topics():
        return
    with locked(reader):
        time.sleep(keys.TICK_SECONDS)
        overviewfile.remake(reader)
        note_behind(reader.layout)
        index_entries(reader, lambda: entriesfile.remake(reader))


def problem(root: str) -> str:
    """Return why reading the store is slower than it could be; empty if it is not."""
    reader = StoreReader(root)
    try:
        survey = overview.survey(reader)
        if len(survey.keys) <= _FEW_THREADS:
            return ""
        if not overview.is_usable(reader.layout):
            return "index: lists read every thread: the index is missing or damaged"
        if survey.unindexed > _FEW_UNINDEXED:
            return f"index: lists read {survey.unindexed} threads that it does not have"
        return _problem_of_words(reader, survey)
    except WcError:
        return ""  # problems of the folders are among the findings
    except UnusableIndexError as error:
        reason = error if _has_fts5() else "this Python's SQLite lacks FTS5"
        return f"index: searches read every log: {reason}"


def _has_fts5() -> bool:
    database = sqlite3.connect(":memory:")
    modules = database.execute("SELECT name FROM pragma_module_list").fetchall()
    database.close()
    return ("fts5",) in modules


def _problem_of_words(reader: StoreReader, survey: overview.Survey) -> str:
    """Return why searches are slow. Raises UnusableIndexError."""
    file = EntryFile(reader.layout)
    file.check()
    threads = file.threads()
    current = {topic: keys.words_part(key) for topic, key in survey.keys.items()}
    missing = sum(
        topic not in threads or threads[topic].key != key
        for topic, key in current.items()
        if key
    )
    if missing > _FEW_UNINDEXED:
        return f"index: searches read {missing} logs that it does not have"
    return ""

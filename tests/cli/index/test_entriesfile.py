"""Searching in the index: the same hits as by reading the logs, whatever was done to
the store since it was written."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.index.histories import (
    Step,
    Store,
    a_log,
    begun_store,
    histories,
    soon,
)
from tests.core.strategies import chain, entry, entry_id, relaxed, viewer
from wc_cli.ledger.index import entriesfile
from wc_cli.ledger.index.commonwords import LARGE
from wc_core.base.errors import WcError
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.index.entries import EntryFile, EntryFiles, UnusableIndexError
from wc_core.lookup.search import ranking
from wc_core.lookup.search.mentions import Mentions
from wc_core.lookup.search.words import Term
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search import answers as search_views
from wc_core.reading.views.search import candidates
from wc_core.reading.views.search import indexed as indexed_search
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.indexed import IndexedSearch
from wc_core.reading.views.search.loose import LooseQuery
from wc_core.reading.views.search.query import ANY, NEWEST, SORTS, Question
from wc_core.reading.views.search.scan import Scan
from wc_core.reading.views.updates import updates

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_cli.ledger.index.overviewfile import Clock
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.search.answers import Hits
    from wc_core.reading.views.search.query import Engine

QUESTIONS = (
    Question("title", Filter(), limit=3),
    Question("title 1 author:codex", Filter()),
    Question('"title 2" text', Filter(), limit=1),
    Question("", Filter(), about=Mentions(branch="main"), limit=2),
    Question("w", Filter(), about=Mentions(kind="question")),
    Question("title 1 nowhere", Filter(), limit=2),
    Question("titles texts 3", Filter(), limit=2, mode=ANY),
    Question("title 4 absent", Filter(), about=Mentions(branch="main"), mode=ANY),
    Question("topic:t text absent", Filter(), limit=3, mode=ANY, sort=NEWEST),
    Question("title text absent author:pat topic:t", Filter(), limit=2),
    Question("body:text 1 4 absent", Filter(), limit=2, mode=ANY),
    Question("title", Filter(), limit=2, sort=NEWEST),
    Question("", Filter(), about=Mentions(author="Codex"), limit=2),
    Question(
        "title 1 absent", Filter(), about=Mentions(author="pat", since=entry(1).id)
    ),
    Question("title", Filter(), about=Mentions(until=entry(2).id), limit=1),
    Question("urgent", Filter(), limit=2),
    Question("urgent later tag title", Filter(), mode=ANY),
    Question("tag:urgent title absent", Filter(), limit=3),
    Question('tag:"tag 2"', Filter(), sort=NEWEST),
    Question("title", Filter(), sort=NEWEST, limit=2, counting=True),
    Question("title 1 absent", Filter(), counting=True),
    Question("", Filter(), about=Mentions(branch="main"), counting=True),
    Question('"title 1"', Filter(), limit=2),
    Question('title:"title 0" "codex"', Filter()),
)


def overview_of(reader: StoreReader) -> Overview:
    return Overview(reader, viewer())


def indexed(reader: StoreReader) -> tuple[Engine, Overview, list[int]]:
    """What searches in the index, and how many threads it had to read each time."""
    overview, read = overview_of(reader), list[int]()
    engine = IndexedSearch(
        reader, EntryFiles(reader.layout), overview.keys, read.append
    )
    return engine, overview, read


def pages(engine: Engine, overview: Overview, question: Question) -> list[Hits]:
    """Every page of the hits."""
    found = [search(engine, overview, question)]
    while found[-1].cursor:
        following = question._replace(cursor=found[-1].cursor)
        found.append(search(engine, overview, following))
    return found


def assert_the_same(reader: StoreReader, question: Question) -> list[int]:
    """The same pages with the index and without; how many threads were read."""
    engine, overview, read = indexed(reader)
    by_index = pages(engine, overview, question)
    assert by_index == pages(Scan(reader), overview_of(reader), question)
    return read


@given(history=histories, large=st.sampled_from((0, LARGE)))
@relaxed
def test_hits_are_the_same_with_the_index_and_without(
    history: list[Step], large: int
) -> None:
    with begun_store() as store:
        store.large = large
        for step in history:
            store.take(step)
        for question in QUESTIONS:
            assert_the_same(store.reader, question)


@given(history=histories)
@relaxed
def test_hits_are_the_same_in_a_file_that_stays_open(history: list[Step]) -> None:
    with begun_store() as store:
        files = EntryFiles(store.reader.layout)
        for step in history:
            store.take(step)
            overview = overview_of(store.reader)
            engine = IndexedSearch(store.reader, files, overview.keys)
            for question in QUESTIONS[:2] * 2:
                expected = pages(Scan(store.reader), overview, question)
                assert pages(engine, overview, question) == expected


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


@pytest.mark.parametrize("is_late", [False, True])
def test_a_list_is_found_and_shown_with_its_first_entry(
    store: Store, *, is_late: bool
) -> None:
    first, listed = entry(0, title="plan"), ("rotate keys",)
    log = chain(first, entry(1, items_added=listed), entry(2, items_checked=("x.1",)))
    store.write("list", log[:1] if is_late else log)
    entriesfile.rebuild(store.reader, soon)
    if is_late:
        store.write("list", log)
        entriesfile.update(store.reader, ["list"], soon)
    for query in ("plan", "rotate", "keys"):
        assert not any(assert_the_same(store.reader, Question(query, Filter())))


@pytest.mark.parametrize(("few", "few_threads"), [(5, 30), (5, 1), (20, 1)])
def test_many_matches_are_found_newest_first(
    store: Store, monkeypatch: pytest.MonkeyPatch, few: int, few_threads: int
) -> None:
    monkeypatch.setattr(indexed_search, "_FEW", few)
    monkeypatch.setattr(indexed_search, "_FEW_THREADS", few_threads)
    monkeypatch.setattr(search_views, "RANKED", 3)
    for number in range(6):
        titles = ("needle here", "here", "a needle and here", "none")
        log = chain(
            *(
                entry(
                    number + 40 * step,
                    title=titles[(number + step) % 4],
                    body="here" if step else "a needle here",
                )
                for step in range(4)
            )
        )
        store.write(f"topic-{number}", log)
    entriesfile.rebuild(store.reader, soon)
    for query in ("here", "needle here", "here author:codex", "hay"):
        for limit in (1, 4, 7, 100):
            for sort in SORTS:
                question = Question(
                    query, Filter(), limit=limit, sort=sort, counting=True
                )
                assert not any(assert_the_same(store.reader, question))


@pytest.mark.parametrize("common", [2, 6, 100])
@pytest.mark.parametrize("few", [0, 100])
def test_some_of_the_words_are_counted_in_the_threads_that_are_searched(
    store: Store, monkeypatch: pytest.MonkeyPatch, common: int, few: int
) -> None:
    monkeypatch.setattr(ranking, "COMMON", common)
    monkeypatch.setattr(candidates, "COMMON", common)
    monkeypatch.setattr(candidates, "_FEW_OTHERS", few)
    for number in range(4):
        store.write(f"t{number}", [text._replace(body="hay") for text in a_log(3)])
    entriesfile.rebuild(store.reader, soon)
    # The words of the first version are still in the file.
    store.write("t1", [entry(7, title="some hay", body="and straw")])
    entriesfile.update(store.reader, ["t1"], soon)
    terms = tuple(Term((word,)) for word in ("title", "hay", "straw"))
    mentions = (Mentions(), Mentions(until=entry(9).id))
    for topics in (["t0", "t1", "t2", "t3"], ["t1"], ["t2", "t0"], ["t3"]):
        for about in mentions:
            for limit in (0, 2):
                query = LooseQuery(terms, about, limit)
                engine, _, read = indexed(store.reader)
                by_index = engine.loose_matches(topics, query)
                assert by_index == Scan(store.reader).loose_matches(topics, query)
                assert read == [0]
                assert by_index.total


@pytest.mark.parametrize(
    "damage", ["zeros", "words", "version", "link", "folder", "write-ahead log"]
)
def test_an_unusable_file_is_not_used_and_is_made_again(
    store: Store, damage: str
) -> None:
    store.write("t", a_log(3))
    entriesfile.rebuild(store.reader, soon)
    path = Path(store.reader.layout.entry_index)
    whole = path.read_bytes()
    path.unlink()
    if damage == "link":
        (store.root / "elsewhere").write_bytes(whole)
        path.symlink_to(store.root / "elsewhere")
    elif damage == "folder":
        path.mkdir()
    elif damage == "write-ahead log":
        path.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = wal")
    else:
        path.write_bytes(
            {
                "zeros": whole[:4096] + bytes(len(whole) - 4096),
                "words": b"no database",
                "version": whole[:60] + b"\0\0\0\x09" + whole[64:],
            }[damage]
        )
    with pytest.raises(UnusableIndexError):
        EntryFile(store.reader.layout).threads()
    assert assert_the_same(store.reader, QUESTIONS[0])
    assert sorted(os.listdir(path.parent)) == [path.name]
    if damage != "folder":
        entriesfile.rebuild(store.reader, soon)
        assert not any(assert_the_same(store.reader, QUESTIONS[0]))
    if damage == "link":
        assert (store.root / "elsewhere").read_bytes() == whole


# Ends like a killed process, with half of a change in the file.
_CHANGE_AND_DIE = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 1")
database.execute("PRAGMA cache_spill = 1")
database.execute("BEGIN IMMEDIATE")
database.execute("UPDATE entries SET id = 'changed' || id")
os._exit(0)
"""


@pytest.mark.parametrize("remade", [entriesfile.rebuild, entriesfile.remake])
def test_half_of_a_change_is_neither_read_nor_kept(
    store: Store, remade: Callable[[StoreReader, Clock], None]
) -> None:
    store.write("t", [entry(number) for number in range(300)])
    entriesfile.rebuild(store.reader, soon)
    path = store.reader.layout.entry_index
    subprocess.run([sys.executable, "-c", _CHANGE_AND_DIE, path], check=True)
    assert os.path.getsize(f"{path}-journal")
    with pytest.raises(UnusableIndexError):
        EntryFile(store.reader.layout)
    assert_the_same(store.reader, Question("title", Filter()))
    remade(store.reader, soon)
    EntryFile(store.reader.layout).check()
    assert not any(assert_the_same(store.reader, Question("title", Filter())))
    assert os.listdir(os.path.dirname(path)) == ["entries.db"]


class IndexedMeanwhile(StoreReader):
    """A reader during whose first look at a thread others are indexed again."""

    pending: tuple[str, ...] = ()

    def thread(self, topic: str) -> Thread:
        """Like `StoreReader.thread`."""
        pending, self.pending = self.pending, ()
        for replaced in pending:
            path = Path(self.layout.log(replaced))
            data = path.read_bytes()
            path.unlink()
            path.write_bytes(data)
            entriesfile.update(self, [replaced], soon)
        return super().thread(topic)


def test_a_search_sees_one_version_of_a_file_that_is_written_to(store: Store) -> None:
    in_title = entry(1, title="needle", body="src/a.py")
    amended = in_title._replace(id=entry(2).id, action="amend", supersedes=in_title.id)
    store.write("t", chain(in_title, amended))
    store.write("u", [entry(3, title="hay", body="a needle in src/a.py")])
    entriesfile.rebuild(store.reader, soon)
    question = Question("needle", Filter(), about=Mentions(file="src/a.py"))
    reader = IndexedMeanwhile(store.reader.layout.root)
    engine, overview, read = indexed(reader)
    # The ranks are asked for after the entries.
    reader.pending = ("t", "u")
    found = search(engine, overview, question)
    assert read
    assert found == search(Scan(store.reader), overview_of(store.reader), question)
    assert [hit.topic for hit in found.hits] == ["t", "u"]


def test_what_sqlite_cannot_have_is_searched_for_in_the_logs(store: Store) -> None:
    store.write("t", a_log(3))
    entriesfile.rebuild(store.reader, soon)
    about = Mentions(branch="\udcff")
    assert assert_the_same(store.reader, Question("", Filter(), about=about)) == [1]


def test_nothing_outside_the_store_is_opened(store: Store, tmp_path: Path) -> None:
    store.write("t", a_log(3))
    entriesfile.rebuild(store.reader, soon)
    folder = Path(store.reader.layout.index_folder)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnusableIndexError):
        EntryFile(store.reader.layout)
    with pytest.raises(WcError):
        entriesfile.rebuild(store.reader, soon)
    assert assert_the_same(store.reader, QUESTIONS[0])


@given(histories, st.sampled_from([1, 3, 20_000]))
@relaxed
def test_updates_are_the_same_with_the_index_and_without(
    history: list[Step], many: int
) -> None:
    with begun_store() as store, pytest.MonkeyPatch.context() as patch:
        # So many are not counted one by one.
        patch.setattr("wc_core.lookup.index.entries._MANY", many)
        for step in history:
            store.take(step)
        engine, overview, _ = indexed(store.reader)
        for since in (entry_id(0), entry_id(3), "2020-01-01"):
            questions = ((1, ""), (5, ""), (4, "main"), (100, ""), (0, ""), (0, "main"))
            for limit, branch in questions:
                by_index = updates(
                    overview, since, 0, limit, branch=branch, open_engine=lambda: engine
                )
                by_logs = updates(
                    overview_of(store.reader), since, 0, limit, branch=branch
                )
                assert by_index == by_logs

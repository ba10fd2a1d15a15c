"""The cache of a store: every question has the same answer with it, without it, with an
old one and with a torn one, whatever was done to the store since it was written."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.index.histories import (
    TOPICS,
    Step,
    Store,
    a_log,
    begun_store,
    by_files,
    histories,
    soon,
    without_cache,
)
from tests.cli.index.test_searching import QUESTIONS
from tests.cli.store.test_writer import Shop
from tests.core.strategies import entry, relaxed, viewer, write_thread
from tests.oldertool import OlderTool
from wc_cli.ledger.index import cachefile
from wc_core.attention.status.balls import Balls
from wc_core.base.errors import WcError
from wc_core.base.names import Directory
from wc_core.ledger.index import freshness
from wc_core.ledger.index.cache import Cache, UnusableCacheError
from wc_core.ledger.planning.kinds import BLOCKED_BY
from wc_core.ledger.threads.model import CLOSED, OPEN, Link
from wc_core.ledger.threads.proposals import Draft
from wc_core.reading.views.listing import Listing
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.remarks import decisions_since
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.indexed import IndexedSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.ledger.threads.reader import StoreReader

FILTERS = (
    Filter(),
    Filter(open_only=True),
    Filter(status=CLOSED),
    Filter(ball="me"),
    Filter(ball="free", open_only=True),
    Filter(ball="codex"),
    Filter(due=True),
    Filter(ready=True),
    Filter(waiting=True),
    Filter(branch="main"),
    Filter(author="pat"),
    Filter(topics=frozenset({"t", "none"})),
    Filter(since=entry(1).id),
    Filter(words="t"),
)


SEARCHES = QUESTIONS[::4]


def answers(reader: StoreReader) -> list[object]:
    """What lists and briefs say about a store."""
    overview = Overview(reader, viewer())
    pages: list[object] = []
    for criteria in FILTERS:
        page = overview.page(criteria, 2)
        pages.append(page)
        while page.cursor:
            page = overview.page(criteria, 2, page.cursor)
            pages.append(page)
    decided = decisions_since(Balls(reader, Directory()), viewer(), 0, lambda: False)
    return [*pages, overview.rows(), overview.plan().ready(), decided]


def searched(reader: StoreReader) -> list[object]:
    """What searches find in a store."""
    overview = Overview(reader, viewer())
    return [search(IndexedSearch(overview), asked) for asked in SEARCHES]


def assert_the_same(reader: StoreReader) -> None:
    with without_cache(reader):
        expected = answers(reader), searched(reader)
    assert (answers(reader), searched(reader)) == expected


@given(histories)
@relaxed
def test_answers_are_the_same_with_the_cache_and_without(history: list[Step]) -> None:
    with begun_store() as store:
        for step in history:
            store.take(step)
            assert_the_same(store.reader)


class LargeShop(Shop):
    """A store outside git whose threads are too many to compare."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.writer("Pat").prepare_store()
        self.clock.now_ms = time.time_ns() // 1_000_000 - 3_600_000

    def write(self, topic: str, action: str, who: str = "Pat", kind: str = "") -> None:
        is_new = not self.reader.has(topic)
        draft = Draft(topic, "new" if is_new else action, topic, new=is_new)
        self.clock.now_ms += 1000
        with contextlib.suppress(WcError):  # what is not there cannot be corrected
            self.writer(who).write(draft._replace(kind=kind), self.clock.source())

    def say(self, topic: str) -> None:
        self.write(topic, "say", "Codex")

    def decide(self, topic: str) -> None:
        self.write(topic, "ack", kind="decision")

    def retract(self, topic: str) -> None:
        self.write(topic, "retract")

    def done(self, topic: str) -> None:
        self.write(topic, "done")

    def settle_all(self, _: str) -> None:
        self.settle()

    def refresh(self, _: str) -> None:
        cachefile.refresh(self.reader.layout.root, soon)

    def refresh_at_once(self, _: str) -> None:
        cachefile.refresh(self.reader.layout.root)

    def delete(self, _: str) -> None:
        Path(self.reader.layout.cache).unlink(missing_ok=True)


STEPS: tuple[Callable[[LargeShop, str], None], ...] = (
    *(LargeShop.say, LargeShop.decide, LargeShop.retract, LargeShop.done),
    *(LargeShop.settle_all, LargeShop.settle_all, LargeShop.refresh),
    *(LargeShop.refresh, LargeShop.refresh_at_once, LargeShop.delete),
)


@relaxed
@given(
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.sampled_from(("t", "u", "v"))),
        min_size=4,
        max_size=16,
    )
)
def test_of_what_wc_writes_nothing_is_missed_without_comparing_threads(
    steps: list[tuple[Callable[[LargeShop, str], None], str]],
) -> None:
    with (
        tempfile.TemporaryDirectory() as root,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(freshness, "FEW", 0)
        shop = LargeShop(root)
        shop.say("t")
        for step, topic in steps:
            step(shop, topic)
            assert_the_same(shop.reader)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def test_threads_that_do_not_change_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "FEW", 0)
    shop = LargeShop(str(tmp_path))
    for topic in ("t", "u", "v"):
        shop.say(topic)
    shop.settle()
    shop.refresh("")
    shop.say("u")
    expected = answers(shop.reader)
    for topic in ("t", "v"):
        log = shop.reader.layout.log(topic)
        os.unlink(log)
        os.mkfifo(log)
    assert answers(shop.reader) == expected


def test_what_another_program_moves_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "FEW", 0)
    shop = LargeShop(str(tmp_path))
    shop.say("t")
    shop.settle()
    shop.refresh("")
    log = Path(shop.reader.layout.log("t"))
    kept = log.read_bytes()
    shop.say("t")
    shop.settle()
    shop.refresh("")
    # As a restore from a backup does: another file, in a folder that changed.
    shutil.copytree(log.parent, tmp_path / "copy")
    shutil.rmtree(log.parent)
    (tmp_path / "copy/entries.jsonl").write_bytes(kept)
    (tmp_path / "copy").rename(log.parent)
    (row,) = Listing(shop.reader, viewer()).rows()
    assert row.entry_count == 1
    # A program that only writes to a log is noticed when the cache is refreshed.
    log.write_bytes(kept + b"\n")
    cachefile.refresh(str(tmp_path), soon)
    fresh = freshness.freshness(shop.reader)
    assert (fresh.direct, fresh.unindexed) == ([], 0)


def test_what_was_written_just_now_is_not_cached(store: Store) -> None:
    store.write("t", a_log(2))
    cachefile.refresh(str(store.root))
    assert freshness.freshness(store.reader).direct == ["t"]
    time.sleep(0.11)
    cachefile.refresh(str(store.root))
    assert freshness.freshness(store.reader).direct == []


def test_a_plan_is_the_same_if_only_some_threads_are_listed(store: Store) -> None:
    link = (Link(BLOCKED_BY, "u"),)
    store.write("t", [entry(0), entry(5, links_added=link)])
    store.write("u", [entry(1, status=OPEN)])
    store.write("v", a_log(2))
    store.refresh()
    assert_the_same(store.reader)
    (row,) = Overview(store.reader, viewer()).matching(Filter(topics=frozenset("t")))
    assert row.waits == ("u",)


def test_a_folder_that_became_a_link_shows_at_once(
    store: Store, tmp_path: Path
) -> None:
    for topic in TOPICS:
        store.write(topic, a_log(2))
    pages = Path(store.reader.layout.pages)
    pages.mkdir(parents=True, exist_ok=True)
    (pages / "t.md").write_text("# t\n")
    store.refresh()
    folder = Path(store.reader.layout.folder("t"))
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    listing = Listing(store.reader, viewer())
    for rows in (listing.rows(), listing.rows_at(["t", "none"])):
        assert [row.topic for row in rows if row.damaged] == ["t"]


def rewrite(meta: Path) -> None:
    """Changes a ``meta.json`` in place, as a script does."""
    fields = json.loads(meta.read_text()) | {"status": "WAIT", "ball": "Codex"}
    meta.write_text(json.dumps(fields, indent=2))


@pytest.mark.parametrize("has_meta", [True, False])
def test_a_meta_that_is_changed_in_place_shows_at_once(
    store: Store, *, has_meta: bool
) -> None:
    tool = OlderTool(store.root)
    tool.init_thread("older")
    tool.say("older", "title")
    write_thread(store.root, "ours", a_log(2), meta=has_meta)
    store.refresh()
    assert freshness.freshness(store.reader).unindexed == 0
    rewrite(Path(store.reader.layout.meta("older")))
    if has_meta:
        rewrite(Path(store.reader.layout.meta("ours")))
    rows = Listing(store.reader, viewer()).rows()
    assert rows == by_files(store.reader)
    # Only the log counts for a thread that wc writes.
    assert [row.status for row in rows].count("WAIT") == 1


def test_permissions_change_nothing(store: Store) -> None:
    store.write("t", a_log(2))
    store.refresh()
    for path in store.root.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o022)
    assert freshness.freshness(store.reader).direct == []


def test_a_copy_is_refused_and_made_again(store: Store) -> None:
    store.write("t", a_log(2))
    store.refresh()
    path = Path(store.reader.layout.cache)
    path.rename(f"{path}.old")
    shutil.copy(f"{path}.old", path)
    with pytest.raises(UnusableCacheError, match="copy"):
        Cache(store.reader.layout)
    store.refresh()
    Cache(store.reader.layout).check()


@pytest.mark.parametrize(
    "damage", ["zeros", "words", "version", "link", "folder", "write-ahead log"]
)
def test_an_unusable_file_is_not_used_and_is_made_again(
    store: Store, damage: str
) -> None:
    store.write("t", a_log(3))
    store.refresh()
    path = Path(store.reader.layout.cache)
    whole = path.read_bytes()
    if damage == "link":
        path.rename(store.root / "elsewhere")
        path.symlink_to(store.root / "elsewhere")
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage == "write-ahead log":
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = wal")
    else:
        path.write_bytes(
            {
                "zeros": whole[:4096] + bytes(len(whole) - 4096),
                "words": b"no database",
                "version": whole[:60] + b"\0\0\0\x63" + whole[64:],
            }[damage]
        )
    with pytest.raises(UnusableCacheError):
        Cache(store.reader.layout).check()
    assert_the_same(store.reader)
    if damage != "folder":
        store.refresh()
        Cache(store.reader.layout).check()
        assert_the_same(store.reader)
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


def test_half_of_a_change_is_neither_read_nor_kept(store: Store) -> None:
    store.write("t", [entry(number) for number in range(300)])
    store.refresh()
    path = store.reader.layout.cache
    subprocess.run([sys.executable, "-c", _CHANGE_AND_DIE, path], check=True)
    assert os.path.getsize(f"{path}-journal")
    with pytest.raises(UnusableCacheError):
        Cache(store.reader.layout)
    for number in range(101):
        write_thread(store.root, f"t{number}", [entry(number)])
    assert "the next write repairs" in cachefile.problem(str(store.root))
    assert_the_same(store.reader)
    store.refresh()
    Cache(store.reader.layout).check()
    assert_the_same(store.reader)
    assert not os.path.exists(f"{path}-journal")


def test_words_of_replaced_entries_are_under_no_number(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write("t", a_log(4))
    store.refresh()
    for title in ("second", "third"):
        store.write("t", [entry(step, title=title) for step in range(4)])
        store.refresh()
    cache = Cache(store.reader.layout)
    joined = "words JOIN entries ON number = words.rowid WHERE words MATCH ?"
    for word, count in (("title", 0), ("second", 0), ("third", 4)):
        assert cache.ask(f"SELECT count(*) FROM {joined}", word) == [(count,)]
    monkeypatch.setattr(cachefile, "_MOST_DEAD", 0)
    store.refresh()
    assert Cache(store.reader.layout).ask("SELECT count(*) FROM dropped") == [(0,)]

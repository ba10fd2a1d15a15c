"""The same answers, wherever the store is and whatever happened to its index: killed
while it was written, cut off, deleted, locked, read-only, in memory, on a network."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.index.histories import Store, a_log, soon
from tests.cli.index.test_entriesfile import QUESTIONS, assert_the_same
from wc_cli.ledger.index import entriesfile, overviewfile
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.index.entries import EntryFile, UnusableIndexError

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW = QUESTIONS[::4]


def filled(root: Path, *, indexed: bool = True) -> Store:
    """A store of three threads."""
    root.mkdir(parents=True, exist_ok=True)
    store = Store(str(root))
    for number, topic in enumerate(("t", "u", "v")):
        store.write(topic, a_log(number + 3))
    if indexed:
        entriesfile.rebuild(store.reader, soon)
        overviewfile.rebuild(store.reader, soon)
    return store


def assert_answers(store: Store, *, by_index: bool) -> None:
    """The answers are the same; ``by_index`` if no log had to be read for them."""
    for question in QUESTIONS:
        read = assert_the_same(store.reader, question)
        assert (not any(read)) is by_index, question


def test_an_index_that_is_cut_off_at_any_byte(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    for path in map(
        Path, (store.reader.layout.entry_index, store.reader.layout.overview)
    ):
        whole = path.read_bytes()
        for size in (*range(0, 120, 7), *range(120, len(whole), 7001)):
            path.write_bytes(whole[:size])
            for question in FEW:
                assert_the_same(store.reader, question)
        path.write_bytes(whole)
    assert_answers(store, by_index=True)


@pytest.mark.parametrize("gone", ["entry_index", "overview", "index_folder"])
def test_an_index_that_is_deleted(tmp_path: Path, gone: str) -> None:
    store = filled(tmp_path / "store")
    path = getattr(store.reader.layout, gone)
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    assert_answers(store, by_index=gone == "overview")


# Writes the index of copies of a store in processes of which each ends a little later.
_KILLED = """
import os, shutil, sys
from tests.cli.index.histories import soon
from wc_cli.ledger.index import entriesfile
from wc_core.base.lean import sqlite3
from wc_core.ledger.threads.reader import StoreReader

action, root, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
connect = sqlite3.connect

def dying(after):
    def connected(*words, **options):
        database = connect(*words, **options)
        left = [after]
        def step():
            left[0] -= 1
            if left[0] < 0:
                os._exit(0)
        database.set_progress_handler(step, 25)
        return database
    return connected

for number in range(steps):
    copy = f"{root}-{number}"
    shutil.copytree(root, copy)
    if os.fork() == 0:
        sqlite3.connect = dying(number * number)
        getattr(entriesfile, action)(StoreReader(copy), soon)
        os._exit(1)
    _, status = os.wait()
    print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("action", ["rebuild", "remake"])
def test_a_process_that_is_killed_while_it_writes_the_index(
    tmp_path: Path, action: str
) -> None:
    store = filled(tmp_path / "store")
    store.append("t", a_log(9)[3:])
    store.write("v", a_log(2))
    words = [sys.executable, "-c", _KILLED, action, str(store.root), "12"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    # Some were killed, and the last ones had the time.
    assert {*done.stdout.split()} == {"0", "1"}
    for number in range(12):
        copy = Store(f"{store.root}-{number}")
        for question in FEW:
            assert_the_same(copy.reader, question)
        entriesfile.rebuild(copy.reader, soon)
        for question in FEW:
            assert not any(assert_the_same(copy.reader, question))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory."""
    path = tmp_path / "memory"
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=777", "none", str(path)]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NO FILE SYSTEM IN MEMORY: this user may not mount one ({error})")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def test_a_store_in_memory_and_then_read_only(memory: Path) -> None:
    store = filled(memory / "store")
    assert_answers(store, by_index=True)
    bare = filled(memory / "bare", indexed=False)
    remount = ["mount", "-o", "remount,ro", str(memory)]
    subprocess.run(remount, check=True)
    # A store that was opened before, and one that is opened now.
    assert_answers(store, by_index=True)
    assert_answers(Store(str(memory / "store")), by_index=True)
    assert_answers(bare, by_index=False)


def test_an_index_that_another_process_holds_locked(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    path = store.reader.layout.entry_index
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for question in FEW:
            assert all(assert_the_same(store.reader, question))
    assert_answers(store, by_index=True)


# On a network file system, a file may get another inode or other times without a
# change, times may be whole seconds, and locks or reads may be refused.


def test_files_whose_stamps_change_without_a_reason(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    for topic in ("t", "u", "v"):
        store.restore(topic, [])
    assert_answers(store, by_index=False)
    entriesfile.rebuild(store.reader, soon)
    assert_answers(store, by_index=True)


def test_times_that_are_whole_seconds(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    for topic in ("t", "u", "v"):
        info = store.log(topic).stat()
        second = info.st_mtime_ns // 1_000_000_000 * 1_000_000_000
        os.utime(store.log(topic), ns=(second, second))
    assert_answers(store, by_index=False)
    entriesfile.rebuild(store.reader, soon)
    log = store.log("t").read_bytes()
    store.append("t", a_log(6)[3:])
    os.utime(store.log("t"), ns=(second, second))
    for question in FEW:
        assert_the_same(store.reader, question)
    assert store.log("t").read_bytes() != log


def test_locks_that_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path / "store")
    connect = sqlite3.connect

    def refusing(path: str, **options: object) -> sqlite3.Connection:
        """As where no server answers for locks: the kernel has none for this file."""
        return connect(f"{path}&vfs=unix-none-such", **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr("wc_core.base.lean.sqlite3.connect", refusing)
    with pytest.raises(UnusableIndexError):
        EntryFile(StoreReader(str(store.root)).layout)
    assert_answers(store, by_index=False)

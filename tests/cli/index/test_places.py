"""The same answers, wherever the store is and whatever happened to its index: killed
while it was written, cut off, deleted, locked, read-only, in memory, on a network."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.index.histories import Store, a_log
from tests.cli.index.test_cache import answers, assert_the_same
from wc_core.ledger.index.cache import Cache, UnusableCacheError
from wc_core.ledger.index.freshness import freshness

if TYPE_CHECKING:
    from collections.abc import Iterator


def filled(root: Path, *, indexed: bool = True) -> Store:
    """A store of three threads."""
    root.mkdir(parents=True, exist_ok=True)
    store = Store(str(root))
    for number, topic in enumerate(("t", "u", "v")):
        store.write(topic, a_log(number + 3))
    if indexed:
        store.refresh()
    return store


def assert_answers(store: Store, *, by_index: bool) -> None:
    """The answers are the same; ``by_index`` if no log had to be read for them."""
    assert_the_same(store.reader)
    assert (not freshness(store.reader).direct) is by_index


def test_an_index_that_is_cut_off_at_any_byte(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    path = Path(store.reader.layout.cache)
    whole = path.read_bytes()
    for size in (*range(0, 120, 7), *range(120, len(whole), 7001)):
        path.write_bytes(whole[:size])
        assert_the_same(store.reader)
    path.write_bytes(whole)
    assert_answers(store, by_index=True)


# Writes the index of copies of a store in processes of which each ends a little later.
_KILLED = """
import os, shutil, sys
from tests.cli.index.histories import Store
from wc_core.base.lean import sqlite3

root, steps = sys.argv[1], int(sys.argv[2])
connect = sqlite3.connect

def adopt(path):
    database = connect(path)
    database.execute("UPDATE facts SET inode = ?", (os.stat(path).st_ino,))
    database.commit()
    database.close()

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
    if number % 2:
        adopt(f"{copy}/.local/cache.db")
    if os.fork() == 0:
        sqlite3.connect = dying(number * number)
        Store(copy).refresh()
        os._exit(1)
    _, status = os.wait()
    print(os.waitstatus_to_exitcode(status))
"""


def test_a_process_that_is_killed_while_it_writes_the_index(tmp_path: Path) -> None:
    """Half of them make it again, as the copy is not theirs."""
    store = filled(tmp_path / "store")
    store.append("t", a_log(9)[3:])
    store.write("v", a_log(2))
    words = [sys.executable, "-c", _KILLED, str(store.root), "24"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    # Some were killed, and the last ones had the time.
    assert {*done.stdout.split()} == {"0", "1"}
    for number in range(24):
        copy = Store(f"{store.root}-{number}")
        assert_the_same(copy.reader)
        copy.refresh()
        assert_answers(copy, by_index=True)


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
    bare = filled(memory / "bare", indexed=False)
    expected = [answers(one.reader) for one in (bare, store)]
    remount = ["mount", "-o", "remount,ro", str(memory)]
    subprocess.run(remount, check=True)
    assert [answers(one.reader) for one in (bare, store)] == expected
    assert freshness(store.reader).direct == []


def test_an_index_that_another_process_holds_locked(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    path = store.reader.layout.cache
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert len(freshness(store.reader).direct) == 3
    assert_answers(store, by_index=True)


# On a network file system, a file may get another inode or other times without a
# change, times may be whole seconds, and locks or reads may be refused.


def test_files_whose_stamps_change_without_a_reason(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    for topic in ("t", "u", "v"):
        store.restore(topic, [])
    assert_answers(store, by_index=False)
    store.refresh()
    assert_answers(store, by_index=True)


def test_times_that_are_whole_seconds(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    for topic in ("t", "u", "v"):
        info = store.log(topic).stat()
        second = info.st_mtime_ns // 1_000_000_000 * 1_000_000_000
        os.utime(store.log(topic), ns=(second, second))
    assert_answers(store, by_index=False)
    store.refresh()
    log = store.log("t").read_bytes()
    store.append("t", a_log(6)[3:])
    os.utime(store.log("t"), ns=(second, second))
    assert_the_same(store.reader)
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
    with pytest.raises(UnusableCacheError):
        Cache(store.reader.layout)
    assert_answers(store, by_index=False)

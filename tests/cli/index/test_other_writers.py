"""What others do to a large store, whose threads are not compared one by one: git
commands of a user, another user's wc, a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.index.histories import Store, a_log, by_files, soon
from tests.core.strategies import entry, viewer, write_thread
from wc_cli.ledger.index import cachefile
from wc_core.base.errors import StorageError
from wc_core.ledger.index import freshness
from wc_core.ledger.index.cache import Cache
from wc_core.ledger.index.keys import log_size
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo
    from wc_core.reading.views.rows import ThreadRow


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "FEW", 0)


def made(root: Path) -> Store:
    """A store with a thread, and its cache."""
    root.mkdir()
    store = Store(str(root))
    store.write("t", a_log(2))
    store.refresh()
    return store


def rows(root: Path) -> list[ThreadRow]:
    return Listing(StoreReader(str(root)), viewer()).rows()


def test_git_commands_in_the_folder_of_the_store_show_at_once(repo: Repo) -> None:
    repo.settled("new", "login", "--title", "one")
    repo.settled("new", "cart", "--title", "two")
    store = repo.store
    before = repo.git("-C", str(store), "rev-parse", "HEAD~1").strip()
    cachefile.refresh(str(store), soon)
    assert freshness.freshness(StoreReader(str(store))).direct == []
    for words, topics in (
        (("checkout", "-q", "--detach", before), ["login"]),
        (("checkout", "-q", "watercooler/threads"), ["cart", "login"]),
        (("reset", "-q", "--hard", before), ["login"]),
        (("reset", "-q", "--hard", "ORIG_HEAD"), ["cart", "login"]),
    ):
        repo.git("-C", str(store), *words)
        assert sorted(row.topic for row in rows(store)) == topics
        assert rows(store) == by_files(StoreReader(str(store)))
    log = store / "graph/baseline/threads/login/entries.jsonl"
    log.write_bytes(log.read_bytes() + log.read_bytes())
    repo.git("-C", str(store), "stash")
    assert rows(store) == by_files(StoreReader(str(store)))


def test_a_comparison_is_due_ten_minutes_after_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = made(tmp_path / "store")
    monkeypatch.setattr(freshness, "FEW", 1)
    log = store.log("t")
    before = os.stat(log.parent)
    log.write_bytes(log.read_bytes() + b"\n")
    os.utime(log.parent, ns=(before.st_atime_ns, before.st_mtime_ns))
    fresh = freshness.freshness(store.reader)
    assert (fresh.direct, fresh.unindexed) == ([], 0)
    os.utime(store.reader.layout.cache, (0, 0))
    assert freshness.freshness(store.reader).unindexed
    store.refresh()
    ((key,),) = Cache(store.reader.layout).ask("SELECT key FROM threads")
    assert log_size(key) == log.stat().st_size
    assert not freshness.freshness(store.reader).unindexed


def test_a_restored_copy_of_the_whole_store_is_read(tmp_path: Path) -> None:
    store = made(tmp_path / "store")
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", store.root, copy], check=True)
    write_thread(store.root, "u", [entry(5)])
    assert [row.topic for row in rows(copy)] == ["t"]
    assert [row.topic for row in rows(store.root)] == ["u", "t"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with little room."""
    path = tmp_path / "disk"
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=400k,mode=777", "none", str(path)]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NO FILE SYSTEM IN MEMORY: this user may not mount one ({error})")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def test_a_full_disk_leaves_the_cache_as_it_was(small_disk: Path) -> None:
    store = made(small_disk / "store")
    free = os.statvfs(small_disk)
    with (small_disk / "rest").open("wb") as file:
        file.write(bytes(free.f_bavail * free.f_bsize - 12_288))
    store.write("u", a_log(3))
    with pytest.raises(StorageError):
        cachefile.remake(str(store.root))
    (small_disk / "rest").unlink()
    assert rows(store.root) == by_files(store.reader)
    store.refresh()
    Cache(store.reader.layout).check()


# Lists a store as another user.
_OTHER_USER = """
import os, sqlite3, sys
from tests.core.strategies import viewer
from wc_core.ledger.index import freshness
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.listing import Listing
reader = StoreReader(sys.argv[1])
freshness.FEW = 0
len(Listing(reader, viewer()).rows())  # what is imported only then
os.setgid(65534)
os.setuid(65534)
print(freshness.freshness(reader).direct, len(Listing(reader, viewer()).rows()))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_a_reader_of_another_user_writes_nothing(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    store = made(tmp_path / "store")
    words = [sys.executable, "-c", _OTHER_USER, str(store.root)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "[] 1\n"
    local = Path(store.reader.layout.local)
    assert {path.name for path in local.iterdir()} == {"cache.db", "locks"}

"""When the index is written: after a write, and when a list lacks much of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.core.strategies import entry, write_thread
from wc_cli.ledger.index import cachefile
from wc_core.base.layout import Layout
from wc_core.ledger.index import keys
from wc_core.ledger.index.cache import Cache, UnusableCacheError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repo

BACKGROUND = {"WATERCOOLER_SYNC": "background"}


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true within ten seconds."""
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def cached(repo: Repo) -> set[str]:
    """The topics in the cache."""
    try:
        cache = Cache(Layout(os.fspath(repo.store)))
        return {topic for (topic,) in cache.ask("SELECT topic FROM threads")}
    except UnusableCacheError:
        return set()


def test_a_write_is_indexed_once_it_is_settled(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "x", env=BACKGROUND)
    assert eventually(lambda: cached(repo) == {"login"})
    repo.ok("new", "cart", "--title", "x", env=BACKGROUND)
    assert eventually(lambda: cached(repo) == {"login", "cart"})


def test_a_write_that_is_settled_inline_is_cached(repo: Repo) -> None:
    layout = Layout(os.fspath(repo.store))
    repo.settled("new", "topic", "--title", "x")
    repo.settled("say", "topic", "--title", "needle", "--kind", "decision")
    assert "needle" in repo.ok("brief").out
    time.sleep(keys.TICK_SECONDS)
    repo.settled("new", "cart", "--title", "x")
    assert os.listdir(layout.traces) == []
    assert "topic" in cached(repo)


def test_a_thread_whose_log_was_emptied_leaves_the_index(repo: Repo) -> None:
    layout = Layout(os.fspath(repo.store))
    repo.ok("new", "login", "--title", "x")
    repo.ok("new", "cart", "--title", "x")
    cachefile.remake(layout.root)
    os.truncate(layout.log("cart"), 0)
    cachefile.refresh(layout.root)
    assert cached(repo) == {"login"}


def test_a_list_that_reads_many_threads_has_the_index_made(repo: Repo) -> None:
    repo.ok("new", "topic", "--title", "x")
    for number in range(21):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    assert not cached(repo)
    listed = repo.ok("list", env=BACKGROUND).out
    assert eventually(lambda: len(cached(repo)) == 22)
    assert repo.ok("list").out == listed


def test_threads_that_arrive_after_a_write_are_indexed_with_the_next_list(
    repo: Repo,
) -> None:
    """As by `wc sync`: an index that was written to just now may lack them all."""
    repo.ok("new", "topic", "--title", "x")
    for number in range(21):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    cachefile.remake(os.fspath(repo.store))
    for number in range(21, 42):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    repo.ok("list", env=BACKGROUND)
    assert eventually(lambda: len(cached(repo)) == 43)


def test_what_cannot_be_indexed_starts_a_process_now_and_then(repo: Repo) -> None:
    repo.ok("new", "topic", "--title", "x")
    (repo.store / ".local/cache.db").mkdir()
    for number in range(21):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    started = repo.store / ".local/locks/index-making"
    repo.ok("list", env=BACKGROUND)
    first = started.stat().st_mtime_ns
    repo.ok("list", env=BACKGROUND)
    assert started.stat().st_mtime_ns == first
    os.utime(started, (0, 0))
    repo.ok("list", env=BACKGROUND)
    assert started.stat().st_mtime_ns > first


def test_the_doctor_says_what_the_index_lacks_and_makes_it(repo: Repo) -> None:
    repo.ok("new", "topic", "--title", "x")
    for number in range(100):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    assert "lists and searches read every log: it is missing" in repo.wc("doctor").out
    repo.ok("doctor", "--repair")
    assert len(cached(repo)) == 101
    assert "index:" not in repo.ok("doctor").out
    (repo.store / ".local/cache.db").write_bytes(b"no database")
    assert "read every log: file is not a database" in repo.ok("doctor").out
    repo.ok("doctor", "--repair")
    assert "index:" not in repo.ok("doctor").out
    for number in range(100):
        os.utime(repo.store / f"graph/baseline/threads/topic-{number}/entries.jsonl")
    assert "lists read 100 threads that it does not have" in repo.ok("doctor").out


# Runs a command as a Python does that was built without SQLite.
_WITHOUT_SQLITE = """
import sys
sys.modules["sqlite3"] = sys.modules["_sqlite3"] = None
from wc_cli.ledger.index import keeping
keeping.update(sys.argv.pop(1))
from wc_cli.start import main
main()
"""


def test_a_python_without_sqlite_searches_the_logs(repo: Repo) -> None:
    repo.ok("new", "topic", "--title", "needle")
    command = [sys.executable, "-c", _WITHOUT_SQLITE, os.fspath(repo.store)]

    def run(*words: str) -> str:
        return subprocess.run(
            [*command, *words],
            check=True,
            cwd=repo.path,
            env=repo.machine.env,
            capture_output=True,
            text=True,
        ).stdout

    assert json.loads(run("search", "needle", "--json"))["total"] == 1
    assert "has no SQLite" in run("doctor")


def test_what_an_older_wc_kept_goes(repo: Repo) -> None:
    local = repo.store / ".local"
    repo.settled("new", "topic", "--title", "x")
    (local / "status/holder/pat").mkdir(parents=True)
    (local / "status/holder/pat/0.topic").write_text("wc1 OPEN\n")
    (local / "status/out").symlink_to(repo.path)
    (local / "index").mkdir(exist_ok=True)
    for name in ("overview", "entries.db", "vectors"):
        (local / "index" / name).touch()
    repo.settled("say", "topic", "--title", "y")
    assert not (local / "status").exists()
    assert [path.name for path in (local / "index").iterdir()] == ["vectors"]
    assert repo.path.is_dir()

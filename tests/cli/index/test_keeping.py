"""When the index is written: after a write, and when a list lacks much of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.cli.index.histories import soon
from tests.core.strategies import entry, write_thread
from wc_cli.ledger.index import keeping, making, overviewfile
from wc_core.base.layout import Layout
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.index import decisions, keys, overview
from wc_core.lookup.index.entries import EntryFile

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


def indexed(repo: Repo) -> set[str]:
    """The topics in the overview."""
    return {*overview.read_records(Layout(os.fspath(repo.store)))}


def test_a_write_is_indexed_once_it_is_settled(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "x", env=BACKGROUND)
    assert eventually(lambda: indexed(repo) == {"login"})
    repo.ok("new", "cart", "--title", "x", env=BACKGROUND)
    assert eventually(lambda: indexed(repo) == {"login", "cart"})


def noted(repo: Repo) -> list[str]:
    """The threads that were settled and that no process has looked at since."""
    folder = Layout(os.fspath(repo.store)).index_settled
    return os.listdir(folder) if os.path.isdir(folder) else []


def test_writes_that_are_settled_inline_are_indexed_once_it_is_worth_it(
    repo: Repo,
) -> None:
    layout = Layout(os.fspath(repo.store))
    repo.settled("new", "topic", "--title", "x")
    repo.settled("say", "topic", "--title", "needle", "--kind", "decision")
    assert noted(repo) == []
    assert decisions.load_behind(layout) == frozenset({"topic"})
    for number in range(20):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
        keeping.note_settled(layout, f"topic-{number}")
    time.sleep(keys.TICK_SECONDS)
    repo.settled("new", "cart", "--title", "x")
    assert noted(repo) == []
    # The last one is too young to be indexed, unless the machine is slow.
    behind = decisions.load_behind(layout) or frozenset()
    assert behind <= {"cart"}
    assert len(EntryFile(layout).threads()) == 22 - len(behind)
    assert "needle" in repo.ok("brief").out


def test_a_list_that_reads_many_threads_has_the_index_made(repo: Repo) -> None:
    repo.ok("new", "topic", "--title", "x")
    for number in range(21):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    assert not indexed(repo)
    listed = repo.ok("list", env=BACKGROUND).out
    assert eventually(lambda: len(indexed(repo)) == 22)
    assert repo.ok("list").out == listed


def test_threads_that_arrive_after_a_write_are_indexed_with_the_next_list(
    repo: Repo,
) -> None:
    """As by `wc sync`: an index that was written to just now may lack them all."""
    repo.ok("new", "topic", "--title", "x")
    for number in range(21):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    making.remake(os.fspath(repo.store))
    for number in range(21, 42):
        write_thread(repo.store, f"topic-{number}", [entry(number)], meta=True)
    repo.ok("list", env=BACKGROUND)
    assert eventually(lambda: len(indexed(repo)) == 43)


def test_what_cannot_be_indexed_starts_a_process_now_and_then(repo: Repo) -> None:
    repo.ok("new", "topic", "--title", "x")
    (repo.store / ".local/index").write_bytes(b"in its place")
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
    assert "lists read every thread" in repo.wc("doctor").out
    repo.ok("doctor", "--repair")
    assert len(indexed(repo)) == 101
    assert "index:" not in repo.ok("doctor").out
    (repo.store / ".local/index/entries.db").write_bytes(b"no database")
    assert "searches read every log: file is not a database" in repo.ok("doctor").out
    repo.ok("doctor", "--repair")
    assert "index:" not in repo.ok("doctor").out
    for number in range(21):
        os.utime(repo.store / f"graph/baseline/threads/topic-{number}/entries.jsonl")
    assert "lists read 21 threads that it does not have" in repo.ok("doctor").out
    overviewfile.rebuild(StoreReader(os.fspath(repo.store)), soon)
    assert "searches read 21 logs that it does not have" in repo.ok("doctor").out


def test_a_search_reads_the_logs_of_few_threads_before_they_are_indexed(
    repo: Repo,
) -> None:
    repo.ok("new", "topic", "--title", "needle")
    root = os.fspath(repo.store)
    making.remake(root)
    path = repo.store / ".local/index/entries.db"
    before = path.stat().st_mtime_ns
    for number in range(20):
        name = f"topic-{number}"
        write_thread(repo.store, name, [entry(number, title="needle")], meta=True)
        keeping.update(root, [name])
    assert path.stat().st_mtime_ns == before
    assert repo.json("search", "needle")["total"] == 21
    time.sleep(0.11)
    keeping.update(root, ["topic"])
    assert path.stat().st_mtime_ns != before
    assert len(EntryFile(Layout(root)).threads()) == 21
    assert repo.json("search", "needle")["total"] == 21
    large = [entry(number, body="word " * 2000) for number in range(20)]
    write_thread(repo.store, "large", large, meta=True)
    time.sleep(0.11)
    keeping.update(root, ["large"])
    assert "large" in EntryFile(Layout(root)).threads()


# Runs a command as a Python does that was built without SQLite.
_WITHOUT_SQLITE = """
import sys
sys.modules["sqlite3"] = sys.modules["_sqlite3"] = None
from wc_cli.ledger.index import keeping
keeping.update(sys.argv.pop(1), ["topic"])
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

"""Vectors that are made in the background."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.index.test_keeping import BACKGROUND, eventually
from tests.core.strategies import entry, write_thread
from wc_cli.ledger import spawn
from wc_core.base.layout import Layout
from wc_core.ledger.index.keys import TICK_SECONDS
from wc_core.reading.meaning import vectorfile
from wc_core.reading.meaning.vectorfile import UnusableVectorsError

if TYPE_CHECKING:
    from tests.conftest import Repo

ON = {"WATERCOOLER_MEANING": "on"}

pytest.importorskip("wordllama", reason="wc-watercooler[meaning] is not installed")


def count(repo: Repo) -> int:
    """How many rows the file of vectors has."""
    layout = Layout(os.fspath(repo.store))
    try:
        header = vectorfile.read_header(layout)
    except UnusableVectorsError:
        return 0
    return len([*vectorfile.read_rows(layout, header)])


def test_writes_are_followed_once_they_are_many(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "x")
    repo.ok("enrich", "--meaning", env=ON)
    assert count(repo) == 1
    for number in range(21):
        write_thread(repo.store, f"topic-{number}", [entry(number)])
    time.sleep(TICK_SECONDS)
    repo.ok("say", "login", "--title", "y", env=BACKGROUND | ON)
    assert eventually(lambda: count(repo) == 23)


def test_a_write_is_followed_by_the_vectors_of_its_thread(repo: Repo) -> None:
    repo.settled("new", "other", "--title", "x")
    repo.settled("new", "login", "--title", "x")
    repo.ok("say", "login", "--title", "y", env=BACKGROUND | ON)
    assert eventually(lambda: count(repo) == 2)


def test_a_search_that_misses_many_has_them_made(repo: Repo) -> None:
    for number in range(3):
        repo.ok("new", f"t{number}", "--title", "x")
    layout = Layout(os.fspath(repo.store))
    env = repo.machine.env | ON
    spawn.start_vectors_if_due(layout, 0, env)
    assert not os.path.lexists(layout.vectors_making)
    spawn.start_vectors_if_due(layout, 3, env)
    assert eventually(lambda: count(repo) == 3)
    # One is started every 30 s at most.
    os.unlink(layout.vectors)
    spawn.start_vectors_if_due(layout, 3, env)
    time.sleep(0.5)
    assert count(repo) == 0


_ONE_SEARCH = """
import os
from wc_cli.run.context import Context

context = Context(dict(os.environ), os.getcwd())
overview = context.overview
meaning = context.search_engine(overview).meaning
assert meaning.nearest("back off", overview.reader.topics, "").scores
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs Linux's /proc")
def test_a_search_starts_no_threads(repo: Repo) -> None:
    repo.machine.env |= ON
    repo.ok("new", "retries", "-m", "We back off exponentially")
    env = {**repo.machine.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    env.pop("OPENBLAS_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", _ONE_SEARCH],
        cwd=repo.path,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1\n"

"""Work on very many threads that several processes share: the same lines in the same
order, whichever process does them or fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.index.sharing import process_count, share
from wc_core.index.keys import thread_keys, word_keys
from wc_core.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(
        sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2,
        reason="ONE PROCESSOR: nothing is shared here",
    ),
]
# pytest has threads, so what shares is a program of its own. It is given a function
# `work` and prints what is returned, or the error, and how many copies were made.
PROGRAM = """\
import json, os, sys
forks = []
sys.addaudithook(lambda event, _: event == "os.fork" and forks.append(event))
from wc_cli.index.sharing import share
parent = os.getpid()
{work}
try:
    lines = share(work, [str(number) for number in range({count})], {processes})
except ZeroDivisionError:
    lines = ["an error"]
try:
    left = os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    left = None
print(json.dumps([lines, len(forks), left]))
"""
SQUARES = "work = lambda names: [f'{name}²' for name in names]"
ONLY_THE_PARENT = """\
def work(names):
    if os.getpid() != parent:
        sys.stderr = open(os.devnull, "w")
        raise OSError("not here")
    return list(names)
"""
IDS = "work = lambda names: [str(os.getpid()) for _ in names]"
# The parent fails at once, while its copies have more to send than a pipe holds.
LONG_LINES = """\
def work(names):
    if os.getpid() == parent:
        raise ZeroDivisionError
    return [name * 1000 for name in names]
"""
FAILS = "work = lambda names: [str(1 // (os.getpid() != parent)) for _ in names]"


def shared(work: str, count: int, processes: int = 0) -> list[str]:
    """The lines that a program gets, which must have shared the work."""
    source = PROGRAM.format(work=work, count=count, processes=processes)
    command = [sys.executable, "-c", source]
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60
    )
    lines, forks, left = json.loads(run.stdout)
    assert forks >= 1
    assert left is None, "a process is left"
    return list(lines)


@pytest.mark.parametrize("count", [3000, 3001, 50_003])
def test_all_lines_are_returned_in_order(count: int) -> None:
    assert shared(SQUARES, count) == [f"{number}²" for number in range(count)]


def test_copies_do_a_part_of_it() -> None:
    ids = shared(IDS, 5000)
    assert len(ids) == 5000
    assert len({*ids}) >= 2


def test_what_a_copy_cannot_do_is_done_by_its_parent() -> None:
    assert shared(ONLY_THE_PARENT, 4000) == [str(number) for number in range(4000)]


def test_an_error_leaves_no_process() -> None:
    assert shared(FAILS, 4000) == ["an error"]


def test_an_error_does_not_wait_for_copies_that_write() -> None:
    assert shared(LONG_LINES, 8000, processes=4) == ["an error"]


def test_several_copies_keep_the_order() -> None:
    assert shared(SQUARES, 5001, processes=4) == [f"{n}²" for n in range(5001)]


def test_a_process_with_threads_makes_no_copies() -> None:
    assert "threading" in sys.modules
    assert process_count(100_000) == 1
    seen = []

    def work(names: Sequence[str]) -> list[str]:
        seen.append(os.getpid())
        return [*names]

    assert share(work, ["1"] * 10_000) == ["1"] * 10_000
    assert share(work, []) == []
    assert seen == [os.getpid()] * 2


KEYS = """\
import json, os, sys
from wc_cli.index.sharing import process_count, share
from wc_core.index.keys import ThreadFiles
from wc_core.layout import Layout
layout = Layout(sys.argv[1])
topics = os.listdir(layout.threads)
assert process_count(len(topics)) > 1
with ThreadFiles(layout, share) as files:
    print(json.dumps([files.keys(topics), files.word_keys(topics)]))
"""


def test_the_keys_of_many_threads_are_those_of_one_process(tmp_path: Path) -> None:
    layout = Layout(os.path.realpath(tmp_path))
    files = ("entries.jsonl", "meta.json", "annotations.jsonl")
    for number in range(3010):
        folder = Path(layout.threads) / f"thread-{number}"
        folder.mkdir(parents=True)
        for name in files[: 1 + number % 3] if number % 10 else ():
            (folder / name).write_text("{}\n")
    command = [sys.executable, "-c", KEYS, layout.root]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    topics = os.listdir(layout.threads)
    expected = [thread_keys(layout, topics), word_keys(layout, topics)]
    assert json.loads(run.stdout) == expected

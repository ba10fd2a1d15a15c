"""bin/bench: the form of its table. What it says depends on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bin" / "bench"


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    # This interpreter has what the checkout's environment has.
    return subprocess.run(
        [sys.executable, BENCH, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
    )


def cells(line: str) -> list[str]:
    assert line.startswith("| ")
    assert line.endswith(" |")
    return [cell.strip() for cell in line[1:-1].split("|")]


def test_prints_a_markdown_table() -> None:
    done = bench("--quick", "--only", "sh")
    assert done.returncode == 0, done.stderr
    machine, blank, head, rule, *rows = done.stdout.splitlines()
    assert "cores" in machine
    assert "Python" in machine
    assert not blank
    assert cells(head) == [
        *("what", "median", "middle half", "ratio", "to", "goal", "holds")
    ]
    assert set(rule) <= set("|- ")
    assert cells(rows[0])[0] == "sh -c :"
    assert cells(rows[0])[1].endswith(" ms")
    assert len({len(line) for line in (head, rule, *rows)}) == 1


def test_a_row_comes_with_what_it_is_compared_with() -> None:
    done = bench("--runs", "2", "--only", "through bin/wc", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    assert list(rows) == ["sh -c :", "wc -l, the system's", "wc -l, through bin/wc"]
    ours = rows["wc -l, through bin/wc"]
    assert ours["other"] == "wc -l, the system's"
    assert ours["goal"] == "≤ + 2 ms"
    assert ours["holds"] in {True, False}
    assert ours["ratio"] > 0


@pytest.mark.parametrize("pattern", ["no such row", "("])
def test_says_what_a_pattern_does_not_match(pattern: str) -> None:
    done = bench("--only", pattern)
    assert done.returncode == 1
    assert done.stderr.startswith("bench: ")
    assert "Traceback" not in done.stderr

"""bin/bench: the form of its table. What it says depends on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from tests.bench.scratch import Scratch

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bin" / "bench"


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


def test_the_table_in_the_documentation_has_its_rows(tmp_path: Path) -> None:
    loader = SourceFileLoader("bench", str(BENCH))
    spec = spec_from_file_location("bench", BENCH, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    rows = module.Table(Scratch(str(tmp_path)), module.Size()).rows()
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    _, _, *lines = [line for line in page.splitlines() if line.startswith("| ")]
    assert [cells(line)[0] for line in lines] == [row.name for row in rows]
    assert [cells(line)[4] for line in lines] == [row.other for row in rows]
    goals = [row.goal.text if row.goal else "" for row in rows]
    assert [cells(line)[5] for line in lines] == goals

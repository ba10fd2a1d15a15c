"""bin/bench: the form of its table. What it says depends on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from tests.bench.curve import NAMES
from tests.bench.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bin" / "bench"


def bench(
    *words: str, path: str = os.environ["PATH"]
) -> subprocess.CompletedProcess[str]:
    # This interpreter has what the checkout's environment has.
    return subprocess.run(
        [sys.executable, BENCH, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={"PATH": path, "HOME": "/nonexistent"},
    )


def cells(line: str) -> list[str]:
    assert line.startswith("| ")
    assert line.endswith(" |")
    return [cell.strip() for cell in line[1:-1].split("|")]


def test_prints_a_markdown_table() -> None:
    done = bench("--quick", "--only", "^(sh -c :|wc -l, the system's)$")
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


@pytest.mark.long
def test_servers_are_measured_beside_one_that_does_nothing() -> None:
    only = "^(list_threads, 100|wc say, until|wc-observe: CPU)"
    done = bench("--quick", "--json", "--runs", "1", "--only", only)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    call = rows["list_threads, 100 threads of 5"]
    assert call["other"] == "trivial FastMCP server: a call"
    assert call["ratio"] > 0.5
    for what in ("until list_threads has it", "until the server tells of it"):
        assert 0 < rows[f"wc say, {what}, 100 threads of 5"]["median"] < 10_000
    idle = rows["wc-observe: CPU while nothing happens, 100 threads of 5"]
    assert idle["unit"] == "%"
    assert idle["goal"] == "≤ 0.5 %"


@pytest.mark.long
@pytest.mark.skipif(
    not os.path.exists("/proc/self/smaps_rollup"), reason="there is no /proc"
)
def test_waking_a_session_is_measured_beside_a_ball_that_wakes_nobody() -> None:
    done = bench("--quick", "--json", "--runs", "1", "--only", "woken|waiter")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    woken = rows["wc new, until an idle session is woken"]
    assert woken["other"] == "wc new, nobody waits"
    # Balls that come together wake once: this is waited for.
    assert 400 < woken["median"] < 10_000
    memory = rows["a session's waiter, asleep: memory"]
    assert 1 < memory["ratio"] < 3
    assert rows["a session's waiter, asleep: PSS"]["median"] < memory["median"]
    idle = rows["a session's waiter, asleep: CPU in a minute"]
    assert idle["other"] == "wc wait: CPU in a minute"


def some_rows() -> str:
    """What the bench says of servers, as it would say it."""
    sizes = ("5 threads of 20", "10 threads of 20")
    names = ["trivial FastMCP server: a call", "trivial FastMCP server: memory"]
    names += [f"{name}, {size}" for name in NAMES for size in sizes]
    rows = [
        {"name": name, "median": 5.0 + at, "unit": "ms"}
        for at, name in enumerate(names)
    ]
    return json.dumps({"machine": "2 cores", "rows": rows})


def measured_rows() -> str:
    """What the bench says of servers."""
    done = bench("--quick", "--curve", "--json", "--runs", "1")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "rows",
    [
        some_rows,
        pytest.param(measured_rows, marks=pytest.mark.long),
    ],
)
def test_what_a_server_costs_in_small_and_large_stores_is_drawn(
    rows: Callable[[], str],
) -> None:
    drawing = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_plot.py"],
        input=rows(),
        capture_output=True,
        text=True,
        check=True,
    )
    picture = ET.fromstring(drawing.stdout)
    space = {"": "http://www.w3.org/2000/svg"}
    lines = {
        group.findtext("title", "", space): group.find("polyline", space)
        for group in picture.findall("g", space)
    }
    assert {"first list_threads", "list_threads", "read_thread"} < lines.keys()
    for line in lines.values():
        # From the left edge to the right one: stores of two sizes.
        assert line is not None
        points = [point.split(",") for point in line.attrib["points"].split()]
        assert [float(x) for x, _ in points] == [70, 540]
        assert all(50 <= float(y) <= 480 for _, y in points)


# It says that it has done whatever it is told, keeps every second post, and
# refuses those of one writer.
STAND_IN = """\
#!/bin/sh
case "$*" in
  *agent-3*) echo "not yours" >&2; exit 1 ;;
  *mark-*[02468].) echo "$*" >>.baton/board ;;
  init*) mkdir .baton ;;
esac
"""


def test_another_tool_is_measured_where_it_is_installed(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "baton"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    words = ("--peers", str(tmp_path), "--only", "^baton-handoff: (list|8)")
    done = bench("--quick", "--json", "--runs", "1", *words)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    rows = {row["name"]: row for row in answer["rows"]}
    name = "baton-handoff: 8 writers"
    assert rows[f"{name}: 200 posts"]["other"] == "8 writers, one thread: 200 posts"
    assert rows["baton-handoff: list, 50 threads of 1"]["ratio"] > 0
    # Three posts of each of the eight writers, the second one lost.
    assert answer["notes"] == [
        f"{name}: 3 of 24 posts failed: not yours",
        f"{name}: 7 of 24 posts are nowhere to be found",
    ]


def test_another_tool_that_is_not_installed_is_named() -> None:
    done = bench("--only", "^baton-handoff", path="/nonexistent")
    assert done.returncode == 1
    assert done.stderr == "bench: baton-handoff is not installed: 6 rows left out\n"


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
    rows = module.parts(Scratch(str(tmp_path)), module.Size()).rows()
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    _, _, *lines = [line for line in page.splitlines() if line.startswith("| ")]
    assert [cells(line)[0] for line in lines] == [row.name for row in rows]
    assert [cells(line)[4] for line in lines] == [row.other for row in rows]
    goals = [row.goal.text if row.goal else "" for row in rows]
    assert [cells(line)[5] for line in lines] == goals

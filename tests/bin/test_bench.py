"""bin/bench: the form of its table. What it says depends on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import benchrun  # noqa: E402 (beside the pages)
import make_benchmarks  # noqa: E402
from tests.bench.processes import BenchError  # noqa: E402
from tests.bench.scratch import Scratch  # noqa: E402
from tests.bench.table import Result, Row, Samples, measure, more, results, times  # noqa: E402

BENCH = ROOT / "bin" / "bench"


def bench(
    *words: str, path: str = os.environ["PATH"]
) -> subprocess.CompletedProcess[str]:
    # This interpreter has what the checkout's environment has.
    return subprocess.run(
        [sys.executable, BENCH, "--locked", *words],
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


def test_a_run_is_printed_and_saved(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    words = ("--runs", "2", "--minutes", "0", "--skip", "dash|bash|zsh|busybox")
    only = "^700|^sh -c :$|through bin/wc"
    done = bench(*words, "--only", only, "--save", str(file))
    assert done.returncode == 0, done.stderr
    machine, blank, head, rule, *lines = done.stdout.splitlines()
    assert "cores" in machine
    assert "Python" in machine
    assert not blank
    assert cells(head) == [
        *("what", "median", "middle half", "ratio", "to", "goal", "holds")
    ]
    assert set(rule) <= set("|- ")
    assert cells(lines[0])[0] == "sh -c :"
    assert cells(lines[0])[1].endswith(" ms")
    table = [line for line in lines if line.startswith("|")]
    assert len({len(line) for line in (head, rule, *table)}) == 1
    run = benchrun.load(file)
    # With what it is compared with.
    compared = ["wc -l, the system's", "wc -l, through bin/wc"]
    assert sorted(run.rows) == ["700 bytes appended, fsync", "sh -c :", *compared]
    ours = run.rows[compared[-1]]
    assert ours.other == compared[0]
    assert ours.goal == "≤ + 2 ms"
    assert ours.holds in {True, False}
    assert ours.ratio is not None
    assert ours.ratio > 0
    assert run.answer["rounds"] == 1
    assert "; typer " in run.summary()
    assert "; medians of one round in " in run.summary()
    assert "dash -c :" in run.answer["left_out"]
    assert "wc say, a thread of 1" in run.not_measured()


@pytest.mark.long
def test_servers_are_measured_beside_one_that_does_nothing() -> None:
    only = "^(list_threads, 100|wc say, until|wc-observe: CPU)"
    done = bench("--quick", "--json", "--runs", "1", "--only", only)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    call = rows["list_threads, 100 threads of 5"]
    assert call["other"] == "trivial FastMCP server: a call"
    assert call["ratio"] > 0.5
    seen = rows["wc say, until list_threads has it, 100 threads of 5"]
    assert 0 < seen["median"] < 10_000
    idle = rows["wc-observe: CPU while nothing happens, 100 threads of 5"]
    assert idle["unit"] == "%"
    assert idle["goal"] == "≤ 0.3 %"


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


def measured_row(name: str, *, holds: bool | None = None) -> Result:
    goal = "" if holds is None else "≤ 1 ms"
    return Result(name, 5.0, (4.0, 6.0), 3, "ms", None, "", goal, holds)


def run_of(*rows: Result) -> benchrun.Run:
    answer = {
        "date": "2026-01-02",
        "version": "1",
        "machine": "2 cores",
        "libraries": "typer 1",
        "rounds": 3,
        "load": (0.5, 1.0),
        "minutes": 7.0,
        "notes": ["a post failed"] * 2,
    }
    return benchrun.Run({row.name: row for row in rows}, answer)


def test_a_row_that_misses_its_goal_is_named_in_both_tables() -> None:
    missed = measured_row("wc say, a thread of 1", holds=False)
    kept = measured_row("wc list, a thread of 1", holds=True)
    run = run_of(missed, kept, measured_row("hcom: post, a thread of 1"))
    full = "\n".join(make_benchmarks.full(run))
    assert "\n1 of 2 goals hold.\n" in full
    assert "| wc say, a thread of 1 | 5.0 ms |  |  | ≤ 1 ms, **missed** |" in full
    assert "| wc list, a thread of 1 | 5.0 ms |  |  | ≤ 1 ms |" in full
    assert "| post, a thread of 1 | - | 5.0 ms | - |" in full
    assert "Not in this run: *sh -c :*, " in full
    assert "\n- a post failed (2 times)" in full
    (post,) = [one for one in make_benchmarks.figures(run) if "a new store" in one][:1]
    assert cells(post)[1:] == ["5.0 ms", "≤ 1 ms, **missed**", "-", "5.0 ms", "-"]


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


@pytest.mark.long
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
    assert done.stderr == "bench: baton-handoff is not installed: 26 rows left out\n"


@pytest.mark.parametrize("pattern", ["no such row", "("])
def test_says_what_a_pattern_does_not_match(pattern: str) -> None:
    done = bench("--only", pattern)
    assert done.returncode == 1
    assert done.stderr.startswith("bench: ")
    assert "Traceback" not in done.stderr


def test_the_page_names_every_row() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    rows = [name.partition(": ") for name in benchrun.known_rows()]
    names = {
        end if tool in benchrun.PEERS else f"{tool}{colon}{end}"
        for tool, colon, end in rows
    }
    assert {name for name in names if name not in text} == set()


def test_the_figures_of_users_are_rows_that_there_are() -> None:
    known = benchrun.known_rows()
    assert [one.row for one in make_benchmarks.FIGURES if one.row not in known] == []
    ends = [one.peers for one in make_benchmarks.FIGURES if one.peers]
    assert [end for end in ends if f"baton-handoff: {end}" not in known] == []


def test_a_row_that_fails_in_a_later_round_keeps_its_samples(tmp_path: Path) -> None:
    calls = []

    def fails_third() -> float:
        calls.append(1)
        if len(calls) == 3:
            raise BenchError("it broke")
        return 1.0

    rows = [Row("fragile", fails_third), Row("steady", lambda: 2.0)]
    samples = measure(rows, 5, Scratch(str(tmp_path)))
    assert samples.values == {"fragile": [1.0], "steady": [2.0] * 5}
    assert samples.rounds == 5


def test_a_row_is_sampled_right_after_the_row_that_it_is_compared_with(
    tmp_path: Path,
) -> None:
    sampled: list[str] = []

    def sampling(name: str) -> Callable[[], float]:
        def sample() -> float:
            sampled.append(name)
            return float(len(sampled))

        return sample

    rows = [
        Row("reference", sampling("reference"), paired=True),
        Row("command", sampling("command"), "reference", often=3),
        Row("other", sampling("other")),
    ]
    samples = measure(rows, 4, Scratch(str(tmp_path)))
    pairs = samples.pairs["command"]
    assert len(pairs) == 12
    assert all(command == reference + 1 for command, reference in pairs)
    assert len(samples.values["reference"]) == 16
    assert samples.pairs["other"] == []


def test_a_slow_moment_of_the_machine_does_not_change_a_ratio() -> None:
    # Most samples of the command were taken while everything took twice as long.
    pairs = [(40.0, 20.0), (40.0, 20.0), (20.0, 10.0)]
    samples = Samples(
        {"reference": [20.0, 20.0, *[10.0] * 6], "command": [40.0, 40.0, 20.0]},
        {"reference": [], "command": pairs},
    )
    reference = Row("reference", float, unit="s")
    rows = [reference, Row("command", float, "reference", times(2), unit="s")]
    result = results(rows, samples)[1]
    assert (result.median, result.ratio, result.holds) == (40, 2, True)


def test_no_goal_holds_against_a_row_that_is_0() -> None:
    samples = Samples(
        {"nothing": [0.0], "command": [1.0]}, {"nothing": [], "command": []}
    )
    rows = [Row("nothing", float), Row("command", float, "nothing", times(2))]
    result = results(rows, samples)[1]
    assert (result.ratio, result.holds) == (None, False)


@pytest.mark.parametrize(("ms", "holds"), [(19_000, False), (20_000, True)])
def test_a_difference_is_that_of_samples_taken_together(
    ms: int, *, holds: bool
) -> None:
    samples = Samples(
        {"reference": [10.0, 20.0, 20.0], "command": [30.0, 40.0, 39.0]},
        {"reference": [], "command": [(30.0, 10.0), (40.0, 20.0), (39.0, 20.0)]},
    )
    rows = [Row("reference", float), Row("command", float, "reference", more(ms))]
    assert results(rows, samples)[1].holds is holds

"""The saved run of bin/bench that the pages about speed show."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.bench.parts import parts  # noqa: E402 (the checkout's own)
from tests.bench.rows import Size  # noqa: E402
from tests.bench.scratch import Scratch  # noqa: E402
from tests.bench.table import Result  # noqa: E402

SAVED = ROOT / "docs" / "bench.json"
PEERS = ("baton-handoff", "hcom", "Backlog.md")
SECOND = 1000  # milliseconds
IDLE = 0.5  # a load average above which a machine has other work


class Run(NamedTuple):
    """A run: its rows by name, and what else `bin/bench --save` keeps."""

    rows: dict[str, Result]
    answer: dict[str, Any]

    def summary(self) -> str:
        """What was measured, when, where, and how busy the machine was."""
        answer = self.answer
        before, after = answer["load"]
        rounds = "one round" if answer["rounds"] == 1 else f"{answer['rounds']} rounds"
        busy = " The machine had other work: read the ratios." if before > IDLE else ""
        return (
            f"wc {answer['version']}, {answer['date']}, {answer['machine']};"
            f" {answer['libraries']}; medians of"
            f" {rounds} in {answer['minutes']:.0f} minutes; load"
            f" average {before} before the run and {after} at its end, the benchmark"
            f" included.{busy}"
        )

    def missing_goals(self) -> list[str]:
        """The rows that miss their goal."""
        return [one.name for one in self.rows.values() if one.holds is False]

    def not_measured(self) -> list[str]:
        """The rows that bin/bench has and this run does not."""
        return [name for name in known_rows() if name not in self.rows]


def load(path: Path = SAVED) -> Run:
    """Read a saved run."""
    answer = json.loads(path.read_text(encoding="utf-8"))
    rows = [Result(**fields) for fields in answer["rows"]]
    return Run({one.name: one for one in rows}, answer)


@cache
def known_rows() -> tuple[str, ...]:
    """The names of all rows of bin/bench."""
    with tempfile.TemporaryDirectory() as folder:
        rows = parts(Scratch(folder), Size()).rows()
    return tuple(row.name for row in rows)


def in_words(row: Result) -> str:
    """The median of a row, with its unit."""
    value, unit = row.median, row.unit
    if unit == "ms" and value >= SECOND:
        value, unit = value / SECOND, "s"
    digits = 2 if unit in {"s", "%"} else 1
    return f"{value:.{digits}f} {unit}"

"""Rows, what their samples say, and the table they make."""

from __future__ import annotations

import math
import random
import re
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.processes import BenchError, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.bench.scratch import Scratch

QUICK = 5  # samples of a quick row in a round


class Goal(NamedTuple):
    """What a row should keep to, given the row it is compared with."""

    text: str
    holds: Callable[[float, float], bool]


def times(factor: float) -> Goal:
    """At most so many times the other."""
    return Goal(f"≤ {factor:g} times", lambda mine, other: mine <= factor * other)


def more(ms: float) -> Goal:
    """At most so many milliseconds more than the other."""
    return Goal(f"≤ + {ms:g} ms", lambda mine, other: mine <= other + ms / 1000)


def at_most(ms: float) -> Goal:
    """At most so many milliseconds."""
    text = f"≤ {ms:g} ms" if ms < 1000 else f"≤ {ms / 1000:g} s"
    return Goal(text, lambda mine, _: mine <= ms / 1000)


def at_most_megabytes(size: float) -> Goal:
    """At most so many megabytes."""
    return Goal(f"≤ {size:g} MB", lambda mine, _: mine <= size)


def at_most_percent(share: float) -> Goal:
    """At most so many percent."""
    return Goal(f"≤ {share:g} %", lambda mine, _: mine <= share)


class Row(NamedTuple):
    """A line of the table: what gives one sample, in seconds, megabytes or
    percent, and the row it is compared with.

    ``quick`` rows are sampled several times in a round, others once in ``every``
    so many rounds. ``lacks`` says what is not there to sample it with.
    """

    name: str
    sample: Callable[[], float]
    other: str = ""
    goal: Goal | None = None
    quick: bool = False
    every: int = 1
    unit: str = "ms"
    lacks: str = ""


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern for names of rows."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise BenchError(f"{pattern!r} is no pattern: {error}") from error


def chosen(rows: Sequence[Row], pattern: str, skipped: str = "") -> list[Row]:
    """The rows that ``--only`` means and ``--skip`` does not, with those they are
    compared with, as far as they can be measured here; what is left out is said."""
    wanted = compiled(pattern)
    unwanted = compiled(skipped or r"(?!)")
    by_name = {row.name: row for row in rows}
    names: set[str] = set()
    lacking: dict[str, int] = {}
    for row in rows:
        if not wanted.search(row.name) or unwanted.search(row.name):
            continue
        if row.lacks:
            lacking[row.lacks] = lacking.get(row.lacks, 0) + 1
            continue
        name = row.name
        while name and name not in names:
            names.add(name)
            name = by_name[name].other
    left_out = [f"{what}: {count} rows left out" for what, count in lacking.items()]
    if names:
        for text in left_out:
            say(text)
        return [row for row in rows if row.name in names]
    if left_out:
        raise BenchError("; ".join(left_out))
    raise BenchError(f"no row is named like {pattern!r}: {', '.join(by_name)}")


def measure(
    rows: Sequence[Row], runs: int, scratch: Scratch, minutes: float = math.inf
) -> dict[str, list[float]]:
    """The samples of each row, taken in rounds after one that does not count. After
    so many minutes, no other round begins. A row that fails is not sampled again, and
    keeps its samples; one that has none yet ends the run."""
    deadline = time.monotonic() + 60 * minutes
    samples: dict[str, list[float]] = {row.name: [] for row in rows}
    failed: set[str] = set()
    for number in range(-1, runs):
        if number > 0 and time.monotonic() > deadline:
            say(f"{minutes:g} minutes have passed")
            break
        say(f"round {number + 1} of {runs}" if number >= 0 else "warming up")
        for row in turns(rows, number):
            if row.name in failed:
                continue
            try:
                value = row.sample()
            except BenchError as error:
                if not samples[row.name]:
                    raise
                say(f"{row.name}: {error}; it is not measured again")
                failed.add(row.name)
                continue
            scratch.settle()
            if number >= 0:
                samples[row.name].append(value)
    return samples


def turns(rows: Sequence[Row], number: int) -> list[Row]:
    """Who is sampled in a round, in which order. It changes, so that nobody always
    follows the same one; what is quick runs beside what is quick."""
    dice = random.Random(number)
    steady = [row for row in rows if not row.quick and number % row.every == 0]
    quick = [row for row in rows if row.quick]
    order = dice.sample(steady, len(steady)) if number >= 0 else list(steady)
    for _ in range(QUICK):
        order += dice.sample(quick, len(quick))
    return order


class Result(NamedTuple):
    """A row as measured, in its unit."""

    name: str
    median: float
    quartiles: tuple[float, float]
    runs: int
    unit: str
    ratio: float | None
    other: str
    goal: str
    holds: bool | None


def rounded(value: float) -> float:
    """A figure without the digits that mean nothing."""
    return float(f"{value:.4g}")


def results(rows: Sequence[Row], samples: dict[str, list[float]]) -> list[Result]:
    """What the samples say."""
    medians = {name: statistics.median(values) for name, values in samples.items()}
    found = []
    for row in rows:
        values = samples[row.name]
        scale = 1000 if row.unit == "ms" else 1
        low, _, high = statistics.quantiles([*values, values[0]], n=4)
        mine, other = medians[row.name], medians.get(row.other)
        result = Result(
            name=row.name,
            median=rounded(mine * scale),
            quartiles=(rounded(low * scale), rounded(high * scale)),
            runs=len(values),
            unit=row.unit,
            ratio=rounded(mine / other) if other else None,
            other=row.other,
            goal=row.goal.text if row.goal else "",
            holds=row.goal.holds(mine, other or 0) if row.goal else None,
        )
        found.append(result)
    return found


def as_markdown(found: Sequence[Result]) -> str:
    """The table, aligned so that a terminal shows it as well."""
    head = ("what", "median", "middle half", "ratio", "to", "goal", "holds")
    lines: list[tuple[str, ...]] = [head]
    for one in found:
        digits = 1 if one.unit in {"ms", "MB"} else 2
        low, high = (f"{edge:.{digits}f}" for edge in one.quartiles)
        held = "" if one.holds is None else ("yes" if one.holds else "NO")
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        cells = (one.name, f"{one.median:.{digits}f} {one.unit}", f"{low}-{high}")
        lines.append((*cells, ratio, one.other, one.goal, held))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines.insert(1, tuple("-" * width for width in widths))
    padded = (" | ".join(map(str.ljust, line, widths)) for line in lines)
    return "".join(f"| {line} |\n" for line in padded)

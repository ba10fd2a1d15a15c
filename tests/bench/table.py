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


class Summary(NamedTuple):
    """The median of a row's samples, and how it compares with the other row: how many
    times as much it is, and how much more. Both are ``None`` without another row, and
    the ratio if that one is 0."""

    median: float
    ratio: float | None = None
    difference: float | None = None


class Goal(NamedTuple):
    """What a row should keep to."""

    text: str
    holds: Callable[[Summary], bool]


def times(factor: float) -> Goal:
    """At most so many times the other."""
    return Goal(f"≤ {factor:g} times", lambda row: _is_at_most(row.ratio, factor))


def more(ms: float) -> Goal:
    """At most so many milliseconds more than the other."""
    return Goal(f"≤ + {ms:g} ms", lambda row: _is_at_most(row.difference, ms / 1000))


def _is_at_most(value: float | None, limit: float) -> bool:
    """Whether a value is known and within its limit."""
    return value is not None and value <= limit


def at_most(ms: float) -> Goal:
    """At most so many milliseconds."""
    text = f"≤ {ms:g} ms" if ms < 1000 else f"≤ {ms / 1000:g} s"
    return Goal(text, lambda row: row.median <= ms / 1000)


def at_most_megabytes(size: float) -> Goal:
    """At most so many megabytes."""
    return Goal(f"≤ {size:g} MB", lambda row: row.median <= size)


def at_most_percent(share: float) -> Goal:
    """At most so many percent."""
    return Goal(f"≤ {share:g} %", lambda row: row.median <= share)


class Row(NamedTuple):
    """A line of the table: what gives one sample, in seconds, megabytes or
    percent, and the row it is compared with.

    ``quick`` rows are sampled several times in a round, others once in ``every``
    so many rounds, or ``often`` in each. A ``paired`` row is short, and is sampled
    again right before each sample of a row that is compared with it. ``lacks`` says
    what is not there to sample it with.
    """

    name: str
    sample: Callable[[], float]
    other: str = ""
    goal: Goal | None = None
    quick: bool = False
    every: int = 1
    often: int = 1
    paired: bool = False
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


class Samples(NamedTuple):
    """The samples of some rows, by the name of the row. ``pairs`` are those that were
    taken right after a sample of the other row, each with that sample. ``rounds`` is
    the number of rounds."""

    values: dict[str, list[float]]
    pairs: dict[str, list[tuple[float, float]]]
    rounds: int = 0


def measure(
    rows: Sequence[Row], runs: int, scratch: Scratch, minutes: float = math.inf
) -> Samples:
    """Sample each row, in rounds after one that does not count. After so many minutes,
    no other round begins. A row that fails is not sampled again, and keeps its samples;
    one that has none yet ends the run."""
    deadline = time.monotonic() + 60 * minutes
    by_name = {row.name: row for row in rows}
    samples = Samples({name: [] for name in by_name}, {name: [] for name in by_name})
    failed: set[str] = set()
    for number in range(-1, runs):
        if number > 0 and time.monotonic() > deadline:
            say(f"{minutes:g} minutes have passed")
            break
        say(f"round {number + 1} of {runs}" if number >= 0 else "warming up")
        for row in turns(rows, number):
            if row.name in failed:
                continue
            other = by_name.get(row.other)
            sampled = [other, row] if other is not None and other.paired else [row]
            try:
                values = [_sampled(scratch, one) for one in sampled]
            except BenchError as error:
                if not samples.values[row.name]:
                    raise
                say(f"{row.name}: {error}; it is not measured again")
                failed.add(row.name)
                continue
            if number < 0:
                continue
            for one, value in zip(sampled, values, strict=True):
                samples.values[one.name].append(value)
            if len(values) > 1:
                samples.pairs[row.name].append((values[1], values[0]))
        samples = samples._replace(rounds=number + 1)
    return samples


def _sampled(scratch: Scratch, row: Row) -> float:
    """Take a sample of a row, and wait until its background work has ended."""
    value = row.sample()
    scratch.settle()
    return value


def turns(rows: Sequence[Row], number: int) -> list[Row]:
    """The rows in the order in which a round samples them. It changes, so that no row
    always follows the same one; quick rows follow quick ones."""
    dice = random.Random(number)
    steady = [row for row in rows if not row.quick and number % row.every == 0]
    quick = [row for row in rows if row.quick]
    if number < 0:
        return [*steady, *quick]
    steady = [row for row in steady for _ in range(row.often)]
    order = dice.sample(steady, len(steady))
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


def summary(row: Row, samples: Samples) -> Summary:
    """Compare a row with its other row: pair by pair, since a slow moment of the
    machine makes both samples of a pair slow; without pairs, by the medians."""
    mine = statistics.median(samples.values[row.name])
    if pairs := samples.pairs[row.name]:
        ratio = statistics.median(value / other for value, other in pairs)
        return Summary(mine, ratio, statistics.median(a - b for a, b in pairs))
    if not row.other:
        return Summary(mine)
    other = statistics.median(samples.values[row.other])
    return Summary(mine, mine / other if other else None, mine - other)


def results(rows: Sequence[Row], samples: Samples) -> list[Result]:
    """The row of the table for each row, from its samples."""
    found = []
    for row in rows:
        values = samples.values[row.name]
        scale = 1000 if row.unit == "ms" else 1
        low, _, high = statistics.quantiles([*values, values[0]], n=4)
        row_summary = summary(row, samples)
        result = Result(
            name=row.name,
            median=rounded(row_summary.median * scale),
            quartiles=(rounded(low * scale), rounded(high * scale)),
            runs=len(values),
            unit=row.unit,
            ratio=None if row_summary.ratio is None else rounded(row_summary.ratio),
            other=row.other,
            goal=row.goal.text if row.goal else "",
            holds=row.goal.holds(row_summary) if row.goal else None,
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

"""The tables of docs/performance.md, from one saved run of bin/bench."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import benchrun
from blocks import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.bench.table import Result

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "performance.md"
NOTHING = "-"
PAGE_WIDTH = 120


class Figure(NamedTuple):
    """A row of the short table: what a user does, the benchmark's row, and the end of
    the names of the rows in which other tools do the same."""

    words: str
    row: str
    peers: str = ""


MANY, ENTRIES = "10,000 threads of 1", "a thread of 10,000"
SERVED = "10,000 threads of 50"
FIGURES = (
    Figure("the prompt's line, 10,000 threads", "wc-statusline, 10,000 threads"),
    Figure("post, a new store", "wc say, a thread of 1", "post, a thread of 1"),
    Figure("post, 10,000 threads", f"wc say, {MANY}", f"post, {MANY}"),
    Figure(
        "post, a thread of 10,000 entries", f"wc say, {ENTRIES}", f"post, {ENTRIES}"
    ),
    Figure(
        "read the end of 10,000 entries", "wc read, 5 of 10,000", f"read, {ENTRIES}"
    ),
    Figure("list 1 thread", "wc list, a thread of 1", "list, a thread of 1"),
    Figure(
        "list 1,000 threads",
        "wc list, 1,000 threads of 1",
        "list, 1,000 threads of 1",
    ),
    Figure("list 10,000 threads", f"wc list, {MANY}", f"list, {MANY}"),
    Figure("list the first 20 of these", f"wc list --limit 20, {MANY}"),
    Figure(
        "search 1,000 threads of 20 entries",
        "wc search, 1,000 threads of 20",
    ),
    Figure("search 10,000 threads", f"wc search, {MANY}", f"search, {MANY}"),
    Figure("a brief for an agent, 10,000 threads", f"wc brief, {MANY}: CPU"),
    Figure(
        "send one entry, `wc sync`",
        "wc sync, 1 new entry, to be committed, 1,000 threads of 20",
    ),
    Figure(
        "8 writers, 200 posts",
        "8 writers, one thread: 200 posts",
        "8 writers: 200 posts",
    ),
    Figure("start the server", f"wc-observe: start, {SERVED}"),
    Figure("its first list of 10,000 threads", f"first list_threads, {SERVED}"),
    Figure("`read_thread`, 50 entries", f"read_thread, {SERVED}"),
    Figure(
        "`search_threads`, a phrase in 500,000 entries",
        f"search_threads, a phrase, {SERVED}",
    ),
)


def files() -> dict[Path, str]:
    """The page with its path."""
    run = benchrun.load()
    page = replaced(PAGE.read_text(encoding="utf-8"), "figures", figures(run))
    return {PAGE: replaced(page, "rows", full(run))}


def figures(run: benchrun.Run) -> Iterator[str]:
    """The short table."""
    yield wrapped(run.summary())
    yield ""
    yield line(("what", "wc", "goal", *benchrun.PEERS))
    yield line(["---"] * (3 + len(benchrun.PEERS)))
    for figure in FIGURES:
        yield line(cells(run, figure))


def line(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def cells(run: benchrun.Run, figure: Figure) -> list[str]:
    """The cells of a row of the short table."""
    names = [f"{peer}: {figure.peers}" for peer in benchrun.PEERS]
    peers = [run.rows.get(name) if figure.peers else None for name in names]
    others = [NOTHING if one is None else benchrun.in_words(one) for one in peers]
    row = run.rows.get(figure.row)
    if row is None:
        return [figure.words, "not measured", "", *others]
    return [figure.words, benchrun.in_words(row), goal_of(row), *others]


def goal_of(row: Result) -> str:
    """A row's goal, and whether this run missed it."""
    return f"{row.goal}, **missed**" if row.holds is False else row.goal


def figure_of(ratio: float) -> str:
    """A ratio with two digits, and without an exponent."""
    return f"{float(f'{ratio:.2g}'):g}"


def full(run: benchrun.Run) -> Iterator[str]:
    """All rows, those of other tools beside each other, and what was not measured."""
    yield line(("what", "median", "times", "of", "goal"))
    yield line(["---"] * 5)
    peers: dict[str, dict[str, str]] = {}
    for row in run.rows.values():
        tool, _, what = row.name.partition(": ")
        if tool in benchrun.PEERS:
            peers.setdefault(what, {})[tool] = benchrun.in_words(row)
            continue
        ratio = "" if row.ratio is None else figure_of(row.ratio)
        compared = (ratio, row.other, goal_of(row))
        yield line((row.name, benchrun.in_words(row), *compared))
    yield ""
    yield line(("other tools", *benchrun.PEERS))
    yield line(["---"] * (1 + len(benchrun.PEERS)))
    for what, tools in peers.items():
        yield line((what, *(tools.get(one, NOTHING) for one in benchrun.PEERS)))
    with_goals = sum(bool(one.goal) for one in run.rows.values())
    kept = with_goals - len(run.missing_goals())
    yield ""
    yield f"{kept} of {with_goals} goals hold."
    if absent := run.not_measured():
        yield ""
        yield wrapped(told("Not in this run:", absent))
    if run.answer["notes"]:
        yield ""
        yield "What went wrong in rows with several writers:"
        yield ""
        for note, times in Counter(run.answer["notes"]).items():
            yield f"- {note}" + (f" ({times} times)" if times > 1 else "")


def wrapped(text: str) -> str:
    """A paragraph in lines as long as those of the pages."""
    return fill(text, PAGE_WIDTH, break_on_hyphens=False, break_long_words=False)


def told(words: str, names: Sequence[str]) -> str:
    """Names of rows after some words; empty if there are none."""
    return f"{words} {', '.join(f'*{name}*' for name in names)}." if names else ""

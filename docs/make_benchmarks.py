"""The figures of docs/performance.md and the table of docs/benchmarks.md, from one
saved run of bin/bench."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import benchrun
from blocks import replaced
from tests.bench.table import as_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DOCS = Path(__file__).resolve().parent
PAGE, TABLE = DOCS / "performance.md", DOCS / "benchmarks.md"
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
    """Each page with its path."""
    run = benchrun.load()
    page, table = (path.read_text(encoding="utf-8") for path in (PAGE, TABLE))
    return {
        PAGE: replaced(page, "figures", figures(run)),
        TABLE: replaced(table, "rows", full(run)),
    }


def figures(run: benchrun.Run) -> Iterator[str]:
    """The short table, and which of its goals do not hold."""
    yield wrapped(run.summary())
    yield ""
    yield line(("what", "wc", "compared with", "goal", "holds", *benchrun.PEERS))
    yield line(["---"] * (5 + len(benchrun.PEERS)))
    missed = []
    for figure in FIGURES:
        yield line(cells(run, figure))
        row = run.rows.get(figure.row)
        if row is not None and row.holds is False:
            missed.append(f"*{figure.words}* takes {benchrun.in_words(row)}")
    yield ""
    if missed:
        text = f"**Does not hold** in this run: {', '.join(missed)}."
        yield wrapped(text)
    else:
        yield "All goals of this table hold in this run."


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
        return [figure.words, "not measured", "", "", "", *others]
    compared = f"{figure_of(row.ratio)} times *{row.other}*" if row.ratio else ""
    holds = "" if row.holds is None else ("yes" if row.holds else "**NO**")
    return [figure.words, benchrun.in_words(row), compared, row.goal, holds, *others]


def figure_of(ratio: float) -> str:
    """A ratio with two digits, and without an exponent."""
    return f"{float(f'{ratio:.2g}'):g}"


def full(run: benchrun.Run) -> Iterator[str]:
    """The whole table, which goals are missed, and what was not measured."""
    yield wrapped(run.summary())
    yield ""
    yield from as_markdown(list(run.rows.values())).splitlines()
    with_goals = sum(bool(one.goal) for one in run.rows.values())
    missed = run.missing_goals()
    yield ""
    text = f"{with_goals - len(missed)} of {with_goals} goals hold."
    text += told(" These rows miss theirs:", missed)
    yield wrapped(text)
    if absent := run.not_measured():
        yield ""
        yield wrapped(told("Not in this run:", absent))
    if run.answer["notes"]:
        yield ""
        yield "What went wrong in rows with several writers, or between clones:"
        yield ""
        yield from (f"- {note}" for note in run.answer["notes"])


def wrapped(text: str) -> str:
    """A paragraph in lines as long as those of the pages."""
    return fill(text, PAGE_WIDTH, break_on_hyphens=False, break_long_words=False)


def told(words: str, names: Sequence[str]) -> str:
    """Names of rows after some words; empty if there are none."""
    return f"{words} {', '.join(f'*{name}*' for name in names)}." if names else ""

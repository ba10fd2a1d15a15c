"""The tools that look back: where a ball has been, and a store in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp.tools.base import ToolResult
from pydantic import Field

from wc_core.phrases import counted, quoted
from wc_core.text import one_line
from wc_core.threads.moves import holder_text
from wc_core.views import history, stats
from wc_observe.answers.quoting import NOTICE, cleaned, title, word
from wc_observe.calls import CURRENT
from wc_observe.mcp.toolspec import Offer, structured
from wc_observe.open_store import open_store

if TYPE_CHECKING:
    from wc_core.phrases import Table

# Characters of a title, in either form.
_TITLE_WIDTH = 100

Format = Literal["markdown", "json"]


def get_ball_history(
    topic: Annotated[str, Field(description="The thread's topic")],
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_ball_history`."""
    fields = ball_history(topic)
    if format == "markdown":
        return ToolResult(history_markdown(fields))
    return structured(fields, len(fields["spells"]), "spells")


def get_stats(
    stale_after: Annotated[
        str, Field(description="Balls held longer are stale: 90m, 36h, 2d")
    ] = stats.STALE_AFTER,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_stats`."""
    fields = figures(stale_after)
    if format == "markdown":
        return ToolResult(figures_markdown(fields))
    return structured(fields, fields["threads"]["total"], "threads")


def ball_history(topic: str) -> dict[str, Any]:
    """The history shape. Raises NotFoundError for a thread that is not there."""
    call = CURRENT.get()
    desk = open_store(call)
    thread = desk.reader.thread(desk.reader.find(topic))
    found = history.thread_history(thread, call.now_ms(), desk.viewer.directory)
    return dict(cleaned(found.to_json(thread, desk.label, stats.ROWS)))


def figures(stale_after: str) -> dict[str, Any]:
    """The stats shape. Raises InvalidInputError for what is no age."""
    stale_ms = stats.stale_after_ms(stale_after)
    call = CURRENT.get()
    desk = open_store(call)
    found = stats.store_stats(desk.reader, desk.viewer, call.now_ms(), stale_ms)
    fields = found.to_json(desk.label, stats.ROWS)
    for row in (*fields["stale"], *fields["busiest"]):
        row["title"] = one_line(row["title"], _TITLE_WIDTH)
    return dict(cleaned(fields))


def history_markdown(fields: dict[str, Any]) -> str:
    """What it comes to, and a line for each spell."""
    ball = word(holder_text(fields["ball"]))
    lines = [
        f"thread {fields['topic']}: {title(fields['title'], _TITLE_WIDTH)}",
        NOTICE,
        f"status: {word(fields['status'])}, ball: {ball}, "
        + ", ".join(history.history_facts(fields)),
        f"store: {fields['store']}",
        *(f"damaged: {word(one, 200)}; wc doctor" for one in fields.get("damage", ())),
        *_lines(history.history_table(fields)),
    ]
    if fields["total"] > len(fields["spells"]):
        lines.append(
            f"truncated: the last {len(fields['spells'])} of {fields['total']}; "
            f"all: wc stats {quoted(fields['topic'])} --limit 0"
        )
    return "".join(f"{line}\n" for line in lines)


def figures_markdown(fields: dict[str, Any]) -> str:
    """How many threads there are, and a list for each kind of figure."""
    threads, recent = fields["threads"], fields["recent"]
    each = ", ".join(f"{n} {word(one)}" for one, n in threads["by_status"].items())
    total = counted(threads["total"], "thread") + (f" ({each})" if each else "")
    lines = [f"{total}, in the store {fields['store']}", NOTICE]
    for one in stats.stats_tables(fields):
        lines += _lines(one)
    if recent["threads"] < threads["total"]:
        read = counted(recent["threads"], "thread")
        lines.append(f"authors and bounces: of the {read} that moved last")
    if fields.get("truncated"):
        lines.append(
            f"truncated: {stats.ROWS} rows of each list, {fields['stale_total']} "
            "stale in all; the rest: wc stats --limit 0"
        )
    return "".join(f"{line}\n" for line in lines)


def _lines(shown: Table) -> list[str]:
    """A table as a line of headings and one for each row; titles in quotes."""
    if not shown.rows:
        return []
    told = [i for i, head in enumerate(shown.head) if head == "TITLE"]
    return [
        f"# {' | '.join(one.lower() for one in shown.head)}",
        *(
            "- "
            + " | ".join(
                title(cell, _TITLE_WIDTH) if i in told else word(cell)
                for i, cell in enumerate(row)
            )
            for row in shown.rows
        ),
    ]


OFFERS: tuple[Offer, ...] = (
    Offer(
        get_ball_history,
        "Where a thread's ball has been: who held it, since when, how long, by "
        "whose entry; how often it changed hands and bounced.",
    ),
    Offer(
        get_stats,
        "The store in figures: threads by status, balls by holder, stale balls "
        "(who to remind), busiest threads, authors, bounces.",
    ),
)

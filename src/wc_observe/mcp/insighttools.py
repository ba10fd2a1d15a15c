"""The tools that look back, at the caller's and other worktrees, and into all stores.

They take no paths: the one about worktrees reads those that git has on record, the
store, and the cache folder of the user who runs the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import holder_text
from wc_core.reading.views import history, stats
from wc_observe.answers import inbox, worktrees
from wc_observe.answers.quoting import NOTICE, clean_json, title, word
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.open_store import open_store
from wc_observe.mcp.forms import json_result, markdown_result
from wc_observe.mcp.refusals import given_arguments, require_only
from wc_observe.mcp.toolspec import ToolSpec

if TYPE_CHECKING:
    from wc_core.base.phrases import Table

# The most characters of a title, in text and JSON.
_TITLE_WIDTH = 100

Format = Literal["markdown", "json"]


def get_stats(
    topic: Annotated[
        str, Field(description="Instead, who held this thread's ball, when, how long")
    ] = "",
    stale_after: Annotated[
        str, Field(description="A ball held longer is stale: 90m, 36h, 2d")
    ] = stats.STALE_AFTER,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_stats`."""
    if topic:
        arguments = given_arguments(get_stats, locals())
        require_only(arguments, "get_stats with topic", "topic")
        return history_result(topic, format)
    fields = stats_json(stale_after)
    if format == "markdown":
        return markdown_result(stats_markdown(fields))
    return json_result(fields)


def history_result(topic: str, form: Format) -> ToolResult:
    """Returns who held the ball of a thread."""
    fields = history_json(topic)
    if form == "markdown":
        return markdown_result(history_markdown(fields))
    return json_result(fields)


def history_json(topic: str) -> dict[str, Any]:
    """Returns the history shape. Raises NotFoundError if there is no such thread."""
    call = CURRENT.get()
    store = open_store(call)
    thread = store.reader.thread(store.reader.find(topic))
    spells = history.thread_history(thread, call.now_ms(), store.viewer.directory)
    return dict(clean_json(spells.to_json(thread, store.label, stats.ROWS)))


def stats_json(stale_after: str) -> dict[str, Any]:
    """Returns the stats shape. Raises InvalidInputError if the age is not valid."""
    stale_ms = stats.stale_after_ms(stale_after)
    call = CURRENT.get()
    store = open_store(call)
    figures = stats.store_stats(store.reader, store.viewer, call.now_ms(), stale_ms)
    fields = figures.to_json(store.label, stats.ROWS)
    for row in (*fields["stale"], *fields["busiest"]):
        row["title"] = one_line(row["title"], _TITLE_WIDTH)
    return dict(clean_json(fields))


def history_markdown(fields: dict[str, Any]) -> str:
    """Returns a summary, and a line for each period with a holder."""
    ball = word(holder_text(fields["ball"]))
    lines = [
        f"thread {fields['topic']}: {title(fields['title'], _TITLE_WIDTH)}",
        NOTICE,
        f"status: {word(fields['status'])}, ball: {ball}, "
        + ", ".join(history.history_facts(fields)),
        f"store: {fields['store']}",
        *(
            f"damaged: {word(damage, 200)}; wc doctor"
            for damage in fields.get("damage", ())
        ),
        *_table_lines(history.history_table(fields)),
    ]
    if fields["total"] > len(fields["spells"]):
        lines.append(
            f"truncated: the last {len(fields['spells'])} of {fields['total']}; "
            f"all: wc stats {quoted(fields['topic'])} --limit 0"
        )
    return "".join(f"{line}\n" for line in lines)


def stats_markdown(fields: dict[str, Any]) -> str:
    """Returns the number of threads, and a list for each kind of figure."""
    total, by_status = stats.stats_total(fields, word)
    by_status = f" ({by_status})" if by_status else ""
    lines = [f"{total}{by_status}, in the store {fields['store']}", NOTICE]
    for table in stats.stats_tables(fields):
        lines += _table_lines(table)
    if note := stats.stats_note(fields):
        lines.append(note)
    if fields.get("truncated"):
        lines.append(
            f"truncated: {stats.ROWS} rows of each list, {fields['stale_total']} "
            "stale in all; the rest: wc stats --limit 0"
        )
    return "".join(f"{line}\n" for line in lines)


def _table_lines(table: Table) -> list[str]:
    """Returns a table as a line of headings and a line for each row, titles in
    quotes."""
    if not table.rows:
        return []
    titles = [i for i, head in enumerate(table.head) if head == "TITLE"]
    return [
        f"# {' | '.join(heading.lower() for heading in table.head)}",
        *(
            "- "
            + " | ".join(
                title(cell, _TITLE_WIDTH) if i in titles else word(cell)
                for i, cell in enumerate(row)
            )
            for row in table.rows
        ),
    ]


SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        get_stats,
        "The store in figures: threads by status, balls by holder, stale balls "
        "(who to remind), busiest threads, authors, bounces.",
    ),
)


def list_worktrees(
    show: Annotated[
        Literal["worktrees", "loops", "team"],
        Field(description="loops: of autonomous agents; team: who works on what"),
    ] = "worktrees",
    change_id: Annotated[
        str, Field(description="Only this loop: its change, branch or worktree")
    ] = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_worktrees`."""
    arguments = given_arguments(list_worktrees, locals())
    names = ("change_id",) if show == "loops" else ()
    require_only(arguments, f'list_worktrees with show="{show}"', "show", *names)
    call = CURRENT.get()
    if format == "markdown":
        return markdown_result(worktrees.as_markdown(call, show, change_id))
    return json_result(worktrees.as_json(call, show, change_id))


LOCAL_SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        list_worktrees,
        "What happens in each worktree: branch, who has the ball, loop, who is "
        "working. Loops that wait for a human come first.",
    ),
)


def list_inbox(
    limit: Annotated[int, Field(ge=1, le=200)] = 30,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_inbox`."""
    call = CURRENT.get()
    answer = inbox.caller_inbox(call, limit)
    if format == "markdown":
        return markdown_result(inbox.inbox_markdown(answer, call.now_ms()))
    fields = inbox.inbox_json(answer)
    return json_result(fields)


# Only for a server started with --all-stores or --graph.
WIDE_SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        list_inbox,
        "What needs you in all repositories of this machine: questions to you, your "
        "balls, those offered to you, each with the command that answers it.",
    ),
)

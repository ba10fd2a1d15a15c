"""The tools about worktrees: loops, agents and the team next to one's own worktree.

None takes a path: they read worktrees that git has on record, the store, and the cache
folder of the user who runs the server.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_observe.answers import conflicts, worktrees
from wc_observe.calls import CURRENT
from wc_observe.mcp.forms import json_result, markdown_result
from wc_observe.mcp.toolspec import ToolSpec

Format = Literal["markdown", "json"]


def list_worktrees(format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `list_worktrees`."""
    view = worktrees.worktree_view(CURRENT.get())
    if format == "markdown":
        return markdown_result(worktrees.as_markdown(view))
    fields = worktrees.as_json(view)
    return json_result(fields, len(fields["worktrees"]), "worktrees")


def get_conflicts(
    worktree: Annotated[
        str, Field(description="Its name, branch or agent; none: every pair")
    ] = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_conflicts`."""
    view = conflicts.radar_view(CURRENT.get())
    if format == "markdown":
        return markdown_result(conflicts.conflicts_markdown(view, worktree))
    fields = conflicts.conflicts_json(view, worktree)
    return json_result(fields, len(fields["pairs"]), "pairs")


def get_loop_status(
    change_id: Annotated[
        str, Field(description="Its change, branch or worktree; none: every loop")
    ] = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_loop_status`."""
    view = worktrees.worktree_view(CURRENT.get())
    if format == "markdown":
        return markdown_result(worktrees.loops_markdown(view, change_id))
    fields = worktrees.loops_json(view, change_id)
    return json_result(fields, len(fields["loops"]), "loops")


def get_team_status(format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `get_team_status`."""
    call = CURRENT.get()
    if format == "markdown":
        return markdown_result(worktrees.team_markdown(call))
    fields = worktrees.team_json(call)
    return json_result(fields, len(fields["members"]), "members")


SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        list_worktrees,
        "What goes on in each worktree: branch, whose ball, autonomous loop, who is "
        "at it. Says first which loop waits for a human.",
        worktrees.WORKTREES_SCHEMA,
    ),
    ToolSpec(
        get_conflicts,
        "Which worktrees change the same files, and which will conflict when merged; "
        "says how old this is.",
        conflicts.CONFLICTS_SCHEMA,
    ),
    ToolSpec(
        get_loop_status,
        "How an autonomous loop stands: iteration, whether it runs, waits for a "
        "human, stalled or ended.",
        worktrees.LOOPS_SCHEMA,
    ),
    ToolSpec(
        get_team_status,
        "Who of the team is at what, as their tool has it.",
        worktrees.TEAM_SCHEMA,
    ),
)

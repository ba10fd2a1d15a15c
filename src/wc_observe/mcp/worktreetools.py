"""The tools about worktrees: loops, agents and teams in the caller's and other
worktrees.

They take no paths. They read worktrees that git has on record, the store, and the cache
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
        str, Field(description="Its name, branch or agent; default: all pairs")
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
        str, Field(description="Its change, branch or worktree; default: all")
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
        "What happens in each worktree: branch, who has the ball, loop, who is "
        "working. Loops that wait for a human come first.",
        worktrees.WORKTREES_SCHEMA,
    ),
    ToolSpec(
        get_conflicts,
        "Which worktrees change the same files, and which will conflict when merged; "
        "with the age of the result.",
        conflicts.CONFLICTS_SCHEMA,
    ),
    ToolSpec(
        get_loop_status,
        "The state of an autonomous loop: iteration; running, waiting for a "
        "human, stalled or ended.",
        worktrees.LOOPS_SCHEMA,
    ),
    ToolSpec(
        get_team_status,
        "Who in the team works on what, according to their tool.",
        worktrees.TEAM_SCHEMA,
    ),
)

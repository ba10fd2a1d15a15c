"""The tool about worktrees: loops, agents and teams in the caller's and other
worktrees.

It takes no paths. It reads worktrees that git has on record, the store, and the cache
folder of the user who runs the server.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_observe.answers import worktrees
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.forms import json_result, markdown_result
from wc_observe.mcp.refusals import given_arguments, require_only
from wc_observe.mcp.toolspec import ToolSpec

Format = Literal["markdown", "json"]


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


SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        list_worktrees,
        "What happens in each worktree: branch, who has the ball, loop, who is "
        "working. Loops that wait for a human come first.",
    ),
)

"""The older names of what other tools answer now. The next minor version is without
them.

The server answers to them, but lists them only if it was started with ``--tools all``.
"""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_core.base.errors import InvalidInputError
from wc_observe.answers.vocabulary import vocabulary_fields, vocabulary_text
from wc_observe.mcp.claimtools import Whose, list_edits
from wc_observe.mcp.forms import short_result
from wc_observe.mcp.insighttools import history_result
from wc_observe.mcp.tools import Format, list_threads, read_thread
from wc_observe.mcp.toolspec import ToolSpec
from wc_observe.mcp.worktreetools import list_worktrees


def get_entry(
    topic: str,
    index: int | None = None,
    entry_id: str = "",
    offset: Annotated[int, Field(ge=0)] = 0,
    history: bool = False,  # noqa: FBT001, FBT002
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_entry`."""
    if (index is None) == (not entry_id):
        raise InvalidInputError(
            "One entry is named by its number or by its id.",
            "Give index (-1: the last one) or entry_id, not both.",
        )
    entry = entry_id if index is None else str(index)
    return read_thread(
        topic, entry=entry, offset=offset, history=history, format=format
    )


def list_vocabulary() -> ToolResult:
    """Answer `list_vocabulary`."""
    fields = vocabulary_fields()
    return short_result(vocabulary_text(fields), fields)


def get_ball_history(topic: str, format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `get_ball_history`."""
    return history_result(topic, format)


def list_ready(
    mine: bool = False,  # noqa: FBT001, FBT002
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: str = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_ready`."""
    ball = "me" if mine else ""
    return list_threads(
        ball=ball, ready=True, limit=limit, cursor=cursor, format=format
    )


def explain_readiness(topic: str, format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `explain_readiness`."""
    return read_thread(topic, why_not_ready=True, format=format)


def list_claims(format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `list_claims`."""
    return list_edits("claims", format=format)


def list_activity(
    path: str = "",
    whose: Whose = "all",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_activity`."""
    return list_edits("activity", path, whose, format=format)


def get_conflicts(worktree: str = "", format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `get_conflicts`."""
    return list_edits("conflicts", worktree=worktree, format=format)


def get_loop_status(change_id: str = "", format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `get_loop_status`."""
    return list_worktrees("loops", change_id, format=format)


def get_team_status(format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `get_team_status`."""
    return list_worktrees("team", format=format)


LOCAL_SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(get_conflicts, 'Now: list_edits(show="conflicts").'),
    ToolSpec(get_loop_status, 'Now: list_worktrees(show="loops").'),
    ToolSpec(get_team_status, 'Now: list_worktrees(show="team").'),
)
SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(get_entry, "Now: read_thread(topic, entry)."),
    ToolSpec(list_vocabulary, "Now: health(vocabulary=true)."),
    ToolSpec(get_ball_history, "Now: get_stats(topic)."),
    ToolSpec(list_ready, "Now: list_threads(ready=true)."),
    ToolSpec(explain_readiness, "Now: read_thread(topic, why_not_ready=true)."),
    ToolSpec(list_claims, "Now: list_edits()."),
    ToolSpec(list_activity, 'Now: list_edits(show="activity").'),
    *LOCAL_SPECS,
)

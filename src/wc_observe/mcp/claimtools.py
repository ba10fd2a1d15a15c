"""The tools about who edits what. They read refs and never change them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_observe.answers import activity, claims, neighbors
from wc_observe.calls import CURRENT
from wc_observe.mcp.forms import json_result, markdown_result
from wc_observe.mcp.toolspec import ToolSpec

Format = Literal["markdown", "json"]


def check_status(
    symbols: Annotated[
        list[str], Field(description="Paths from the top, or PATH::SYMBOL")
    ],
    agent_head: Annotated[str, Field(description="Your HEAD; default: its HEAD")] = "",
    branch: Annotated[str, Field(description="Default: the one checked out")] = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `check_status`."""
    result = claims.judgement(CURRENT.get(), symbols, agent_head, branch)
    if format == "markdown":
        return markdown_result(claims.judgement_markdown(result))
    return json_result(claims.judgement_json(result), len(result.reasons), "reasons")


def list_claims(format: Format = "markdown") -> ToolResult:  # noqa: A002
    """Answer `list_claims`."""
    call = CURRENT.get()
    view = claims.claims_view(call)
    if format == "markdown":
        return markdown_result(claims.claims_markdown(view, call.now_ms()))
    fields = claims.claims_json(view)
    return json_result(fields, len(fields["claims"]), "claims")


def get_neighbors(
    target: Annotated[str, Field(description="Path from the top, or PATH::SYMBOL")],
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_neighbors`."""
    call = CURRENT.get()
    view = neighbors.neighbors_view(call, target)
    if format == "markdown":
        return markdown_result(neighbors.neighbors_markdown(view, call.now_ms()))
    neighbourhood = view.neighbourhood
    count = sum(map(len, neighbourhood)) if neighbourhood is not None else 0
    return json_result(neighbors.neighbors_json(view), count, "files")


def list_activity(
    path: Annotated[str, Field(description="Only notes about this path")] = "",
    whose: Literal["all", "mine", "others"] = "all",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_activity`."""
    call = CURRENT.get()
    opened, view = activity.activity_answer(call, path, whose)
    if format == "markdown":
        return markdown_result(activity.activity_markdown(view))
    fields = activity.activity_json(opened, view)
    return json_result(fields, len(view.rows), "notes")


SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        check_status,
        "May you edit this? A verdict from PROCEED to STOP, with reasons. Ask before "
        "you edit; to claim: wc claim.",
        claims.STATUS_SCHEMA,
    ),
    ToolSpec(
        list_claims,
        "Who edits what: path or symbol, holder, thread, time left.",
        claims.CLAIMS_SCHEMA,
    ),
    ToolSpec(
        get_neighbors,
        "Which files use this file or symbol, and which it uses.",
        neighbors.NEIGHBORS_SCHEMA,
    ),
    ToolSpec(
        list_activity,
        "What everyone says they are doing: scope, intent, worktree, age. Other "
        "clones as of the last fetch. To add yours: wc note.",
        activity.ACTIVITY_SCHEMA,
    ),
)

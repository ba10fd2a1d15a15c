"""The tools about who edits what. They read refs and never change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_observe.answers import claims, neighbors
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.forms import json_result, markdown_result
from wc_observe.mcp.refusals import given_arguments, require_only
from wc_observe.mcp.toolspec import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

Format = Literal["markdown", "json"]
Whose = Literal["all", "mine", "others"]

# Servers that coordinate several repositories need the address.
_IGNORED_URL = "repo_url is ignored: the answer is about the repository of the store."

# What each form of `list_edits` takes.
_TAKEN: Mapping[str, tuple[str, ...]] = {
    "claims": (),
    "activity": ("path", "whose"),
    "conflicts": ("worktree",),
}


def check_status(
    symbols: Annotated[
        list[str], Field(description="Paths from the top, or PATH::SYMBOL")
    ],
    agent_head: Annotated[
        str, Field(description="Your HEAD; default: the worktree's")
    ] = "",
    branch: Annotated[str, Field(description="Default: the one checked out")] = "",
    repo_url: str = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `check_status`."""
    result = claims.judgement(CURRENT.get(), symbols, agent_head, branch)
    if format == "markdown":
        note = f"- note: {_IGNORED_URL}\n" if repo_url else ""
        return markdown_result(claims.judgement_markdown(result) + note)
    fields = claims.judgement_json(result)
    if repo_url:
        fields["warnings"] = [*fields["warnings"], _IGNORED_URL]
    return json_result(fields)


def list_edits(
    show: Annotated[
        Literal["claims", "activity", "conflicts"],
        Field(
            description="claims: what, by whom, for which thread, time left; "
            "activity: what everyone says they are doing; "
            "conflicts: worktrees that change the same files"
        ),
    ] = "claims",
    path: Annotated[str, Field(description="Only activity about it")] = "",
    whose: Annotated[Whose, Field(description="Whose activity")] = "all",
    worktree: Annotated[
        str, Field(description="Only its conflicts: name, branch or agent")
    ] = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_edits`."""
    arguments = given_arguments(list_edits, locals())
    require_only(arguments, f'list_edits with show="{show}"', "show", *_TAKEN[show])
    if show == "activity":
        return _notes_result(path, whose, format)
    if show == "conflicts":
        return _conflicts_result(worktree, format)
    call = CURRENT.get()
    view = claims.claims_view(call)
    if format == "markdown":
        return markdown_result(claims.claims_markdown(view, call.now_ms()))
    fields = claims.claims_json(view)
    return json_result(fields)


def _notes_result(path: str, whose: Whose, form: Format) -> ToolResult:
    opened, view = neighbors.notes_answer(CURRENT.get(), path, whose)
    if form == "markdown":
        return markdown_result(neighbors.notes_markdown(view))
    fields = neighbors.notes_json(opened, view)
    return json_result(fields)


def _conflicts_result(worktree: str, form: Format) -> ToolResult:
    view = neighbors.radar_view(CURRENT.get())
    if form == "markdown":
        return markdown_result(neighbors.conflicts_markdown(view, worktree))
    fields = neighbors.conflicts_json(view, worktree)
    return json_result(fields)


def get_neighbors(
    target: Annotated[str, Field(description="Path from the top, or PATH::SYMBOL")],
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `get_neighbors`."""
    call = CURRENT.get()
    view = neighbors.neighbors_view(call, target)
    if format == "markdown":
        return markdown_result(neighbors.neighbors_markdown(view, call.now_ms()))
    return json_result(neighbors.neighbors_json(view))


SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        check_status,
        "May you edit this? A verdict from PROCEED to STOP, with reasons. Ask before "
        "you edit; to claim: wc claim.",
    ),
    ToolSpec(list_edits, "Who edits what. To say what you do: wc note."),
    ToolSpec(get_neighbors, "Which files use this file or symbol, and which it uses."),
)

"""`list_inbox`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_observe.answers import inbox
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.forms import json_result, markdown_result
from wc_observe.mcp.toolspec import ToolSpec

Format = Literal["markdown", "json"]


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
SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        list_inbox,
        "What needs you in all repositories of this machine: questions to you, your "
        "balls, those offered to you, each with the command that answers it.",
    ),
)

"""The tools about what threads wait for and what the caller can start."""

from __future__ import annotations

from typing import Annotated, Literal

from fastmcp.tools.base import ToolResult  # noqa: TC002  (FastMCP reads it)
from pydantic import Field

from wc_core.views.rows import Filter
from wc_observe.answers import planning, threads
from wc_observe.answers.threads import ListRequest
from wc_observe.calls import CURRENT
from wc_observe.mcp.forms import json_result, markdown_result
from wc_observe.mcp.toolspec import ToolSpec
from wc_observe.open_store import open_store

Format = Literal["markdown", "json"]


def list_ready(
    mine: Annotated[bool, Field(description="Only with your ball")] = False,  # noqa: FBT002
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: str = "",
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `list_ready`."""
    store = open_store(CURRENT.get())
    criteria = Filter(ball="me" if mine else "", ready=True)
    request = ListRequest(criteria, limit, cursor)
    if format == "markdown":
        return markdown_result(threads.as_markdown(store, request))
    fields = threads.as_json(store, request)
    return json_result(fields, len(fields["threads"]), "threads")


def explain_readiness(
    topic: str,
    format: Format = "markdown",  # noqa: A002
) -> ToolResult:
    """Answer `explain_readiness`."""
    store = open_store(CURRENT.get())
    chain = planning.chain(store, topic)
    if format == "markdown":
        return markdown_result(planning.chain_markdown(chain))
    fields = planning.chain_json(store, chain)
    return json_result(fields, len(chain.reasons), "reasons")


SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        list_ready,
        "Threads that you can start: open, the ball yours or free, and waiting for "
        "nothing that is open. Take one: wc take TOPIC.",
        threads.LIST_SCHEMA,
    ),
    ToolSpec(
        explain_readiness,
        "Why a thread is not ready: what it waits for, and who has the ball there.",
        planning.READINESS_SCHEMA,
    ),
)

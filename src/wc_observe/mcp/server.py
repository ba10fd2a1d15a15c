"""The server: tools, resources and prompts that only read."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from fastmcp import FastMCP
from mcp.server.lowlevel.server import NotificationOptions

from wc_core.base.version import __version__
from wc_observe.mcp import claimtools, insighttools, instructions, tools
from wc_observe.mcp.boundary import Boundary
from wc_observe.mcp.completion import add_completion
from wc_observe.mcp.prompts import add_prompts
from wc_observe.mcp.resources import RecentThreads, add_resources
from wc_observe.mcp.toolspec import ToolSpec, as_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmcp.server.auth import AuthProvider
    from fastmcp.server.middleware import Middleware
    from fastmcp.tools.base import Tool

    from wc_observe.callers.calls import ServerContext

# Each family of tools has its own module.
USUAL_SPECS: tuple[ToolSpec, ...] = (
    *tools.SPECS,
    *insighttools.SPECS,
    *claimtools.SPECS,
    *insighttools.LOCAL_SPECS,
)


@functools.cache
def all_tools(*, local: bool = True, all_stores: bool = False) -> tuple[Tool, ...]:
    """Returns every tool, ready to be added to any server; those about worktrees only
    if it is ``local``, and those that look beyond one store only for ``all_stores``.
    They are made once, because that is most of the work of building a server."""
    specs = (*USUAL_SPECS, *insighttools.WIDE_SPECS) if all_stores else USUAL_SPECS
    local_specs = insighttools.LOCAL_SPECS
    return tuple(as_tool(spec) for spec in specs if local or spec not in local_specs)


def build_server(
    start: ServerContext,
    *,
    auth: AuthProvider | None = None,
    outer: Sequence[Middleware] = (),
) -> FastMCP:
    """Builds the server. It answers from the files as they are at that moment.

    Over HTTP, ``auth`` authenticates callers, and ``outer`` middleware sees each call
    and its answer as the client does.
    """
    local = not start.store_name
    server: FastMCP = FastMCP(
        "watercooler",
        instructions=instructions.SHORT,
        version=__version__,
        auth=auth,
        middleware=[*outer, Boundary(start), RecentThreads()],
        tools=all_tools(
            local=local,
            # Network callers have these tools only with a graph: it can restrict the
            # answer to the stores that each caller may see.
            all_stores=start.all_stores and (local or start.graph is not None),
        ),
        # Topics are checked where they become paths. Topics written by other tools may
        # look like paths.
        resource_security=None,
    )
    add_resources(server, local=local)
    add_prompts(server)
    add_completion(server)
    # Tools and prompts never change, and nobody is notified of the rest.
    server._mcp_server.notification_options = NotificationOptions()  # noqa: SLF001
    return server

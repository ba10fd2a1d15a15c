"""The server: tools, resources and prompts that read; nothing could write."""

from __future__ import annotations

from fastmcp import FastMCP

from wc_core.version import __version__
from wc_observe import instructions
from wc_observe.boundary import Boundary
from wc_observe.completion import add_completion
from wc_observe.prompts import add_prompts
from wc_observe.resources import Listed, add_resources
from wc_observe.subscriptions import Subscriptions
from wc_observe.tools import all_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastmcp.server.middleware import Middleware

    from wc_observe.calls import Surroundings


def build_server(start: Surroundings) -> FastMCP:
    """The server as started in these surroundings; what it answers is read
    anew each time."""
    boundary = Boundary(start)
    subscriptions = Subscriptions(boundary)
    server: FastMCP = FastMCP(
        "watercooler",
        instructions=instructions.SHORT,
        version=__version__,
        middleware=[*_journal(start), boundary, subscriptions, Listed()],
        lifespan=subscriptions.lifespan,
        tools=all_tools(),
        # A topic is checked where topics become paths, and foreign ones may
        # well look like a path.
        resource_security=None,
    )
    add_resources(server)
    add_prompts(server)
    add_completion(server)
    subscriptions.serve(server)
    return server


def _journal(start: Surroundings) -> list[Middleware]:
    """What notes each request, where somebody wants that."""
    if not start.env.get("WATERCOOLER_DEBUG"):
        return []
    from wc_core import debugging  # the usual start does without
    from wc_observe.debuglog import Journal, complain

    mode = debugging.mode(start.env)
    if mode.complaint:
        complain(f"wc-observe: {mode.complaint}\n")
    return [Journal(mode, start.now_ms)] if mode.on else []

"""The server: tools and resources that read, and nothing that could write."""

from __future__ import annotations

from fastmcp import FastMCP

from wc_core.version import __version__
from wc_observe import instructions
from wc_observe.boundary import Boundary
from wc_observe.resources import Listed, add_resources
from wc_observe.subscriptions import Subscriptions
from wc_observe.tools import all_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        middleware=[boundary, subscriptions, Listed()],
        lifespan=subscriptions.lifespan,
        tools=all_tools(),
        # A topic is checked where topics become paths, and foreign ones may
        # well look like a path.
        resource_security=None,
    )
    add_resources(server)
    subscriptions.serve(server)
    return server

"""The server: tools and resources that read, and nothing that could write."""

from __future__ import annotations

from fastmcp import FastMCP

from wc_core.version import __version__
from wc_observe import instructions
from wc_observe.boundary import Boundary
from wc_observe.resources import add_resources
from wc_observe.stores import Stores
from wc_observe.tools import all_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmcp.server.auth import AuthProvider
    from fastmcp.server.middleware import Middleware

    from wc_observe.calls import Surroundings


def build_server(
    start: Surroundings,
    *,
    auth: AuthProvider | None = None,
    around: Sequence[Middleware] = (),
    stores: Stores | None = None,
) -> FastMCP:
    """The server as started in these surroundings; it holds no state of any
    store, so every answer is read anew.

    Over HTTP, ``auth`` says who calls, ``around`` sees each call and its answer
    as the client does, and ``stores`` are those that are kept in memory.
    """
    server: FastMCP = FastMCP(
        "watercooler",
        instructions=instructions.SHORT,
        version=__version__,
        auth=auth,
        middleware=[*around, Boundary(start, stores or Stores())],
        tools=all_tools(),
        # A topic is checked where topics become paths, and foreign ones may
        # well look like a path.
        resource_security=None,
    )
    add_resources(server)
    return server

"""Connecting to a graph; no other module knows the client's package.

The caller decides what to send: the command line changes the graph, and the server only
calls ``ro_query``.
"""

from __future__ import annotations

from wc_core.base import extras
from wc_core.base.errors import (
    ConflictError,
    InvalidInputError,
    OfflineError,
    StorageError,
)
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.reading.graphdb.address import client_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.base.errors import WcError
    from wc_core.reading.graphdb.address import GraphAddress

_AWAY = {"ConnectionError", "TimeoutError", "BusyLoadingError"}


class GraphClient(NamedTuple):
    """A client, its graph, and the errors that the two raise."""

    client: Any
    graph: Any
    failures: tuple[type[Exception], ...]

    def close(self) -> None:
        """Closes the connection."""
        self.client.connection.close()


def connect(address: GraphAddress, seconds: float, *, reconnects: int) -> GraphClient:
    """Returns a client that waits ``seconds`` for an answer, and sends a statement
    again this many times if the connection is lost.

    Raises InvalidInputError without the package or if the server is not a FalkorDB, and
    OfflineError if it is unavailable.
    """
    try:
        # The client takes 0.1 s, and few commands need it.
        import falkordb
        import redis
        from redis import backoff, retry
    except ImportError as error:
        raise package_missing() from error
    failures = (redis.RedisError, OSError)
    # The client's default is ten more attempts. A server that hangs would keep its
    # caller waiting eleven times as long, so a timeout is final.
    retries = retry.Retry(
        backoff.NoBackoff(), reconnects, supported_errors=(redis.ConnectionError,)
    )
    try:
        options = client_options(address, seconds)
        client = falkordb.FalkorDB(**options, retry=retries)
        return GraphClient(client, client.select_graph(address.graph), failures)
    except failures as error:
        raise explained(error, address) from error


def package_missing() -> InvalidInputError:
    """Returns the error for a machine without the client."""
    return InvalidInputError(
        "Graph databases need the package falkordb, which is not installed.",
        f"Install it: {extras.adding('graphdb')}",
    )


class NoGraphError(ConflictError):
    """The server has no graph with this name yet."""


def explained(error: Exception, address: GraphAddress) -> WcError:
    """Returns the error to report for one of the client's."""
    kind, text = type(error).__name__, one_line(str(error), 300)
    if kind == "AuthenticationError" or text.startswith(("NOAUTH", "WRONGPASS")):
        return InvalidInputError(
            f"{address.label} refused the user or password.",
            "Set WATERCOOLER_GRAPH_USER and WATERCOOLER_GRAPH_PASSWORD.",
        )
    if kind == "NoPermissionError" or text.startswith("NOPERM"):
        return StorageError(
            f"{address.label} denied permission: {text}.",
            "The user needs the commands of docs/search.md: GRAPH.QUERY to project, "
            "GRAPH.RO_QUERY to read.",
        )
    if kind in _AWAY or isinstance(error, OSError):
        return OfflineError(
            f"{address.label} cannot be reached: {text}.",
            "Nothing is lost: run the command again when the server is back.",
        )
    if "unknown command" in text.lower():
        return InvalidInputError(
            f"{address.label} is not a FalkorDB: it has no GRAPH commands.",
            "Start one: docker run -p 6379:6379 falkordb/falkordb",
        )
    if "empty key" in text:
        return NoGraphError(
            f"{address.label} does not exist yet.", "Create it with: wc project URL"
        )
    return StorageError(
        f"{address.label} refused a statement: {text}.",
        "The graph is derived: it can be deleted, and projected again.",
    )

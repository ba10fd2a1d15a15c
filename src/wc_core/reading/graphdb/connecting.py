"""Connecting to a graph; no other module knows the client's package.

The caller decides what to send: the command line changes the graph, and the server only
calls ``ro_query``.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.reading.graphdb.address import client_options, explained, package_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.reading.graphdb.address import GraphAddress


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

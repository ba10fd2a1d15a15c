"""A read-only connection to a graph.

Of the client's methods, only ``ro_query`` is called on a graph. The database refuses a
statement sent that way if it changes anything.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from wc_core.base.errors import WcError
from wc_core.reading.graphdb import schema
from wc_core.reading.graphdb.address import explained
from wc_core.reading.graphdb.connecting import connect

if TYPE_CHECKING:
    from typing import Self

    from wc_core.reading.graphdb.address import GraphAddress
    from wc_core.reading.graphdb.connecting import GraphClient

# The timeout of an answer, and how long an unavailable graph is not asked again.
_SECONDS = 5.0
_PAUSE_SECONDS = 5.0


class GraphAwayError(Exception):
    """The graph cannot be used now. The text says why."""


class GraphReader:
    """A graph to query: a context manager. It connects at the first query. An answer
    may take ``seconds``."""

    def __init__(self, address: GraphAddress, seconds: float = _SECONDS) -> None:
        self.label = address.label
        self._address = address
        self._seconds = seconds
        self._lock = threading.Lock()
        self._client: GraphClient | None = None
        self._problem = ""
        self._retry_at = 0.0
        # When to check the version of the graph again.
        self._check_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    def retry_now(self) -> None:
        """Queries again at the next call, even if the graph was just unavailable."""
        with self._lock:
            self._retry_at = 0.0

    def rows(self, text: str, **parameters: Any) -> list[list[Any]]:
        """Returns the rows of a read-only statement. Raises GraphAwayError."""
        with self._lock:
            if self._problem and time.monotonic() < self._retry_at:
                raise GraphAwayError(self._problem)
        try:
            client = self._connected()
        except WcError as error:
            raise self._away(error.message) from error
        try:
            if time.monotonic() >= self._check_at:
                self._check_version(client)
            rows: list[list[Any]] = client.graph.ro_query(text, parameters).result_set
        except client.failures as error:
            raise self._away(explained(error, self._address).message) from error
        self._problem = ""
        return rows

    def _check_version(self, client: GraphClient) -> None:
        """Raises GraphAwayError if the graph's schema is not the one that this server
        reads: a statement would silently find too little."""
        rows = client.graph.ro_query(schema.VERSION_QUERY).result_set
        version = rows[0][0] if rows else "none"
        if version != schema.VERSION:
            raise self._away(
                f"{self.label} has schema version {version}, and this server "
                f"reads {schema.VERSION}: project into another graph with wc of "
                "this version, or use the graph's version"
            )
        self._check_at = time.monotonic() + _PAUSE_SECONDS

    def _away(self, problem: str) -> GraphAwayError:
        with self._lock:
            self._problem = problem
            self._retry_at = time.monotonic() + _PAUSE_SECONDS
            self._check_at = 0.0
        return GraphAwayError(problem)

    def _connected(self) -> GraphClient:
        with self._lock:
            if self._client is None:
                # Reading twice does no harm, and a restarted server has closed the
                # connection.
                self._client = connect(self._address, self._seconds, reconnects=1)
            return self._client

"""The connection to a graph: it can only ask.

Of the client's methods, ``ro_query`` is the only one that is called on a graph. The
database refuses a statement that changes anything if it comes by it.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from wc_core.errors import WcError
from wc_core.graphdb.address import client_options
from wc_core.graphdb.failures import explained, package_missing

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from wc_core.graphdb.address import GraphAddress

# How long an answer may take, and how long a graph that was away is not asked again.
_SECONDS = 5.0
_PAUSE_SECONDS = 5.0


class GraphAwayError(Exception):
    """The graph cannot be used now; the text says why."""


class GraphReader:
    """A graph that is asked: a context manager. It connects when it is asked for the
    first time."""

    def __init__(self, address: GraphAddress) -> None:
        self.label = address.label
        self._address = address
        self._lock = threading.Lock()
        self._client: Any = None
        self._graph: Any = None
        self._problem = ""
        self._retry_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.connection.close()

    def retry_now(self) -> None:
        """Asks again at the next call, also if the graph was away a moment ago."""
        with self._lock:
            self._retry_at = 0.0

    def rows(self, text: str, **parameters: Any) -> list[list[Any]]:
        """Returns the rows of a statement that only reads. Raises GraphAwayError."""
        with self._lock:
            if self._problem and time.monotonic() < self._retry_at:
                raise GraphAwayError(self._problem)
        try:
            graph = self._connected()
            rows: list[list[Any]] = graph.ro_query(text, parameters).result_set
        except WcError as error:
            raise self._away(error) from error
        except Exception as error:  # the client's own, of several packages
            raise self._away(explained(error, self._address)) from error
        self._problem = ""
        return rows

    def _away(self, error: WcError) -> GraphAwayError:
        with self._lock:
            self._problem = error.message
            self._retry_at = time.monotonic() + _PAUSE_SECONDS
        return GraphAwayError(error.message)

    def _connected(self) -> Any:
        with self._lock:
            if self._graph is None:
                try:
                    # 0.1 s, and only a server with a graph needs it.
                    import falkordb
                except ImportError as error:
                    raise package_missing() from error
                options = client_options(self._address, _SECONDS)
                self._client = falkordb.FalkorDB(**options)
                self._graph = self._client.select_graph(self._address.graph)
            return self._graph

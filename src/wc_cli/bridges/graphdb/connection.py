"""The connection to a graph database, and the translation of its errors."""

from __future__ import annotations

from wc_core.reading.graphdb.address import NoGraphError, explained
from wc_core.reading.graphdb.connecting import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Self

    from wc_core.reading.graphdb.address import GraphAddress

# A batch of a few thousand entries takes one second; building an index takes longer.
_SECONDS = 300.0
_ALREADY = "already indexed"


class GraphConnection:
    """A graph that can be changed: a context manager. Raises OfflineError if the server
    is unreachable, InvalidInputError if it is not a FalkorDB, StorageError if it
    refuses."""

    def __init__(self, address: GraphAddress) -> None:
        self.address = address
        # No retries: a lost statement may have been carried out. The next run finds
        # out.
        self._client = connect(address, _SECONDS, reconnects=0)
        self._graph: Any = self._client.graph
        self._failures = self._client.failures

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def query(self, text: str, **parameters: Any) -> list[list[Any]]:
        """Run a statement, which may change the graph. Returns its rows."""
        return self._run(self._graph.query, text, parameters)

    def read(self, text: str, **parameters: Any) -> list[list[Any]]:
        """Run a statement that only reads. Returns its rows; none if the graph does not
        exist yet."""
        try:
            return self._run(self._graph.ro_query, text, parameters)
        except NoGraphError:
            return []

    def ensure_index(self, statement: str) -> None:
        """Create an index, unless it exists."""
        try:
            self._graph.query(statement)
        except self._failures as error:
            if _ALREADY not in str(error):
                raise explained(error, self.address) from error

    def _run(
        self, run: Any, text: str, parameters: Mapping[str, Any]
    ) -> list[list[Any]]:
        try:
            rows: list[list[Any]] = run(text, dict(parameters)).result_set
        except self._failures as error:
            raise explained(error, self.address) from error
        return rows

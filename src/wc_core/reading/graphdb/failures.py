"""The meaning of the errors of a graph database and its client.

They are distinguished by their names and texts, because the client is imported where it
is used.
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.errors import WcError
    from wc_core.reading.graphdb.address import GraphAddress


_AWAY = {"ConnectionError", "TimeoutError", "BusyLoadingError"}


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

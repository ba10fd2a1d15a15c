"""The address of a graph: ``falkordb://[USER[:PASSWORD]@]HOST[:PORT]/GRAPH``.

``falkordbs://`` is the same over TLS; ``redis://`` and ``rediss://`` mean the same as
these two. ``unix:///PATH?graph=GRAPH`` names the socket of a server on this machine.
`explained` says what the errors from there mean.
"""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

from wc_core.base import extras
from wc_core.base.errors import (
    ConflictError,
    InvalidInputError,
    OfflineError,
    StorageError,
)
from wc_core.base.lean import re
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.errors import WcError

PORT = 6379
USER_VARIABLE = "WATERCOOLER_GRAPH_USER"
PASSWORD_VARIABLE = "WATERCOOLER_GRAPH_PASSWORD"  # noqa: S105  (a name)
_SCHEMES = {
    "falkordb": False,
    "redis": False,
    "falkordbs": True,
    "rediss": True,
    "unix": False,
}
_AWAY = {"ConnectionError", "TimeoutError", "BusyLoadingError"}
_EXAMPLE = "Such as: falkordb://localhost:6379/threads"


class GraphAddress(NamedTuple):
    """Where a graph is, and how to log in. ``label`` is for display: it has no
    password. ``socket`` is the path of a Unix socket, or empty."""

    graph: str
    host: str = ""
    port: int = PORT
    tls: bool = False
    socket: str = ""
    username: str = ""
    password: str = ""

    @property
    def label(self) -> str:
        """The address without user and password."""
        if self.socket:
            return f"unix://{self.socket}?graph={self.graph}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"falkordb{'s' * self.tls}://{host}:{self.port}/{self.graph}"


def parse(text: str, env: Mapping[str, str]) -> GraphAddress:
    """Returns the address. A user or password that it lacks is taken from
    ``WATERCOOLER_GRAPH_USER`` and ``WATERCOOLER_GRAPH_PASSWORD``.

    Raises InvalidInputError, which never quotes a password.
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port or PORT
    except ValueError as error:
        raise InvalidInputError(
            "The address of the graph is not valid.", _EXAMPLE
        ) from error
    if parts.scheme not in _SCHEMES:
        raise InvalidInputError(
            "The address of a graph begins with falkordb://, or falkordbs:// for TLS.",
            _EXAMPLE,
        )
    is_socket = parts.scheme == "unix"
    if is_socket:
        graph = parse_qs(parts.query).get("graph", [""])[0]
    else:
        graph = unquote(parts.path.strip("/"))
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}", graph):
        raise InvalidInputError(
            "The address does not name a graph: letters, digits, '.', '_', '-'.",
            _EXAMPLE,
        )
    if not (is_socket and parts.path) and not parts.hostname:
        raise InvalidInputError("The address of the graph names no host.", _EXAMPLE)
    return GraphAddress(
        graph,
        "" if is_socket else parts.hostname or "",
        port,
        _SCHEMES[parts.scheme],
        unquote(parts.path) if is_socket else "",
        unquote(parts.username or "") or env.get(USER_VARIABLE, ""),
        unquote(parts.password or "") or env.get(PASSWORD_VARIABLE, ""),
    )


def client_options(address: GraphAddress, seconds: float) -> dict[str, object]:
    """Returns the arguments of `falkordb.FalkorDB` for an address. No connection waits
    for more than ``seconds``; certificates are checked."""
    options: dict[str, object] = {
        "socket_connect_timeout": min(seconds, 5.0),
        "socket_timeout": seconds,
        "username": address.username or None,
        "password": address.password or None,
    }
    if address.socket:
        return options | {"unix_socket_path": address.socket}
    options |= {"host": address.host, "port": address.port}
    return options | ({"ssl": True, "ssl_check_hostname": True} if address.tls else {})


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

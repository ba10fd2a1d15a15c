"""The address of a graph: ``falkordb://[USER[:PASSWORD]@]HOST[:PORT]/GRAPH``.

``falkordbs://`` is the same over TLS; ``redis://`` and ``rediss://`` mean the same as
these two. ``unix:///PATH?graph=GRAPH`` names the socket of a server on this machine.
"""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

from wc_core.base.errors import InvalidInputError
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

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
    graph = _socket_graph(parts) if is_socket else unquote(parts.path.strip("/"))
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


def _socket_graph(parts: SplitResult) -> str:
    return parse_qs(parts.query).get("graph", [""])[0]


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

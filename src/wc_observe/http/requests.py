"""Checks that a request must pass before a library gets it.

The file of ``--access`` says which stores each caller may see. It is TOML:
``[http.stores]`` has a list of callers for each store: a name as `whoami` shows it,
``group:NAME``, or ``*`` for all callers. ``[http.groups]`` has the names in a group; a
token may add groups. No one may see a store that is missing from the file. A store that
a caller may not see does not exist for them: its addresses answer like those of a store
that is not served.
"""

from __future__ import annotations

import tomllib
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastmcp.server.auth.middleware import RequireAuthMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from pydantic import AnyHttpUrl

from wc_core.base.errors import InvalidInputError, StorageError
from wc_core.base.values import NamedTuple
from wc_observe.http.pages import error_response, unknown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from fastmcp.server.auth import AccessToken, AuthProvider
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from wc_observe.http.login import Login

# Served without a token: `/healthz`, which reveals no names, and the addresses at which
# clients discover a login, and log in.
_OPEN = "/healthz"
_DISCOVERY = "/.well-known/"
EVERYONE, _GROUP = "*", "group:"
_STORES, _GROUPS, _METRICS = "stores", "groups", "metrics"
_MAX_BYTES = 1_000_000


class OwnOrigin:
    """Refuses web pages served by another program on this machine.

    Such a page has the same machine in its origin, but another port. FastMCP's check of
    origins, which follows, takes all pages of this machine for ours.
    """

    def __init__(self, app: ASGIApp, allowed: Collection[str]) -> None:
        self._app = app
        self._allowed = frozenset(map(_origin_key, allowed))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, unless it comes from another local page."""
        if scope["type"] == "http" and self._is_foreign(scope):
            refusal = error_response(
                403,
                "FORBIDDEN",
                "Requests from this page's origin are not allowed.",
                "If it should: --allow-origin ORIGIN",
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_foreign(self, scope: Scope) -> bool:
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not origin:
            return False
        key = _origin_key(origin)
        if key in self._allowed:
            return False
        if not key[1]:
            return True  # no origin; FastMCP takes http://127.0.0.1:1.example for ours
        if not _is_local(key[1]):
            return False
        host = headers.get(b"host", b"").decode("latin-1")
        own = _origin_key(f"{scope['scheme']}://{host}")
        # This machine has several names, so only the scheme and the port count.
        return (key[0], key[2]) != (own[0], own[2])


def _is_local(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _origin_key(origin: str) -> tuple[str, str, int]:
    """Returns an origin's scheme, host and port; empty and 0 if it has none."""
    try:
        parts = urlsplit(origin.strip().casefold())
        port = parts.port
    except ValueError:
        return "", "", 0
    usual = {"http": 80, "https": 443}.get(parts.scheme, 0)
    return parts.scheme, parts.hostname or "", usual if port is None else port


class TokenGate:
    """Asks for a token before anything else, so that without one all addresses look the
    same, whether there is a store or not."""

    def __init__(
        self, app: ASGIApp, auth: AuthProvider, login: Login | None = None
    ) -> None:
        self._app = app
        self._open = login.paths if login is not None else frozenset[str]()
        resource = AnyHttpUrl(login.resource_url) if login is not None else None
        guarded: ASGIApp = RequireAuthMiddleware(app, auth.required_scopes, resource)
        for middleware in reversed(auth.get_middleware()):
            guarded = middleware.cls(guarded, *middleware.args, **middleware.kwargs)
        self._guarded = guarded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on if it has a valid token, or needs none."""
        path = scope.get("path", "")
        is_open = path == _OPEN or path.startswith(_DISCOVERY) or path in self._open
        is_request = scope["type"] == "http"
        await (self._guarded if is_request and not is_open else self._app)(
            scope, receive, send
        )


class WholeRequest:
    """Waits for the whole request. If the client disconnects before its end, the
    libraries would print a traceback; this avoids it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a complete request on. Its size was limited before."""
        arrived: list[Message] = []
        while not arrived or arrived[-1].get("more_body"):
            message = await receive()
            if message["type"] != "http.request":
                refusal = error_response(
                    400, "INCOMPLETE", "The request is incomplete.", ""
                )
                await refusal(scope, receive, send)
                return
            arrived.append(message)

        async def replay() -> Message:
            return arrived.pop(0) if arrived else await receive()

        await self._app(scope, replay, send)


class Access(NamedTuple):
    """Who may see which store: the callers of each, the names in each group, and who
    may see the metrics, which name all stores. ``claim`` is the token claim with its
    holder's groups."""

    stores: Mapping[str, frozenset[str]]
    groups: Mapping[str, frozenset[str]]
    metrics: frozenset[str]
    claim: str = "groups"

    def allows(self, store: str, token: AccessToken | None) -> bool:
        """Returns whether a token's holder may see a store."""
        return self._is_in(self.stores.get(store, frozenset()), token)

    def allows_metrics(self, token: AccessToken | None) -> bool:
        """Returns whether a token's holder may see the metrics."""
        return self._is_in(self.metrics, token)

    def _is_in(self, callers: frozenset[str], token: AccessToken | None) -> bool:
        if token is None:
            return False
        if EVERYONE in callers:
            return True
        name = token.subject or ""
        if name and not name.startswith(_GROUP) and name in callers:
            return True
        return any(f"{_GROUP}{group}" in callers for group in self._groups_of(token))

    def _groups_of(self, token: AccessToken) -> Iterable[str]:
        yield from token_groups(token, self.claim)
        for group, names in self.groups.items():
            if token.subject and token.subject in names:
                yield group


def token_groups(token: AccessToken, claim: str) -> list[str]:
    """Returns the groups that a token names: a list, or words separated by blanks."""
    value = token.claims.get(claim)
    if isinstance(value, str):
        return value.split()
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def load_access(path: str, names: Iterable[str], claim: str) -> Access:
    """Returns a file's rules for the stores with these ``names``.

    Raises StorageError if it cannot be read, and InvalidInputError if it has another
    format or names a store that is not served.
    """
    try:
        with open(path, "rb") as file:
            fields = tomllib.loads(file.read(_MAX_BYTES).decode())
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidInputError(f"{path} is not TOML: {error}.") from error
    table = fields.get("http")
    if not isinstance(table, dict) or table.keys() - {_STORES, _GROUPS, _METRICS}:
        raise _unusable(path, "it has [http.stores], [http.groups] and http.metrics")
    stores = _lists(path, _STORES, table.get(_STORES))
    groups = _lists(path, _GROUPS, table.get(_GROUPS, {}))
    if unknown := sorted(stores.keys() - set(names)):
        raise _unusable(path, f"no --store is called {unknown[0]}")
    metrics = _lists(path, _METRICS, {_METRICS: table.get(_METRICS, [])})
    return Access(stores, groups, metrics[_METRICS], claim)


def _lists(path: str, name: str, value: Any) -> dict[str, frozenset[str]]:
    """The table of lists of names called ``name``. Raises InvalidInputError."""
    if not isinstance(value, dict):
        raise _unusable(path, f"[http.{name}] is missing, or not a table")
    for key, items in value.items():
        if not isinstance(items, list) or not all(
            isinstance(item, str) and item.strip() for item in items
        ):
            raise _unusable(path, f"{key} in http.{name} is not a list of names")
    return {key: frozenset(items) for key, items in value.items()}


def _unusable(path: str, reason: str) -> InvalidInputError:
    return InvalidInputError(
        f"{path} does not say who may see which store: {reason}.",
        'Such as: [http.stores] and below it: team = ["alex", "group:backend"]',
    )


def caller_token(scope: Scope) -> AccessToken | None:
    """Returns the token of an authenticated request; ``None`` without one."""
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return None
    token: AccessToken = user.access_token  # type: ignore[assignment]
    return token


class AccessGate:
    """Answers for a store, or for the metrics, which name every store, as for an
    address that is not served, unless the caller may see it. It precedes everything
    else at its addresses."""

    def __init__(
        self, app: ASGIApp, allows: Callable[[AccessToken | None], bool]
    ) -> None:
        self._app = app
        self._allows = allows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on if its caller may see what is served."""
        is_allowed = self._allows(caller_token(scope))
        await (self._app if is_allowed else unknown_path)(scope, receive, send)

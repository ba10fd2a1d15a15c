"""Checks that a request must pass before a library gets it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastmcp.server.auth.middleware import RequireAuthMiddleware
from pydantic import AnyHttpUrl

from wc_observe.http.pages import error_response

if TYPE_CHECKING:
    from collections.abc import Collection

    from fastmcp.server.auth import AuthProvider
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from wc_observe.http.login import Login

# Served without a token: `/healthz`, which reveals no names, and the addresses at which
# clients discover a login, and log in.
_OPEN = "/healthz"
_DISCOVERY = "/.well-known/"


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
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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

"""Access control: only requests from this machine that know the secret address.

The threads belong to one user, but every user of the machine can connect to a loopback
port. So the address contains a secret, which is made at each start and kept only in
memory. Other sites in the same browser have no access either: they do not know the
secret, a host name of theirs that resolves to this machine is refused (DNS rebinding),
and no answer may be framed or read across origins.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FILES = "/files/"
OPEN = "open"
_LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})

HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect")),
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_WITHOUT = (
    "403: the address of this page contains a secret, so that only you can read "
    "your threads.\nOpen the complete address that wc-observe web printed; each "
    "start makes a new one.\n"
)


class Guard:
    """Middleware that passes on requests that have a local host name and the secret.

    The ticket, if there is one, is exchanged once for the address of the ``first``
    page, which contains the secret.
    """

    def __init__(
        self, app: ASGIApp, secret: str, ticket: str = "", first: str = ""
    ) -> None:
        self._app = app
        self._secret = secret
        self._first = first or f"/{secret}/"
        self._ticket = ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on or refuses it, with the security headers either way."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(header for header in _RAW if header[0] not in present),
                ]
            await send(message)

        refused = self._refusal(scope)
        await (refused or self._app)(scope, receive, safely)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        """Returns the refusal to send, or None if the request may pass."""
        return _refuse_foreign(scope) or self._without_secret(scope)

    def _without_secret(self, scope: Scope) -> ASGIApp | None:
        if scope["path"].startswith(FILES):
            return None
        first, _, remainder = scope["path"].removeprefix("/").partition("/")
        if _equal(first, self._secret):
            return None
        if self._ticket and first == OPEN and _equal(remainder, self._ticket):
            self._ticket = ""
            return RedirectResponse(self._first, 303)
        return PlainTextResponse(_WITHOUT, 403)


def _refuse_foreign(scope: Scope) -> ASGIApp | None:
    headers = dict(scope["headers"])
    host = headers.get(b"host", b"").decode("latin-1")
    if not _is_local(f"http://{host}"):
        return PlainTextResponse("421: not a host name of this machine.\n", 421)
    origin = headers.get(b"origin", b"").decode("latin-1")
    if origin and origin != f"http://{host}":
        return PlainTextResponse("403: the request comes from another page.\n", 403)
    if scope["method"] not in {"GET", "HEAD"}:
        words = "405: this page is read-only. To write, use wc.\n"
        return PlainTextResponse(words, 405, {"Allow": "GET, HEAD"})
    return None


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), expected.encode())


def _is_local(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = parts.hostname in _LOCAL and parts.port != 0
    except ValueError:
        return False
    return named and not parts.username


_RAW = [
    (name.lower().encode(), value.encode())
    for name, value in {**HEADERS, "Cache-Control": "no-store"}.items()
]

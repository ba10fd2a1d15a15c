"""Limits on what one caller may use.

A caller is an authenticated subject, otherwise an address. All counts are kept in
memory only, and bounded.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastmcp.server.middleware.rate_limiting import TokenBucketRateLimiter
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser

from wc_observe.http.pages import error_response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The largest meaningful request is a search for a few words.
MAX_BODY = 256 * 1024

# Wrong tokens from one address: enough for a client with an outdated token.
_GUESSES = 20
_GUESSES_PER_SECOND = 0.5
_CALLERS = 10_000
_UNAUTHORIZED, _BAD_REQUEST = 401, 400


class Buckets:
    """A token bucket for each of the 10,000 most recent callers."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: OrderedDict[str, TokenBucketRateLimiter] = OrderedDict()

    async def take(self, caller: str) -> bool:
        """Takes a token from the caller's bucket. Returns False if it is empty."""
        return await self._of(caller).consume()

    async def wait(self, caller: str) -> int:
        """Returns the whole seconds until there is a token; 0 if there is one now."""
        bucket = self._of(caller)
        await bucket.consume(0)  # brings its count up to date
        return max(0, math.ceil((1 - bucket.tokens) / self._rate))

    def _of(self, caller: str) -> TokenBucketRateLimiter:
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = TokenBucketRateLimiter(self._burst, self._rate)
            self._buckets[caller] = bucket
            if len(self._buckets) > _CALLERS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(caller)
        return bucket


class GuessLimit:
    """Refuses addresses that keep sending wrong tokens, without checking the tokens:
    each check may cost a request to another server.

    A token that was valid before is always checked: behind a proxy, everyone has the
    same address.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._buckets = Buckets(_GUESSES_PER_SECOND, _GUESSES)
        self._right: OrderedDict[bytes, None] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, unless its address has sent too many wrong tokens."""
        if scope["type"] != "http" or scope["path"] == "/healthz":
            await self._app(scope, receive, send)
            return
        caller, token = _address(scope), _token_digest(scope)
        seconds = await self._buckets.wait(caller)
        if seconds and token not in self._right:
            await _too_many_requests(seconds)(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._note(caller, token, message["status"])
            await send(message)

        await self._app(scope, receive, counted)

    async def _note(self, caller: str, token: bytes, status: int) -> None:
        if status == _UNAUTHORIZED:
            self._right.pop(token, None)
            await self._buckets.take(caller)
        elif status < _BAD_REQUEST and token:
            self._right[token] = None
            self._right.move_to_end(token)
            if len(self._right) > _CALLERS:
                self._right.popitem(last=False)


def _token_digest(scope: Scope) -> bytes:
    """Returns a digest of a request's credentials; empty if it has none."""
    authorization = [
        value for name, value in scope["headers"] if name == b"authorization"
    ]
    return hashlib.sha256(b"\n".join(authorization)).digest() if authorization else b""


class CallerLimit:
    """Limits the requests of each caller, per second and concurrently.

    It runs after authentication: a caller with a token is the same caller from any
    address, and no one else can use up their share.
    """

    def __init__(self, app: ASGIApp, rate: float, at_once: int) -> None:
        self._app = app
        self._buckets = Buckets(rate, max(1, math.ceil(rate * 2)))
        self._at_once = at_once
        self._under_way: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, unless its caller exceeds a limit."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = _caller(scope)
        if not await self._buckets.take(caller):
            seconds = await self._buckets.wait(caller)
            await _too_many_requests(max(1, seconds))(scope, receive, send)
        elif self._under_way.get(caller, 0) >= self._at_once:
            await _too_many_requests(1)(scope, receive, send)
        else:
            with self._counted(caller):
                await self._app(scope, receive, send)

    @contextmanager
    def _counted(self, caller: str) -> Iterator[None]:
        self._under_way[caller] = self._under_way.get(caller, 0) + 1
        try:
            yield
        finally:
            self._under_way[caller] -= 1
            if not self._under_way[caller]:
                del self._under_way[caller]


def _too_many_requests(seconds: int) -> ASGIApp:
    return error_response(
        429,
        "TOO_MANY_REQUESTS",
        "Too many requests from this caller.",
        f"Try again in {seconds} s.",
        {"Retry-After": str(seconds)},
    )


def _caller(scope: Scope) -> str:
    user = scope.get("user")
    if isinstance(user, AuthenticatedUser):
        token = user.access_token
        return f"as {token.client_id} {token.subject or ''}"
    return _address(scope)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"from {client[0]}" if client else "from nowhere"

"""Limits on what one caller may use.

A holder is an authenticated subject, otherwise an address. One person, or one machine,
runs many agents at the same time; each of them is a caller. All counts are kept in
memory only, and bounded.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import Counter, OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastmcp.server.middleware.rate_limiting import TokenBucketRateLimiter
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from wc_core.base.values import NamedTuple
from wc_observe.http.listening import caller_of
from wc_observe.http.pages import error_response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping

    from mcp.server.streamable_http import StreamableHTTPServerTransport
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The largest meaningful request is a search for a few words.
MAX_BODY = 256 * 1024

# Wrong tokens from one address: enough for a client with an outdated token.
_GUESSES = 20
_GUESSES_PER_SECOND = 0.5
_CALLERS = 10_000
_UNAUTHORIZED, _BAD_REQUEST = 401, 400

# All callers of one holder together: four times as many requests per second as one
# caller, and half of all connections, of which one caller may hold a quarter.
_TOGETHER = 4
_SHARE, _SHARE_TOGETHER = 4, 2

# The longest time, in seconds, after which a refused client should try again.
_LONGEST_WAIT = 30

_SESSION_HEADER, _VERSION_HEADER = b"mcp-session-id", b"mcp-protocol-version"


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


class _Limit(NamedTuple):
    """Limits of callers of one kind: requests per second, and at the same time."""

    buckets: Buckets
    at_once: int


class CallerLimit:
    """Limits the requests of each caller, per second and at the same time, and those of
    all callers with the same token or address.

    A caller is an open session of the older protocol. Outside of sessions, where
    requests do not name their sender, it is a connection. The requests that a holder
    sends in sessions and outside of them are counted separately: a client that opens
    session after session does not delay those that have one.

    It runs after authentication: no one else can use up the share of a token.
    """

    def __init__(
        self,
        app: ASGIApp,
        rate: float,
        connections: int,
        is_session: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._app = app
        self._is_session = is_session
        self._of_caller = _limit(rate, connections // _SHARE)
        self._of_holder = _limit(rate * _TOGETHER, connections // _SHARE_TOGETHER)
        self._under_way: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, unless its caller or holder exceeds a limit."""
        limited = self._limited(scope)
        for key, limit in limited.items():
            if seconds := await self._refusal(key, limit):
                await _too_many_requests(seconds)(scope, receive, send)
                return
        with self._counted(limited):
            await self._app(scope, receive, send)

    def _limited(self, scope: Scope) -> dict[str, _Limit]:
        """Returns the limits of a request, by what they are counted for: first the
        caller's, so that what is refused there does not count for the holder."""
        holder = _holder(scope)
        session = _session_id(scope)
        if session and self._is_session(session):
            caller, all_callers = f"{holder} session {session}", f"{holder} in sessions"
        else:
            _, port = scope.get("client") or ("", 0)
            caller = f"{holder} port {port}" if port else ""  # a proxy hides it
            all_callers = f"{holder} outside"
        limits = {caller: self._of_caller, all_callers: self._of_holder}
        limits.pop("", None)
        return limits

    async def _refusal(self, key: str, limit: _Limit) -> int:
        """Returns the seconds after which a refused request may be repeated; 0 if it is
        not refused."""
        if not await limit.buckets.take(key):
            return max(1, await limit.buckets.wait(key))
        return 1 if self._under_way.get(key, 0) >= limit.at_once else 0

    @contextmanager
    def _counted(self, keys: Iterable[str]) -> Iterator[None]:
        for key in keys:
            self._under_way[key] = self._under_way.get(key, 0) + 1
        try:
            yield
        finally:
            for key in keys:
                self._under_way[key] -= 1
                if not self._under_way[key]:
                    del self._under_way[key]


class _Use(NamedTuple):
    """The use of a session: by whom, when last, and how many of its requests and
    streams are under way."""

    holder: str
    last_used: float
    under_way: int = 0


class SessionLimit:
    """Limits the sessions of each holder to half of those of a store, so that no token
    locks the others out.

    A holder's oldest idle session makes room for a new one. Where the whole store is
    full, the oldest idle one of the holder with the most sessions does. A session is
    idle while it has neither a request nor a stream. It runs after authentication.
    """

    def __init__(
        self,
        app: ASGIApp,
        most: int,
        idle: float,
        transports: Callable[[], MutableMapping[str, StreamableHTTPServerTransport]],
    ) -> None:
        self._app = app
        self._most = most
        self._share = math.ceil(most / _SHARE_TOGETHER)
        self._seconds = math.ceil(min(idle, _LONGEST_WAIT))
        self._transports = transports
        self._uses: dict[str, _Use] = {}
        self._opening = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, unless it would open one session too many."""
        if session := _session_id(scope):
            with self._used(session):
                await self._app(scope, receive, send)
        elif _is_stateless(scope):
            await self._app(scope, receive, send)
        else:
            await self._open(scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a session, one at a time: each is counted before the next begins."""
        holder, answered = _holder(scope), False
        await self._opening.acquire()

        def end_opening() -> None:
            nonlocal answered
            if not answered:
                answered = True
                self._opening.release()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = dict(message.get("headers", ()))
                session = names.get(_SESSION_HEADER, b"").decode("latin-1")
                if session and message["status"] < _BAD_REQUEST:
                    self._uses[session] = _Use(holder, time.monotonic())
                end_opening()
            await send(message)

        try:
            refusal = await self._refusal(holder)
            await (refusal or self._app)(scope, receive, noted)
        finally:
            end_opening()

    async def _refusal(self, holder: str) -> ASGIApp | None:
        """Make room for a session of a holder; the answer if there is none."""
        transports = self._transports()
        self._uses = {id_: use for id_, use in self._uses.items() if id_ in transports}
        counts = Counter(use.holder for use in self._uses.values())
        is_own_limit = counts[holder] >= self._share
        if not is_own_limit and len(transports) < self._most:
            return None
        largest = max(counts, key=counts.__getitem__, default=holder)
        if not is_own_limit and counts[largest] > counts[holder] + 1:
            holder = largest
        idle = [
            (use.last_used, id_)
            for id_, use in self._uses.items()
            if use.holder == holder and not use.under_way
        ]
        if not idle:
            return _too_many_sessions(self._seconds, is_own=is_own_limit)
        _, oldest = min(idle)
        del self._uses[oldest]
        await transports.pop(oldest).terminate()
        return None

    @contextmanager
    def _used(self, session: str) -> Iterator[None]:
        self._note(session, 1)
        try:
            yield
        finally:
            self._note(session, -1)

    def _note(self, session: str, change: int) -> None:
        use = self._uses.get(session)
        if use is not None:
            count = use.under_way + change
            self._uses[session] = _Use(use.holder, time.monotonic(), count)


def _is_stateless(scope: Scope) -> bool:
    """Whether a request is of the protocol without sessions."""
    version = dict(scope["headers"]).get(_VERSION_HEADER)
    is_known = version and version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS
    return version is not None and not is_known


def _too_many_sessions(seconds: int, *, is_own: bool) -> ASGIApp:
    return error_response(
        429 if is_own else 503,
        "TOO_MANY_SESSIONS",
        "Too many open sessions of this caller." if is_own else "Too many sessions.",
        f"End one, or try again in {seconds} s.",
        {"Retry-After": str(seconds)},
    )


def _limit(rate: float, at_once: int) -> _Limit:
    return _Limit(Buckets(rate, max(1, math.ceil(rate * 2))), max(1, at_once))


def _too_many_requests(seconds: int) -> ASGIApp:
    return error_response(
        429,
        "TOO_MANY_REQUESTS",
        "Too many requests from this caller.",
        f"Try again in {seconds} s.",
        {"Retry-After": str(seconds)},
    )


def _holder(scope: Scope) -> str:
    user = scope.get("user")
    if isinstance(user, AuthenticatedUser):
        token = user.access_token
        return f"as {token.client_id} {token.subject or ''}"
    return _address(scope)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"from {caller_of(client[0])}" if client else "from nowhere"


def _session_id(scope: Scope) -> str:
    headers = dict(scope["headers"])
    return str(headers.get(_SESSION_HEADER, b"").decode("latin-1"))

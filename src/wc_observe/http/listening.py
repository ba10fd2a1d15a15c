"""Listens until a signal comes, then shuts down in order: ends streams and running
calls.

A connection that sends nothing, or half a request, costs its caller nothing but takes a
place from someone else. So each caller has a share of the places. Beyond that, the
connection that has waited longest is closed: never one of a client that sends its
request at once, even if it shares an address with the others.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
import uvicorn
from sse_starlette.sse import AppStatus
from uvicorn.protocols.http.h11_impl import H11Protocol

from wc_core.base.errors import StorageError
from wc_core.base.values import NamedTuple
from wc_observe.http.pages import error_response

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import FrameType

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)
# This many connections above the limit get an error response; further ones are dropped.
_REFUSED_POLITELY = 32
ConnectionT = TypeVar("ConnectionT")

# The waiting connections of one caller may be a quarter of all, those of all callers
# three quarters.
_SHARE = 4
_LOOPBACK = "loopback"
# A machine usually has a whole IPv6 network of this size.
_IPV6_NETWORK = 64
_IPV6_BITS = 128


class ClosedStreamFilter(logging.Filter):
    """Drops error records that are only about closed streams: a client ended its
    session, or disconnected, while another of its requests was on the way.

    The SDK logs this with a traceback, although nothing failed on our side.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Returns whether a record is logged."""
        error = record.exc_info[1] if record.exc_info else None
        return error is None or not _is_closed_stream(error)


def _is_closed_stream(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_closed_stream, error.exceptions))
    return isinstance(error, _CLOSED)


def leave_out_closed_streams() -> None:
    """Installs the filter where the SDK logs request errors."""
    log = logging.getLogger("mcp.server.streamable_http")
    if not any(isinstance(item, ClosedStreamFilter) for item in log.filters):
        log.addFilter(ClosedStreamFilter())


# Seconds after the end of all calls, for the protocol's last messages.
_LAST_WORDS = 2
_KEEP_ALIVE = 5


class Bounds(NamedTuple):
    """Limits for all callers together: open connections, seconds to send a request or
    take an answer, and seconds for running calls at shutdown."""

    connections: int
    timeout: float
    grace: float


class Service(NamedTuple):
    """What to serve, and its limits.

    ``listening`` is called with host and port once the server listens. ``proxies`` are
    addresses whose headers about the client are trusted.
    """

    app: ASGIApp
    under_way: UnderWay
    bounds: Bounds
    listening: Callable[[str, int], None]
    proxies: tuple[str, ...] = ()


class Server(uvicorn.Server):
    """uvicorn's server, which reports when it listens and shuts down in order: the
    first signal lets running calls finish, the second does not wait for them."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Listens, then reports the address."""
        await super().startup(sockets)
        if self.started:
            host, port, *_ = self.servers[0].sockets[0].getsockname()
            self._service.listening(host, port)

    def handle_exit(self, sig: int, _: FrameType | None) -> None:
        """Handles a signal."""
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Ends the streams, waits for the calls, stops."""
        service = self._service
        leave = asyncio.ensure_future(service.under_way.leave(service.bounds.grace))
        await super().shutdown(sockets)
        leave.cancel()


def listen(host: str, port: int, service: Service) -> None:
    """Serves until a signal comes. Raises StorageError if it cannot listen."""
    # sse-starlette would also end the streams of running calls.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    # Malformed requests are not worth a log line; our own failures are.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    leave_out_closed_streams()
    try:
        asyncio.run(Server(_config(host, port, service), service).serve())
    except SystemExit as error:
        raise StorageError(
            f"Cannot listen on {host} port {port} (see above).",
            "Choose another with --port N, or --port 0 for any free port.",
        ) from error


def base_url(host: str, port: int) -> str:
    """Returns the URL of an address."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(host: str, port: int, service: Service) -> uvicorn.Config:
    bounds = service.bounds
    waiting: WaitingConnections[Connection] = WaitingConnections(
        bounds.connections, service.proxies
    )
    connection = partial(Connection, seconds=bounds.timeout, waiting=waiting)
    return uvicorn.Config(
        service.app,
        host=host,
        port=port,
        loop="asyncio",
        http=connection,  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(service.proxies),
        forwarded_allow_ips=[*service.proxies],
        limit_concurrency=bounds.connections,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=int(bounds.grace) + _LAST_WORDS,
    )


class Connection(H11Protocol):
    """uvicorn's connection, with a time limit for both kinds of waiting.

    ``seconds`` is the time for a whole request, counted from its first byte or from the
    connection, and the time that a slow reader may hold up an answer. ``waiting`` has
    all connections that wait for a request.
    """

    def __init__(
        self,
        *args: Any,
        seconds: float,
        waiting: WaitingConnections[Connection],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._seconds = seconds
        self._waiting = waiting
        self._request_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts waiting for the first request."""
        super().connection_made(transport)
        limit = self.limit_concurrency
        if limit is not None and len(self.connections) > limit + _REFUSED_POLITELY:
            self._drop()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Takes part or all of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Starts waiting for the next request, part of which may have arrived."""
        super().on_response_complete()
        self._end_waiting()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops all timers."""
        self._end_waiting()
        self._stop(self._reader_timer)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The reader is behind."""
        super().pause_writing()
        self._reader_timer = self.loop.call_later(self._seconds, self._drop)

    def resume_writing(self) -> None:
        """The reader has caught up, or is gone."""
        self._stop(self._reader_timer)
        self._reader_timer = None
        super().resume_writing()

    def _watch(self) -> None:
        """Time a request until it is complete. Its answer may take any time."""
        under_way = self.cycle is not None and not self.cycle.response_complete
        if under_way and not self.cycle.more_body:
            self._end_waiting()
        elif self._request_timer is None:
            self._request_timer = self.loop.call_later(self._seconds, self._drop)
            surplus = self._waiting.begin(self, self._address)
            if surplus is not None:
                surplus._drop()  # noqa: SLF001 - one of us

    def _end_waiting(self) -> None:
        self._stop(self._request_timer)
        self._request_timer = None
        self._waiting.end(self, self._address)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    @staticmethod
    def _stop(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()

    def _drop(self) -> None:
        # The transport reports its end only after more connections were made, and those
        # must not be refused because of this one.
        self._waiting.end(self, self._address)
        self.connections.discard(self)
        # close() would wait for the reader to take the remaining data.
        self.transport.abort()


class WaitingConnections(Generic[ConnectionT]):
    """The connections that are waiting for a request, the oldest of each caller first.

    ``exempt`` are addresses of proxies with many callers behind them: their share is
    that of all callers.
    """

    def __init__(self, limit: int, exempt: Collection[str] = ()) -> None:
        self._each = max(1, limit // _SHARE)
        self._all = max(1, limit - limit // _SHARE)
        self._exempt = frozenset(map(caller_of, exempt))
        self._waiting: dict[str, OrderedDict[ConnectionT, None]] = {}
        self._count = 0

    def begin(self, connection: ConnectionT, address: str) -> ConnectionT | None:
        """Adds a waiting connection. Returns a connection to close if there are too
        many."""
        caller = caller_of(address)
        own = self._waiting.setdefault(caller, OrderedDict())
        self._count += connection not in own
        own[connection] = None
        if len(own) <= self._each or caller in self._exempt:
            if self._count <= self._all:
                return None
            own = max(self._waiting.values(), key=len)
        return next(iter(own))

    def end(self, connection: ConnectionT, address: str) -> None:
        """Removes a connection that was closed or whose request has arrived."""
        caller = caller_of(address)
        own = self._waiting.get(caller)
        if own is None or connection not in own:
            return
        del own[connection]
        self._count -= 1
        if not own:
            del self._waiting[caller]


def caller_of(address: str) -> str:
    """Returns who an address belongs to: this machine for all loopback addresses, the
    network for an IPv6 address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped is not None:  # noqa: PLR2004
        parsed = parsed.ipv4_mapped
    if parsed.is_loopback:
        return _LOOPBACK
    if parsed.version == 6:  # noqa: PLR2004
        return f"{int(parsed) >> (_IPV6_BITS - _IPV6_NETWORK):x}"
    return str(parsed)


class UnderWay:
    """The requests being answered: streams that wait for changes, and calls."""

    def __init__(self) -> None:
        self.streams: set[anyio.CancelScope] = set()
        self.calls: set[anyio.CancelScope] = set()
        self.left = False

    @property
    def counts(self) -> dict[str, int]:
        """The number of requests of each kind."""
        return {"stream": len(self.streams), "call": len(self.calls)}

    async def leave(self, grace: float) -> None:
        """Ends streams at once and calls after ``grace`` seconds."""
        self.left = True
        for request in [*self.streams]:
            request.cancel()
        await anyio.sleep(grace)
        for request in [*self.calls]:
            request.cancel()


class Leaving:
    """Middleware that ends requests when the server stops, so that a client sees a
    proper end of its stream."""

    def __init__(self, app: ASGIApp, under_way: UnderWay) -> None:
        self._app = app
        self._under_way = under_way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and cancels it when the server stops."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent: list[Message] = []

        async def noted(message: Message) -> None:
            sent[:] = [message]
            await send(message)

        now = self._under_way
        held = now.streams if _is_stream(scope) else now.calls
        with anyio.CancelScope() as cancelled:
            held.add(cancelled)
            try:
                if not now.left:
                    await self._app(scope, receive, noted)
            finally:
                held.discard(cancelled)
        # The libraries' streams swallow the cancellation and leave the response open.
        if not sent:
            refusal = error_response(
                503, "LEAVING", "The server is stopping.", "Try again."
            )
            await refusal(scope, receive, send)
        elif sent[0]["type"] == "http.response.start" or sent[0].get("more_body"):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_stream(scope: Scope) -> bool:
    """Returns whether a request only waits for changes: the GET of the older
    protocol."""
    headers = dict(scope["headers"])
    return scope["method"] == "GET" and b"text/event-stream" in headers.get(
        b"accept", b""
    )

"""Listens until a signal comes, then shuts down in order."""

from __future__ import annotations

import asyncio
import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from sse_starlette.sse import AppStatus

from wc_core.base.errors import StorageError
from wc_core.base.values import NamedTuple
from wc_observe.http.connection import Connection
from wc_observe.http.waiting import WaitingConnections

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from starlette.types import ASGIApp

    from wc_observe.http.leaving import UnderWay

_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)


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

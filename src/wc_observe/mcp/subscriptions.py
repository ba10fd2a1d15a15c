"""Notifies clients of changes, in both versions of the protocol.

Until 2025-11-25 a client subscribes to addresses one by one, and always gets changes of
the list. Since 2026-07-28 it opens a stream, with a single request that says what it
wants. FastMCP supports neither, so this module, and no other, uses the server and the
connection beneath.

Nothing is watched before a client has called something: initialize must be answered as
fast as possible.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import Middleware
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import ListenHandler
from mcp_types import (
    DiscoverResult,
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from wc_core.base.errors import ConflictError, WcError
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.refusals import as_protocol
from wc_observe.mcp.subscribers import LegacyClient, Stream
from wc_observe.stores.watch.idle import IdleQueue
from wc_observe.stores.watch.stores import CURRENT_WATCH, StoreWatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from fastmcp import FastMCP
    from fastmcp.server.context import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp_types import DiscoverRequest, SubscriptionsListenResult

    from wc_observe.callers.calls import Call
    from wc_observe.mcp.boundary import Boundary
    from wc_observe.mcp.subscribers import Subscriber

_KEY = "watercooler"
# A client that needs more is broken or malicious.
MAX_STREAMS = 100
_REQUESTS = frozenset({"tools/call", "resources/read", "resources/list"})


class Subscriptions(Middleware):
    """Keeps track of which client wants to be notified of what."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self.watch = StoreWatch(boundary.stores)
        self._streams: set[Stream] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._idle = IdleQueue(self._run_in_background)

    @asynccontextmanager
    async def lifespan(self, _: FastMCP) -> AsyncIterator[None]:
        """Watches while the server runs."""
        self.watch.open()
        try:
            yield
        finally:
            self.watch.close()

    def register(self, server: FastMCP) -> None:
        """Answers requests for subscriptions, and announces that they are supported."""
        low = server._mcp_server  # noqa: SLF001
        low.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, self._subscribe
        )
        low.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe
        )
        low.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, self._open_stream
        )
        # Tools and prompts do not change while the server runs.
        low.notification_options = NotificationOptions(resources_changed=True)

    async def on_discover(
        self,
        context: MiddlewareContext[DiscoverRequest],
        call_next: CallNext[DiscoverRequest, DiscoverResult | dict[str, Any]],
    ) -> DiscoverResult | dict[str, Any]:
        """Announces only the list that changes; the library announces all three."""
        result = await call_next(context)
        if isinstance(result, DiscoverResult):
            for capability in (result.capabilities.tools, result.capabilities.prompts):
                if capability is not None:
                    capability.list_changed = False
        return result

    async def on_request(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        """Answers first, then listens for clients that want notifications."""
        CURRENT_WATCH.set(self.watch)
        if context.method not in _REQUESTS:
            return await call_next(context)
        try:
            with self._idle.call():
                return await call_next(context)
        finally:
            own, call = context.fastmcp_context, CURRENT.get(None)
            if own is not None and call is not None:
                self._follow_caller(own, call)

    def _follow_caller(self, own: Context, call: Call) -> None:
        """Listens for a client that has just called a tool, in its new store if it has
        moved, and for the stores in memory: in the next pause."""
        for root in call.stores.unwatched():
            if not self.watch.keeps(root):
                keep = partial(asyncio.to_thread, self.watch.keep, root, call.env)
                self._idle.put(root, keep)
        if own.request_context is None:
            return
        if own.session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            subscribers: list[Subscriber] = [_legacy_client(own.session, self.watch)]
        elif own.transport == "stdio":
            # One pipe means one client, which owns all streams.
            subscribers = list(self._streams)
        else:
            return
        for subscriber in subscribers:
            if subscriber.is_at(call):
                self._idle.drop(subscriber)
            else:
                self._idle.put(subscriber, partial(subscriber.follow, call))

    def _run_in_background(self, coroutine: Coroutine[Any, Any, object]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        client = _legacy_client(ctx.session, self.watch)
        try:
            client.subscribe(str(params.uri))
            await client.follow(await self._current_call(), strict=True)
        except WcError as error:
            raise as_protocol(error) from error
        return EmptyResult()

    async def _unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        try:
            _legacy_client(ctx.session, self.watch).unsubscribe(str(params.uri))
        except WcError as error:
            raise as_protocol(error) from error
        return EmptyResult()

    async def _open_stream(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: SubscriptionsListenRequestParams,
    ) -> SubscriptionsListenResult:
        requested = params.notifications
        uris = requested.resource_subscriptions or []
        honoured = SubscriptionFilter(
            resources_list_changed=requested.resources_list_changed,
            resource_subscriptions=uris,
        )
        try:
            stream = Stream(self.watch, uris)
            if len(self._streams) >= MAX_STREAMS:
                raise ConflictError(
                    f"All {MAX_STREAMS} streams of this server are in use.",
                    "Close one of yours, or try again later.",
                )
            self._streams.add(stream)
        except WcError as error:
            raise as_protocol(error) from error
        try:
            await stream.follow(await self._current_call(), strict=True)
            accepted = params.model_copy(update={"notifications": honoured})
            return await ListenHandler(stream)(ctx, accepted)
        except WcError as error:
            raise as_protocol(error) from error
        finally:
            self._streams.discard(stream)
            stream.close()

    async def _current_call(self) -> Call:
        return await self._boundary.call_of(get_context())


def _legacy_client(session: ServerSession, watch: StoreWatch) -> LegacyClient:
    # The session lasts for one request. The connection behind it keeps what must last
    # longer.
    connection = session._connection  # noqa: SLF001
    client = connection.state.get(_KEY)
    if client is None:
        client = connection.state[_KEY] = LegacyClient(watch, connection)
    legacy_client: LegacyClient = client
    return legacy_client

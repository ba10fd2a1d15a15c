"""Telling clients what changed, in both eras of the protocol.

Until 2025-11-25 a client subscribes to addresses one by one, and is told of
changes of the list whether it asked or not. Since 2026-07-28 it opens a
stream, with one request that says what it wants to hear. FastMCP has neither,
so this module, and no other, goes to the server and the connection beneath.

Nobody is watched before a client has called something: initialize is on the
way to nothing but its answer.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager

from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import Middleware
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import (
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp_types import (
    DiscoverResult,
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from wc_core import discovery
from wc_core.errors import ConflictError, WcError
from wc_observe import addresses
from wc_observe.boundary import as_protocol
from wc_observe.calls import CURRENT
from wc_observe.hearing import CURRENT_HEARING, Hearing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Any

    from fastmcp import FastMCP
    from fastmcp.server.context import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp.server.subscriptions import ServerEvent
    from mcp_types import DiscoverRequest, SubscriptionsListenResult

    from wc_observe.addresses import Changes
    from wc_observe.boundary import Boundary
    from wc_observe.calls import Call

_KEY = "watercooler"
# More than that is no reader, but a fault or worse.
MAX_ADDRESSES = 250
MAX_STREAMS = 100
_REQUESTS = frozenset({"tools/call", "resources/read", "resources/list"})


class Subscriptions(Middleware):
    """Who wants to be told what."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self.hearing = Hearing(boundary.stores)
        self._streams: set[_Stream] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lifespan(self, _: FastMCP) -> AsyncIterator[None]:
        """As long as the server runs."""
        try:
            yield
        finally:
            self.hearing.close()

    def serve(self, server: FastMCP) -> None:
        """Answer requests for subscriptions, and announce that we do."""
        low = server._mcp_server  # noqa: SLF001
        low.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, self._subscribe
        )
        low.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe
        )
        low.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, self._listen
        )
        # Tools and prompts are the same as long as the server lives.
        low.notification_options = NotificationOptions(resources_changed=True)

    async def on_discover(
        self,
        context: MiddlewareContext[DiscoverRequest],
        call_next: CallNext[DiscoverRequest, DiscoverResult | dict[str, Any]],
    ) -> DiscoverResult | dict[str, Any]:
        """Announce only what changes: the library announces all three lists."""
        found = await call_next(context)
        if isinstance(found, DiscoverResult):
            for one in (found.capabilities.tools, found.capabilities.prompts):
                if one is not None:
                    one.list_changed = False
        return found

    async def on_request(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        """Answer first; then see whether somebody is to be told of changes."""
        CURRENT_HEARING.set(self.hearing)
        try:
            return await call_next(context)
        finally:
            own, call = context.fastmcp_context, CURRENT.get(None)
            if context.method in _REQUESTS and own is not None and call is not None:
                self._after(own, call)

    def _after(self, own: Context, call: Call) -> None:
        """Listen for a client that has just called something, or elsewhere if
        it has moved; and for what answers from memory."""
        for root in call.stores.unwatched():
            if not self.hearing.keeps(root):
                self._start(asyncio.to_thread(self.hearing.keep, root, call.env))
        if own.request_context is None:
            return
        if own.session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            hearers: list[_Hearer] = [_client_of(own.session, self.hearing)]
        elif own.transport == "stdio":
            # One pipe, one client: all streams are its own.
            hearers = list(self._streams)
        else:
            return
        for one in hearers:
            if not one.is_at(call):
                self._start(one.move(call))

    def _start(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        client = _client_of(ctx.session, self.hearing)
        try:
            client.subscribe(str(params.uri))
            await client.move(await self._call(), strict=True)
        except WcError as error:
            raise as_protocol(error) from error
        return EmptyResult()

    async def _unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        try:
            _client_of(ctx.session, self.hearing).unsubscribe(str(params.uri))
        except WcError as error:
            raise as_protocol(error) from error
        return EmptyResult()

    async def _listen(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: SubscriptionsListenRequestParams,
    ) -> SubscriptionsListenResult:
        wanted = params.notifications
        uris = wanted.resource_subscriptions or []
        honoured = SubscriptionFilter(
            resources_list_changed=wanted.resources_list_changed,
            resource_subscriptions=uris,
        )
        try:
            stream = _Stream(self.hearing, uris)
            if len(self._streams) >= MAX_STREAMS:
                raise _too_many(MAX_STREAMS, "streams")
            self._streams.add(stream)
        except WcError as error:
            raise as_protocol(error) from error
        try:
            await stream.move(await self._call(), strict=True)
            asked = params.model_copy(update={"notifications": honoured})
            return await ListenHandler(stream)(ctx, asked)
        except WcError as error:
            raise as_protocol(error) from error
        finally:
            self._streams.discard(stream)
            stream.close()

    async def _call(self) -> Call:
        return await self._boundary.call_of(get_context())


def _too_many(count: int, what: str) -> ConflictError:
    return ConflictError(
        f"A client may have {count} {what} at once.", "End some of them first."
    )


class _Hearer:
    """Somebody who is told of the changes in one store at a time."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self._uris: dict[str, set[str]] = {}
        self._loop = asyncio.get_running_loop()
        self._folder: str | None = None
        self._heard_of: tuple[str, bool] = ("", False)
        self._end: Callable[[], None] | None = None
        self._closed = False

    def is_at(self, call: Call) -> bool:
        """Whether a call from there is about the store listened to."""
        # A store that is not there yet, or no more, may come to be elsewhere.
        same = self._folder == call.folder and self._end is not None
        return same and os.path.isdir(self._heard_of[0])

    async def move(self, call: Call, *, strict: bool = False) -> None:
        """Listen to the store that a call reads, and to no other.

        Raises WcError, if ``strict``, where there can be none.
        """
        try:
            place = discovery.find(call.folder, call.env, missing_ok=True)
        except WcError:
            if strict:
                raise
            return
        self._folder = call.folder
        beside = any(map(addresses.is_beside, self._uris))
        if self._end is not None and self._heard_of == (place.root, beside):
            return
        # Looking at ten thousand logs takes a while.
        listen = self._hearing.listen_beside if beside else self._hearing.listen_at
        end = await asyncio.to_thread(listen, place, call.env, self._heard)
        self._stop()
        self._heard_of, self._end = (place.root, beside), end
        if self._closed:
            self._stop()

    def close(self) -> None:
        """Be told no more."""
        self._closed = True
        self._stop()

    def _stop(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end()

    def _heard(self, changes: Changes) -> None:
        """On the watcher's thread."""
        try:
            self._loop.call_soon_threadsafe(self.tell, changes)
        except RuntimeError:
            return  # the server ends

    def tell(self, changes: Changes) -> None:
        """Pass on what changed; on the server's loop."""
        raise NotImplementedError


class _Client(_Hearer):
    """A connection of the older era: told by messages of its own."""

    def __init__(self, hearing: Hearing, connection: Connection) -> None:
        super().__init__(hearing)
        self._connection = connection
        # What there is to say, each thing once, in order; "" is the list.
        self._unsaid: dict[str, None] = {}
        self._saying: asyncio.Task[None] | None = None
        connection.exit_stack.callback(self.close)

    def subscribe(self, uri: str) -> None:
        """Raises InvalidInputError for what is no address of ours."""
        key = addresses.canonical(uri)
        if key not in self._uris and len(self._uris) >= MAX_ADDRESSES:
            raise _too_many(MAX_ADDRESSES, "subscriptions")
        self._uris[key] = self._uris.get(key, set()) | {uri}

    def unsubscribe(self, uri: str) -> None:
        """Raises InvalidInputError for what is no address of ours."""
        self._uris.pop(addresses.canonical(uri), None)

    def close(self) -> None:
        super().close()
        if self._saying is not None:
            self._saying.cancel()

    def tell(self, changes: Changes) -> None:
        if self._closed:
            return
        for key in addresses.about(changes, self._uris):
            self._unsaid.update(dict.fromkeys(self._uris[key]))
        if changes.listed:
            self._unsaid[""] = None
        if self._unsaid and self._saying is None:
            self._saying = self._loop.create_task(self._say())
            self._saying.add_done_callback(self._said)

    async def _say(self) -> None:
        while self._unsaid:
            uri = next(iter(self._unsaid))
            del self._unsaid[uri]
            if uri:
                await self._connection.send_resource_updated(uri)
            else:
                await self._connection.send_resource_list_changed()

    def _said(self, _: asyncio.Task[None]) -> None:
        self._saying = None


def _client_of(session: ServerSession, hearing: Hearing) -> _Client:
    # What outlives a request is kept by the connection, which the session of
    # each request stands for.
    connection = session._connection  # noqa: SLF001
    client = connection.state.get(_KEY)
    if client is None:
        client = connection.state[_KEY] = _Client(hearing, connection)
    found: _Client = client
    return found


class _Stream(_Hearer):
    """One stream of the newer era, as the bus that its handler listens to."""

    def __init__(self, hearing: Hearing, uris: list[str]) -> None:
        super().__init__(hearing)
        if len(uris) > MAX_ADDRESSES:
            raise _too_many(MAX_ADDRESSES, "addresses")
        self._uris = addresses.spellings(uris)
        self._deliver: Callable[[ServerEvent], None] | None = None

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """The one handler there is."""
        self._deliver = listener
        return self.close

    async def publish(self, event: ServerEvent) -> None:
        """What the protocol of a bus asks for; nobody publishes to this one."""
        if self._deliver is not None:
            self._deliver(event)

    def tell(self, changes: Changes) -> None:
        if self._closed or self._deliver is None:
            return
        for key in addresses.about(changes, self._uris):
            for uri in self._uris[key]:
                self._deliver(ResourceUpdated(uri))
        if changes.listed:
            self._deliver(ResourcesListChanged())

"""Server-sent events that tell open pages what changed.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.responses import Response, StreamingResponse

from wc_core.base.errors import WcError
from wc_core.ledger.git import discovery

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from wc_observe.web.stores import StoreOpener

# Each open page has one stream; more than this is a fault.
MAX_STREAMS = 32
# Seconds between keep-alives, which reveal closed connections.
_SILENCE = 20.0
# Debounce: changes within this many seconds become one event.
_TOGETHER = 0.03
_NAMED = 50


class Streams:
    """The open event streams."""

    def __init__(self, opener: StoreOpener) -> None:
        self._opener = opener
        self._watch = opener.watch
        self.count = 0

    async def answer(self, request: Request) -> Response:
        """Answers with a stream, or 503 if there are too many."""
        if self.count >= MAX_STREAMS:
            words = f"There are {MAX_STREAMS} streams already. Close a page.\n"
            return Response(words, 503, {"Retry-After": "30"}, "text/plain")
        try:
            key = str(request.path_params.get("store", ""))
            call = self._opener.call_to(key)
            place = discovery.find(call.folder, call.env, missing_ok=True)
        except WcError as error:
            return Response(f"{error.message}\n", 503, media_type="text/plain")
        return StreamingResponse(
            self._events(place),
            media_type="text/event-stream",
            headers=_HEADERS,
        )

    async def _events(self, place: discovery.Place) -> AsyncIterator[str]:
        pending = _PendingChanges()
        self.count += 1
        end = None
        try:
            # Scanning ten thousand logs takes a while.
            end = await anyio.to_thread.run_sync(
                self._watch.listen, place.root, pending.add
            )
            yield "retry: 1000\nevent: ready\ndata: {}\n\n"
            while True:
                yield await pending.next()
        finally:
            self.count -= 1
            if end is not None:
                end()


class _PendingChanges:
    """Changes that have not been sent on a stream yet."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._something = asyncio.Event()
        self._topics: set[str] = set()

    def add(self, topics: frozenset[str]) -> None:
        """Adds changed threads; called on the watcher's thread."""
        try:
            self._loop.call_soon_threadsafe(self._note, topics)
        except RuntimeError:
            return  # the server is shutting down

    def _note(self, topics: frozenset[str]) -> None:
        self._topics |= topics
        self._something.set()

    async def next(self) -> str:
        """Waits for the next event, or returns a keep-alive."""
        try:
            async with asyncio.timeout(_SILENCE):
                await self._something.wait()
        except TimeoutError:
            return ": still here\n\n"
        await asyncio.sleep(_TOGETHER)
        self._something.clear()
        topics, self._topics = sorted(self._topics), set()
        event = {"topics": topics[:_NAMED], "more": len(topics) > _NAMED}
        return f"event: changed\ndata: {json.dumps(event)}\n\n"


_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

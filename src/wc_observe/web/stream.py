"""Telling pages what changed, as it happens: server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.responses import Response, StreamingResponse

from wc_core.errors import WcError
from wc_core.git import discovery
from wc_core.threads import settings
from wc_observe.watch.watcher import OFF

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from wc_observe.calls import ServerContext
    from wc_observe.watch.addresses import Changes
    from wc_observe.watch.stores import StoreWatch

# A page that is looked at has one stream; more are no reader, but a fault.
MAX_STREAMS = 32
# What is said so that a connection that is gone is noticed.
_SILENCE = 20.0
# Changes within so short a time are told at once.
_TOGETHER = 0.03
_NAMED = 50


class Streams:
    """Those who are told of changes in one store."""

    def __init__(self, start: ServerContext, watch: StoreWatch) -> None:
        self._start = start
        self._watch = watch
        self.count = 0

    async def answer(self, _: Request) -> Response:
        """A stream, as long as there are not too many of them."""
        if self.count >= MAX_STREAMS:
            words = f"There are {MAX_STREAMS} streams already. Close a page.\n"
            return Response(words, 503, {"Retry-After": "30"}, "text/plain")
        try:
            place = discovery.find(self._start.folder, self._start.env, missing_ok=True)
        except WcError as error:
            return Response(f"{error.message}\n", 503, media_type="text/plain")
        return StreamingResponse(
            self._told(place), media_type="text/event-stream", headers=_HEADERS
        )

    async def _told(self, place: discovery.Place) -> AsyncIterator[str]:
        heard = _Heard()
        self.count += 1
        end = None
        try:
            # Looking at ten thousand logs takes a while.
            end = await anyio.to_thread.run_sync(
                self._watch.listen_at, place, self._start.env, heard.hear
            )
            found = settings.load(place.root, self._start.env)
            told = {"live": found.watch != OFF}
            yield f"retry: 1000\nevent: ready\ndata: {json.dumps(told)}\n\n"
            while True:
                yield await heard.next()
        finally:
            self.count -= 1
            if end is not None:
                end()


class _Heard:
    """What one stream has not been told yet."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._something = asyncio.Event()
        self._topics: set[str] = set()
        self._listed = False

    def hear(self, changes: Changes) -> None:
        """On the watcher's thread."""
        try:
            self._loop.call_soon_threadsafe(self._note, changes)
        except RuntimeError:
            return  # the server ends

    def _note(self, changes: Changes) -> None:
        self._topics |= changes.topics
        self._listed = self._listed or changes.listed
        self._something.set()

    async def next(self) -> str:
        """The next event, or a sign of life."""
        try:
            async with asyncio.timeout(_SILENCE):
                await self._something.wait()
        except TimeoutError:
            return ": still here\n\n"
        await asyncio.sleep(_TOGETHER)
        self._something.clear()
        topics, self._topics = sorted(self._topics), set()
        listed, self._listed = self._listed, False
        told = {"topics": topics[:_NAMED], "more": len(topics) > _NAMED}
        return f"event: changed\ndata: {json.dumps(told | {'listed': listed})}\n\n"


_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

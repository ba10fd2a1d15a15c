"""Watches large stores while the server runs, so that a call need not check every
file."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastmcp.server.middleware import Middleware

from wc_observe.stores.watch.stores import StoreWatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastmcp import FastMCP
    from fastmcp.server.middleware import CallNext, MiddlewareContext

    from wc_observe.stores.live.stores import Stores

# To watch ten thousand folders, the library holds Python's lock for a third of a
# second: seconds without a call that are waited for, and the longest wait.
_PAUSE, _PATIENCE = 0.5, 5.0


class Watching(Middleware):
    """Begins to watch in a pause between calls. Before the first one, it watches
    nothing: initialize must be answered as fast as possible."""

    def __init__(self, stores: Stores) -> None:
        self.watch = StoreWatch(stores)
        self._timer: asyncio.TimerHandle | None = None
        self._latest = 0.0

    @asynccontextmanager
    async def lifespan(self, _: FastMCP) -> AsyncIterator[None]:
        """Watches while the server runs."""
        self.watch.open()
        try:
            yield
        finally:
            self._cancel()
            self.watch.close()

    async def on_request(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        """Answers first."""
        self._cancel()
        try:
            return await call_next(context)
        finally:
            self._start_in_a_pause()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _start_in_a_pause(self) -> None:
        if not self.watch.unkept():
            return
        loop = asyncio.get_running_loop()
        if self._timer is None:
            self._latest = loop.time() + _PATIENCE
        self._cancel()
        moment = min(loop.time() + _PAUSE, self._latest)
        self._timer = loop.call_at(moment, self._start)

    def _start(self) -> None:
        self._timer = None
        asyncio.get_running_loop().run_in_executor(None, self.watch.keep_all)

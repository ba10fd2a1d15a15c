"""A connection with time limits for slow clients.

uvicorn closes a connection that is idle between requests. It keeps a connection that
sends half a request or does not read its answer; enough of those lock everyone else
out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from wc_observe.http.waiting import WaitingConnections

# This many connections above the limit get an error response; further ones are dropped.
_REFUSED_POLITELY = 32


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

"""A connection that does not wait for ever for the other side.

uvicorn closes a connection that is idle between two requests. One that sends
half a request, or does not read its answer, it keeps; enough of those, and
nobody else gets one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

# So many are told that there are too many; beyond, nobody answers.
_TOLD = 32


class Connection(H11Protocol):
    """uvicorn's, with an end to either kind of waiting.

    ``seconds`` is the time for a whole request, from its first byte or from
    the connection on, and the time an answer may be held up by its reader.
    """

    def __init__(self, *args: Any, seconds: float, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self._seconds = seconds
        self._request_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """From now on the first request is waited for."""
        super().connection_made(transport)
        limit = self.limit_concurrency
        if limit is not None and len(self.connections) > limit + _TOLD:
            self._drop()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """More of a request, or all of it."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """The next request is waited for, what has come of it included."""
        super().on_response_complete()
        self._stop(self._request_timer)
        self._request_timer = None
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop(self._request_timer)
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
        """Time a request until it is here; an answer takes as long as it does."""
        under_way = self.cycle is not None and not self.cycle.response_complete
        if under_way and not self.cycle.more_body:
            self._stop(self._request_timer)
            self._request_timer = None
        elif self._request_timer is None:
            self._request_timer = self.loop.call_later(self._seconds, self._drop)

    @staticmethod
    def _stop(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()

    def _drop(self) -> None:
        # close() would wait for the reader to take what is left for it.
        self.transport.abort()

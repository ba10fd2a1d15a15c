"""Orderly shutdown: ends streams and running calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from wc_observe.http.pages import error_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


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

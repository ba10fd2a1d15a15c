"""What is being answered, and how it is let go of when the server leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from wc_observe.http.pages import problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class UnderWay:
    """The requests of this moment: streams that wait for news, and calls."""

    def __init__(self) -> None:
        self.streams: set[anyio.CancelScope] = set()
        self.calls: set[anyio.CancelScope] = set()
        self.left = False

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        return {"stream": len(self.streams), "call": len(self.calls)}

    async def leave(self, grace: float) -> None:
        """End the streams at once, calls after ``grace`` seconds."""
        self.left = True
        for one in [*self.streams]:
            one.cancel()
        await anyio.sleep(grace)
        for one in [*self.calls]:
            one.cancel()


class Leaving:
    """Lets go of requests when the server leaves, so that clients see a stream
    that ended and not one that broke."""

    def __init__(self, app: ASGIApp, under_way: UnderWay) -> None:
        self._app = app
        self._under_way = under_way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, to be let go of when its time has come."""
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
        # Streams of the libraries swallow being cancelled, and end without an end.
        if not sent:
            refusal = problem(503, "LEAVING", "The server is stopping.", "Try again.")
            await refusal(scope, receive, send)
        elif sent[0]["type"] == "http.response.start" or sent[0].get("more_body"):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_stream(scope: Scope) -> bool:
    """Whether a request only waits for what the server has to say: the GET of
    the older protocol, the method of the newer one."""
    headers = dict(scope["headers"])
    if scope["method"] == "GET":
        return b"text/event-stream" in headers.get(b"accept", b"")
    return bool(headers.get(b"mcp-method") == b"subscriptions/listen")

"""Serves over standard input and output, and answers lines that are not messages.

The SDK drops a line that it cannot parse, so the client would wait until its timeout.
FastMCP does not report such lines either, so this module runs the server beneath it.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from fastmcp.server.context import reset_transport, set_transport
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from fastmcp import FastMCP

_NO_JSON = "json_invalid"


_log = logging.getLogger(__name__)


def serve_stdio(server: FastMCP, repeated_id: str = "") -> None:
    """Serves one client until its input ends, without sending the answer to the request
    ``repeated_id``, which the client already has."""
    anyio.run(_serve, server, repeated_id)


async def _serve(server: FastMCP, repeated_id: str) -> None:
    low = server._mcp_server  # noqa: SLF001
    token = set_transport("stdio")
    try:
        async with server._lifespan_manager(), stdio_server() as (reads, writes):  # noqa: SLF001
            options = low.create_initialization_options()
            await low.run(
                AnsweredStream(reads, writes),
                WithheldStream(writes, repeated_id),
                options,
            )
    finally:
        reset_transport(token)


class _Closing:
    """A stream that a ``with`` block closes."""

    async def aclose(self) -> None:
        """Closes the stream."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class WithheldStream(_Closing):
    """A stream of messages without the answer that the client already has."""

    def __init__(self, writes: Any, repeated_id: str) -> None:
        self._writes = writes
        self._repeated_id = repeated_id

    async def send(self, item: SessionMessage) -> None:
        """Sends a message, unless the client already has it."""
        answer = item.message
        if self._repeated_id and getattr(answer, "id", None) == self._repeated_id:
            self._repeated_id = ""
            if isinstance(answer, JSONRPCError):
                _log.error("the first request was refused: %s", answer.error.message)
            return
        await self._writes.send(item)

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._writes.aclose()


class AnsweredStream(_Closing):
    """A stream of messages that answers anything else with an error."""

    def __init__(self, reads: Any, writes: Any) -> None:
        self._reads = reads
        self._writes = writes

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent."""
        return self._reads.last_context

    async def receive(self) -> Any:
        """Returns the next message. Raises EndOfStream after the last one."""
        while isinstance(item := await self._reads.receive(), Exception):
            answer = unreadable_message(item)
            if answer is not None:
                # The client may have exited.
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._writes.send(SessionMessage(answer))
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._reads.aclose()


def unreadable_message(error: Exception) -> JSONRPCError | None:
    """Returns the answer to a line that is not a message; ``None`` for an empty line.
    The ``id`` is null, as JSON-RPC requires if the request's id is unknown."""
    details = (
        error.errors(include_url=False) if isinstance(error, ValidationError) else []
    )
    first = details[0] if details else None
    if first is not None and first["type"] != _NO_JSON:
        data = ErrorData(
            code=INVALID_REQUEST, message="Invalid Request: no JSON-RPC 2.0 message"
        )
    elif first is not None and not str(first["input"]).strip():
        return None
    else:
        data = ErrorData(code=PARSE_ERROR, message="Parse error: no valid JSON")
    return JSONRPCError(jsonrpc="2.0", id=None, error=data)

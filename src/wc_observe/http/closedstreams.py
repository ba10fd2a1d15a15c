"""Keeps late requests out of the log: a client ended its session, or disconnected,
while another of its requests was on the way.

The SDK logs this as an error with a traceback, although nothing failed on our side.
"""

from __future__ import annotations

import logging

import anyio

_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)


class ClosedStreamFilter(logging.Filter):
    """Drops error records that are only about closed streams."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Returns whether a record is logged."""
        error = record.exc_info[1] if record.exc_info else None
        return error is None or not _is_closed_stream(error)


def _is_closed_stream(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_closed_stream, error.exceptions))
    return isinstance(error, _CLOSED)


def leave_out_closed_streams() -> None:
    """Installs the filter where the SDK logs request errors."""
    log = logging.getLogger("mcp.server.streamable_http")
    if not any(isinstance(item, ClosedStreamFilter) for item in log.filters):
        log.addFilter(ClosedStreamFilter())

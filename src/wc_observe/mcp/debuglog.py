"""``WATERCOOLER_DEBUG`` for the server: one line of JSON on standard error per request.

A failure to write a line is ignored.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

import fastmcp
from fastmcp.server.middleware import Middleware
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError

from wc_core.base.errors import WcError
from wc_core.base.phrases import shown_path
from wc_core.ledger import debugging
from wc_core.ledger.git import discovery
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.refusals import code_of
from wc_observe.mcp.roots import client_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastmcp.server.middleware import CallNext, MiddlewareContext

# Arguments that are names, numbers or keywords. Any other argument may contain text.
_SHORT_ARGUMENTS = frozenset(
    {"ball", "change_id", "cursor", "entry", "entry_id", "format", "from_entry"}
    | {"index", "limit", "offset", "open_only", "since", "stale_after", "status"}
    | {"summary_only", "to", "topic"}
)

# Requests that a store answers.
_STORE_REQUESTS = frozenset(
    {"completion/complete", "prompts/get", "resources/read", "tools/call"}
)


def write_line(line: str) -> None:
    """Writes a line to standard error, if there is one."""
    if sys.stderr is not None:  # closed by the parent process
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line)
            sys.stderr.flush()


class _LibraryLog(logging.Handler):
    """Writes the log records of libraries in the same format."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record to standard error as a line of JSON."""
        fields = {
            "level": record.levelname,
            "logger": record.name,
            "message": debugging.shown_argument(record.getMessage(), bodies=True),
        }
        if record.exc_info:
            trace = logging.Formatter().formatException(record.exc_info)
            fields["trace"] = debugging.shown_argument(trace, bodies=True)
        write_line(debugging.log_line(fields, round(record.created * 1000)))


def redirect_logging() -> None:
    """From now on, writes everything that this process logs as such lines."""
    fastmcp.settings.log_enabled = False  # it would restore its own handlers
    logging.getLogger().handlers = [_LibraryLog()]
    for name in ("fastmcp", "mcp"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True


class Journal(Middleware):
    """Logs each answered request. It must be the outermost middleware."""

    def __init__(self, mode: debugging.Mode, now_ms: Callable[[], int]) -> None:
        self._bodies = mode.bodies
        self._now_ms = now_ms

    async def on_request(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        """Passes the request on, and logs the answer or the error."""
        begun = time.perf_counter_ns()
        outcome, answer = "INTERNAL", None
        try:
            answer = await call_next(context)
            outcome = _answer_outcome(answer)
        except MCPError as error:
            outcome = _error_code(error)
            raise
        finally:
            spent = (time.perf_counter_ns() - begun) // 10_000 / 100
            fields = self._request_fields(context, answer)
            fields |= {"duration_ms": spent, "outcome": outcome}
            write_line(debugging.log_line(fields, self._now_ms()))
        return answer

    def _request_fields(
        self, context: MiddlewareContext[Any], answer: Any
    ) -> dict[str, Any]:
        own = context.fastmcp_context
        inside = own is not None and own.request_context is not None
        fields: dict[str, Any] = {
            "id": own.request_id if own is not None and inside else None,
            "action": context.method,
            "client": debugging.shown_word(client_name(own)),
            "store": _store_path() if context.method in _STORE_REQUESTS else None,
            **self._target_fields(context.message),
        }
        if self._bodies and isinstance(answer, ToolResult):
            texts = [getattr(block, "text", "") for block in answer.content]
            fields["answer"] = debugging.shown_argument("\n".join(texts), bodies=True)
        return fields

    def _target_fields(self, message: Any) -> dict[str, Any]:
        """Returns the subject of the request: the tool, prompt or address, and the
        arguments."""
        if isinstance(message, dict):  # a request that has no hook
            ref = message.get("ref")
            parts = ref if isinstance(ref, dict) else {}
        else:
            parts = {name: getattr(message, name, None) for name in ("name", "uri")}
        fields: dict[str, Any] = {}
        for name in ("name", "uri"):
            value = parts.get(name)
            if value is not None:
                fields[name] = debugging.shown_word(str(value))
        arguments: Mapping[str, Any] = getattr(message, "arguments", None) or {}
        if arguments:
            fields["arguments"] = {
                debugging.shown_word(name): self._argument_value(name, value)
                for name, value in arguments.items()
            }
        return fields

    def _argument_value(self, name: str, value: Any) -> Any:
        if name in _SHORT_ARGUMENTS:
            return debugging.shown_word(value)
        return debugging.shown_argument(value, self._bodies)


def _store_path() -> str | None:
    """Returns the store that answered the logged call."""
    call = CURRENT.get(None)
    if call is None:
        return None
    try:
        return shown_path(discovery.find(call.folder, call.env).root, call.env)
    except WcError:
        return None


def _answer_outcome(answer: Any) -> str:
    if not isinstance(answer, ToolResult) or not answer.is_error:
        return "ok"
    return code_of(answer)


def _error_code(error: MCPError) -> str:
    """Returns wc's code if it is one of wc's errors, else the protocol's number."""
    data = error.error.data
    fields = data.get("error", {}) if isinstance(data, dict) else {}
    return (
        str(fields.get("code", error.error.code)) if isinstance(fields, dict) else "?"
    )

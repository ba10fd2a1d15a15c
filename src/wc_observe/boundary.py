"""The one place where calls come in and errors go out.

Around each call it finds out who calls from where. What goes wrong leaves as
one of our codes, a sentence and a hint; never as a traceback.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from contextlib import asynccontextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from fastmcp.exceptions import FastMCPError, NotFoundError, ValidationError
from fastmcp.prompts.base import InputRequiredPromptResult
from fastmcp.resources.base import InputRequiredResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    InputRequiredResult,
    ListRootsRequest,
)
from pydantic import ValidationError as ArgumentError

from wc_core import errors
from wc_core.errors import InvalidInputError, WcError
from wc_core.text import clean
from wc_observe.calls import (
    CURRENT,
    ROOTS,
    Roots,
    RootsWanted,
    current_call,
    remote_call,
)
from wc_observe.desk import hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from typing import Any

    from fastmcp.prompts.base import PromptResult
    from fastmcp.resources.base import Resource, ResourceResult
    from fastmcp.server.context import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from mcp_types import (
        CallToolRequestParams,
        GetPromptRequestParams,
        ListResourcesRequest,
        ReadResourceRequestParams,
    )

    from wc_observe.calls import Call, Surroundings
    from wc_observe.stores import Stores

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)
_SHOWN = 60
_REPORT_SECONDS = 0.1
# Characters of a sentence in an error.
_TOLD = 1_000
_MANY = 5
_ADDRESSES = 10


class Refused(FastMCPError):  # noqa: N818  (carries an error, is none)
    """A WcError on its way through FastMCP, which logs what it does not know."""

    def __init__(self, error: WcError) -> None:
        super().__init__(error.message, log_level=logging.DEBUG)
        self.error = error


def guarded(answer: Callable[P, R]) -> Callable[P, R]:
    """The same tool or resource with its errors made ours.

    A failure nobody foresaw is told to the client in a word and to stderr,
    which clients keep, in full.
    """

    @wraps(answer)
    def told(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return answer(*args, **kwargs)
        except WcError as error:
            raise Refused(error) from error
        except Exception as error:
            _log.exception("%s failed", answer.__name__)
            raise Refused(internal(error)) from error

    # FastMCP looks for parameters in a docstring, with a parser whose import
    # takes 50 ms; models are told by the descriptions.
    told.__doc__ = None
    return told


def internal(error: Exception) -> WcError:
    """The error for a bug of ours."""
    return WcError(
        f"The server could not answer ({type(error).__name__}).",
        "The details are in its log (standard error). Try: wc doctor",
    )


class Boundary(Middleware):
    """Who calls, on the way in; our errors, on the way out."""

    def __init__(self, start: Surroundings, stores: Stores) -> None:
        self._start = start
        self._roots = Roots()
        self.stores = stores

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Answer a call of a tool; an error is a result that says so."""
        message = context.message
        # Models write null for "not given"; the schemas say it by leaving out.
        given = {k: v for k, v in (message.arguments or {}).items() if v is not None}
        context = context.copy(message=message.model_copy(update={"arguments": given}))
        try:
            await self._enter(context)
            async with self._telling(context):
                return await call_next(context)
        except RootsWanted:
            return InputRequiredToolResult(_roots_question())
        except Refused as refused:
            return _refusal(_without_folders(refused.error))
        except ValidationError as error:
            parameters = await _parameters(context, message.name)
            return _refusal(invalid(message.name, error.__cause__, parameters))
        except NotFoundError:
            return _refusal(await _unknown_tool(context, message.name))

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource; its errors are those of the protocol, with ours in
        their data."""
        try:
            await self._enter(context)
            return await call_next(context)
        except RootsWanted:
            return InputRequiredResourceResult(_roots_question())
        except Refused as refused:
            raise as_protocol(refused.error) from refused
        except NotFoundError as error:
            told = await _unknown_resource(context, str(context.message.uri))
            raise as_protocol(told) from error

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Make the messages of a prompt; errors are as for a resource."""
        try:
            await _check_prompt(context)
            await self._enter(context)
            return await call_next(context)
        except RootsWanted:
            return InputRequiredPromptResult(_roots_question())
        except Refused as refused:
            raise as_protocol(refused.error) from refused

    async def on_request(
        self,
        context: MiddlewareContext[Any],
        call_next: CallNext[Any, Any],
    ) -> Any:
        """Complete an argument: the one request with a hook of no other name."""
        own = context.fastmcp_context
        if context.method != "completion/complete" or own is None:
            return await call_next(context)
        CURRENT.set(await self.call_of(own))
        try:
            return await call_next(context)
        except Refused as refused:
            raise as_protocol(refused.error) from refused

    async def on_list_resources(
        self,
        context: MiddlewareContext[ListResourcesRequest],
        call_next: CallNext[ListResourcesRequest, Sequence[Resource]],
    ) -> Sequence[Resource]:
        """List resources; those of the caller's store are among them."""
        own = context.fastmcp_context
        if own is not None:
            CURRENT.set(await self.call_of(own))
        return await call_next(context)

    async def call_of(self, own: Context) -> Call:
        """Who calls, for requests that the client's roots cannot be asked for."""
        if self._start.served_as:
            return remote_call(own, self._start, self.stores)
        roots = await self._roots.known(own)
        return current_call(own, roots, self._start, self.stores)

    @asynccontextmanager
    async def _telling(self, context: MiddlewareContext[Any]) -> AsyncIterator[None]:
        """Report progress, to a client that asked for it, of what takes long."""
        own = context.fastmcp_context
        if own is None or own.request_context is None:
            yield
            return
        reporting = asyncio.create_task(self._report(own))
        try:
            yield
        finally:
            reporting.cancel()

    async def _report(self, own: Context) -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            progress = self.stores.progress
            if progress is not None:
                done, total, what = progress
                told = f"{done} of {total} {what}"
                await own.report_progress(done, total, told)

    async def _enter(self, context: MiddlewareContext[Any]) -> None:
        own = context.fastmcp_context
        if self._start.served_as:
            CURRENT.set(remote_call(own, self._start, self.stores))
            return
        roots = await self._roots.of(own) if own is not None else []
        CURRENT.set(current_call(own, roots, self._start, self.stores))


def _without_folders(error: WcError) -> WcError:
    """The error as its caller may see it."""
    call = CURRENT.get(None)
    if call is None:
        return error
    told = copy.copy(error)
    told.message, told.hint = (hidden(text, call) for text in (told.message, told.hint))
    return told


def _roots_question() -> InputRequiredResult:
    return InputRequiredResult(input_requests={ROOTS: ListRootsRequest()})


async def _check_prompt(context: MiddlewareContext[GetPromptRequestParams]) -> None:
    """Raise Refused for a prompt that is not there and for arguments that it
    does not take: the framework would pass over them."""
    own, message = context.fastmcp_context, context.message
    if own is None:
        return
    prompt = await own.fastmcp.get_prompt(message.name)
    if prompt is None:
        prompts = await own.fastmcp.list_prompts(run_middleware=False)
        names = ", ".join(sorted(one.name for one in prompts))
        problem = f"There is no prompt {_short(message.name)}."
        raise Refused(errors.NotFoundError(problem, f"There are: {names}"))
    taken = prompt.arguments or []
    given = message.arguments or {}
    unknown = set(given) - {one.name for one in taken}
    wrong = [f"there is no argument {_short(one)}" for one in sorted(unknown)]
    wrong += [
        f"{one.name} is required"
        for one in taken
        if one.required and one.name not in given
    ]
    if wrong:
        names = ", ".join(one.name for one in taken)
        hint = f"{message.name} takes: {names}"
        raise Refused(InvalidInputError("; ".join(wrong[:_MANY]), hint))


def as_fields(error: WcError) -> dict[str, Any]:
    """The error as JSON, the same for ``wc … --json``; what repeats a very long
    argument is cut in its middle."""
    told = {"code": error.code, "message": error.message, "hint": error.hint}
    return {"error": {key: _bounded(value) for key, value in told.items()}}


def as_protocol(error: WcError) -> MCPError:
    """The error where the protocol has no results that are errors."""
    error = _without_folders(error)
    code = INTERNAL_ERROR if type(error) is WcError else INVALID_PARAMS
    return MCPError(code, as_text(error), as_fields(error))


def as_text(error: WcError) -> str:
    """The error as ``CODE: message`` and, on a line of its own, the hint."""
    lines = f"{error.code}: {_bounded(error.message)}\n{_bounded(error.hint)}"
    return lines.rstrip()


def _bounded(text: str) -> str:
    if len(text) > _TOLD:
        text = f"{text[: _TOLD // 2]} … {text[-_TOLD // 2 :]}"
    return clean(text)


def _refusal(error: WcError) -> ToolResult:
    # Short enough to say in both forms: a client forwards the one or the other.
    return ToolResult(
        as_text(error), structured_content=as_fields(error), is_error=True
    )


async def _parameters(
    context: MiddlewareContext[Any], name: str
) -> Mapping[str, Mapping[str, Any]]:
    own = context.fastmcp_context
    tool = await own.fastmcp.get_tool(name) if own is not None else None
    return tool.parameters.get("properties", {}) if tool is not None else {}


async def _unknown_tool(context: MiddlewareContext[Any], name: str) -> WcError:
    own = context.fastmcp_context
    tools = await own.fastmcp.list_tools(run_middleware=False) if own else []
    names = ", ".join(sorted(tool.name for tool in tools))
    return errors.NotFoundError(f"There is no tool {name!r}.", f"There are: {names}")


async def _unknown_resource(context: MiddlewareContext[Any], uri: str) -> WcError:
    own = context.fastmcp_context
    found: list[str] = []
    if own is not None:
        templates = await own.fastmcp.list_resource_templates(run_middleware=False)
        found = [one.uri_template for one in templates]
        resources = await own.fastmcp.list_resources(run_middleware=False)
        found += [str(one.uri) for one in resources]
    names = ", ".join(sorted(found)[:_ADDRESSES])
    problem = f"There is no resource {_short(uri)}."
    return errors.NotFoundError(problem, f"There are: {names}")


def invalid(
    tool: str, cause: object, parameters: Mapping[str, Mapping[str, Any]]
) -> InvalidInputError:
    """The error for arguments that do not fit, with what is allowed."""
    if not isinstance(cause, ArgumentError):
        return InvalidInputError(f"The arguments of {tool} do not fit.")
    wrong: dict[str, str] = {}
    for one in cause.errors(include_url=False):
        name = str(one["loc"][0]) if one["loc"] else "arguments"
        wrong.setdefault(name, _problem(name, dict(one)))
    allowed = [
        f"{name}: {allowed_values(parameters[name])}"
        for name in wrong
        if name in parameters
    ]
    if len(allowed) < len(wrong):
        allowed.append(f"{tool} takes: {', '.join(parameters) or 'no arguments'}")
    return InvalidInputError("; ".join(wrong.values()), ". ".join(allowed))


def _problem(name: str, one: Mapping[str, Any]) -> str:
    if one["type"] == "unexpected_keyword_argument":
        return f"there is no argument {_short(name)}"
    if one["type"].startswith("missing"):
        return f"{name} is required"
    return f"{name} cannot be {_short(one['input'])}"


def _short(value: object) -> str:
    """A value as it was given, or its beginning."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def allowed_values(schema: Mapping[str, Any]) -> str:
    """What a parameter may be, in words, from its JSON schema."""
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return allowed_values(option)
    if "enum" in schema:
        return "one of " + ", ".join(f'"{one}"' for one in schema["enum"])
    kind = schema.get("type", "a value")
    words = {"integer": "a whole number", "boolean": "true or false", "string": "text"}
    text = str(words.get(kind, kind))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{text} from {low} to {high}"
    if low is not None:
        return f"{text}, at least {low}"
    return text

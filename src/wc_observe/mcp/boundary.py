"""The one place where calls come in and errors go out.

Around each call it finds out who calls from where. What goes wrong leaves as
one of our codes, a sentence and a hint; never as a traceback.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import NotFoundError, ValidationError
from fastmcp.prompts.base import InputRequiredPromptResult
from fastmcp.resources.base import InputRequiredResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp_types import (
    InputRequiredResult,
    ListRootsRequest,
)

from wc_core import errors
from wc_core.errors import InvalidInputError, WcError
from wc_observe.calls import CURRENT
from wc_observe.mcp.refusals import Refused, as_protocol, invalid, refusal, short
from wc_observe.mcp.roots import ROOTS, Roots, RootsWanted, current_call, remote_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

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

    from wc_observe.calls import Call, ServerContext
    from wc_observe.live.stores import Stores

_REPORT_SECONDS = 0.1
_MANY = 5
_ADDRESSES = 10


class Boundary(Middleware):
    """Who calls, on the way in; our errors, on the way out."""

    def __init__(self, start: ServerContext, stores: Stores) -> None:
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
            return refusal(refused.error)
        except ValidationError as error:
            parameters = await _parameters(context, message.name)
            return refusal(invalid(message.name, error.__cause__, parameters))
        except NotFoundError:
            return refusal(await _unknown_tool(context, message.name))

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource; its errors are those of the protocol, with ours in
        their data."""
        address = str(context.message.uri)
        try:
            await self._enter(context)
            return await call_next(context)
        except RootsWanted:
            return InputRequiredResourceResult(_roots_question())
        except Refused as refused:
            raise as_protocol(refused.error, address) from refused
        except NotFoundError as error:
            told = await _unknown_resource(context, address)
            raise as_protocol(told, address) from error

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
        problem = f"There is no prompt {short(message.name)}."
        raise Refused(errors.NotFoundError(problem, f"There are: {names}"))
    taken = prompt.arguments or []
    given = message.arguments or {}
    unknown = set(given) - {one.name for one in taken}
    wrong = [f"there is no argument {short(one)}" for one in sorted(unknown)]
    wrong += [
        f"{one.name} is required"
        for one in taken
        if one.required and one.name not in given
    ]
    if wrong:
        names = ", ".join(one.name for one in taken)
        hint = f"{message.name} takes: {names}"
        raise Refused(InvalidInputError("; ".join(wrong[:_MANY]), hint))


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
    problem = f"There is no resource {short(uri)}."
    return errors.NotFoundError(problem, f"There are: {names}")

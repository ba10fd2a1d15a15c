"""Where requests come in and errors go out.

Determines who makes each call, and from which folder. An error leaves as one of wc's
codes with a message and a hint, never as a traceback.
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

from wc_core.base import errors
from wc_core.base.errors import InvalidInputError, WcError
from wc_observe.callers.calls import CURRENT
from wc_observe.mcp.refusals import (
    RefusedCallError,
    as_protocol,
    error_result,
    invalid_arguments,
    short_repr,
    unknown_tool,
)
from wc_observe.mcp.roots import (
    ROOTS,
    Roots,
    RootsNeededError,
    current_call,
    remote_call,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from fastmcp.prompts.base import PromptArgument, PromptResult
    from fastmcp.resources.base import Resource, ResourceResult
    from fastmcp.server.context import Context
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from mcp_types import (
        CallToolRequestParams,
        GetPromptRequestParams,
        ListResourcesRequest,
        ReadResourceRequestParams,
    )

    from wc_observe.callers.calls import Call, Progress, ServerContext

_REPORT_SECONDS = 0.1
_MOST_PROBLEMS = 5
_MOST_ADDRESSES = 10


class Boundary(Middleware):
    """Determines the caller of each request, and turns errors into answers."""

    def __init__(self, start: ServerContext) -> None:
        self._start = start
        self._roots = Roots()

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Answers a tool call. An error becomes a result that is marked as an error."""
        message = context.message
        # Models write null for arguments they leave out, which the schemas do not
        # allow.
        arguments = {
            k: v for k, v in (message.arguments or {}).items() if v is not None
        }
        context = context.copy(
            message=message.model_copy(update={"arguments": arguments})
        )
        try:
            await self._set_call(context)
            async with self._reporting_progress(context):
                return await call_next(context)
        except RootsNeededError:
            return InputRequiredToolResult(_roots_question())
        except RefusedCallError as refused:
            return error_result(refused.error)
        except ValidationError as error:
            parameters = await _tool_parameters(context, message.name)
            return error_result(
                invalid_arguments(message.name, error.__cause__, parameters)
            )
        except NotFoundError:
            return error_result(await _unknown_tool(context, message.name))

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Reads a resource. Errors are those of the protocol, with wc's error in their
        data."""
        address = str(context.message.uri)
        try:
            await self._set_call(context)
            return await call_next(context)
        except RootsNeededError:
            return InputRequiredResourceResult(_roots_question())
        except RefusedCallError as refused:
            raise as_protocol(refused.error, address) from refused
        except NotFoundError as error:
            unknown = await _unknown_resource(context, address)
            raise as_protocol(unknown, address) from error

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Returns the messages of a prompt. Errors are as for a resource."""
        try:
            await _check_prompt(context)
            await self._set_call(context)
            return await call_next(context)
        except RootsNeededError:
            return InputRequiredPromptResult(_roots_question())
        except RefusedCallError as refused:
            raise as_protocol(refused.error) from refused

    async def on_request(
        self,
        context: MiddlewareContext[Any],
        call_next: CallNext[Any, Any],
    ) -> Any:
        """Completes an argument. FastMCP has no hook for this request."""
        own = context.fastmcp_context
        if context.method != "completion/complete" or own is None:
            return await call_next(context)
        CURRENT.set(await self.call_of(own))
        try:
            return await call_next(context)
        except RefusedCallError as refused:
            raise as_protocol(refused.error) from refused

    async def on_list_resources(
        self,
        context: MiddlewareContext[ListResourcesRequest],
        call_next: CallNext[ListResourcesRequest, Sequence[Resource]],
    ) -> Sequence[Resource]:
        """Lists resources, including the threads in the caller's store."""
        own = context.fastmcp_context
        if own is not None:
            CURRENT.set(await self.call_of(own))
        return await call_next(context)

    async def call_of(self, own: Context) -> Call:
        """Returns the call for a request during which the client cannot be asked for
        its roots."""
        if self._start.store_name:
            return remote_call(own, self._start)
        roots = await self._roots.fetch_or_recall(own)
        return current_call(own, roots, self._start)

    @asynccontextmanager
    async def _reporting_progress(
        self, context: MiddlewareContext[Any]
    ) -> AsyncIterator[None]:
        """Reports progress during a long call, if the client asked for it."""
        own = context.fastmcp_context
        if own is None or own.request_context is None:
            yield
            return
        reporting = asyncio.create_task(_report_progress(own, CURRENT.get().progress))
        try:
            yield
        finally:
            reporting.cancel()

    async def _set_call(self, context: MiddlewareContext[Any]) -> None:
        own = context.fastmcp_context
        if self._start.store_name:
            CURRENT.set(remote_call(own, self._start))
            return
        roots = await self._roots.fetch(own) if own is not None else []
        CURRENT.set(current_call(own, roots, self._start))


async def _report_progress(own: Context, progress: Progress) -> None:
    reported = 0
    while True:
        await asyncio.sleep(_REPORT_SECONDS)
        done, total = progress.done, progress.total
        if reported < done < total:
            reported = done
            message = f"{done} of {total} threads read"
            await own.report_progress(done, total, message)


def _roots_question() -> InputRequiredResult:
    return InputRequiredResult(input_requests={ROOTS: ListRootsRequest()})


async def _check_prompt(context: MiddlewareContext[GetPromptRequestParams]) -> None:
    """Raises RefusedError for an unknown prompt or argument; the framework would ignore
    such an argument."""
    own, message = context.fastmcp_context, context.message
    if own is None:
        return
    prompt = await own.fastmcp.get_prompt(message.name)
    if prompt is None:
        prompts = await own.fastmcp.list_prompts(run_middleware=False)
        names = ", ".join(sorted(prompt.name for prompt in prompts))
        problem = f"There is no prompt {short_repr(message.name)}."
        raise RefusedCallError(errors.NotFoundError(problem, f"There are: {names}"))
    parameters = prompt.arguments or []
    problems = _argument_problems(parameters, message.arguments or {})
    if problems:
        names = ", ".join(parameter.name for parameter in parameters)
        hint = f"{message.name} takes: {names}"
        raise RefusedCallError(
            InvalidInputError("; ".join(problems[:_MOST_PROBLEMS]), hint)
        )


def _argument_problems(
    parameters: Sequence[PromptArgument], arguments: Mapping[str, str]
) -> list[str]:
    """Returns what is wrong with the arguments of a prompt, unknown ones first."""
    unknown = set(arguments) - {parameter.name for parameter in parameters}
    return [
        *(f"there is no argument {short_repr(name)}" for name in sorted(unknown)),
        *(
            f"{parameter.name} is required"
            for parameter in parameters
            if parameter.required and parameter.name not in arguments
        ),
    ]


async def _unknown_tool(context: MiddlewareContext[Any], name: str) -> WcError:
    own = context.fastmcp_context
    tools = await own.fastmcp.list_tools(run_middleware=False) if own else []
    return unknown_tool(name, [tool.name for tool in tools])


async def _tool_parameters(
    context: MiddlewareContext[Any], name: str
) -> Mapping[str, Mapping[str, Any]]:
    own = context.fastmcp_context
    tool = await own.fastmcp.get_tool(name) if own is not None else None
    return tool.parameters.get("properties", {}) if tool is not None else {}


async def _unknown_resource(context: MiddlewareContext[Any], uri: str) -> WcError:
    own = context.fastmcp_context
    addresses: list[str] = []
    if own is not None:
        templates = await own.fastmcp.list_resource_templates(run_middleware=False)
        addresses = [template.uri_template for template in templates]
        resources = await own.fastmcp.list_resources(run_middleware=False)
        addresses += [str(resource.uri) for resource in resources]
    names = ", ".join(sorted(addresses)[:_MOST_ADDRESSES])
    problem = f"There is no resource {short_repr(uri)}."
    return errors.NotFoundError(problem, f"There are: {names}")

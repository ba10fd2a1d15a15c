"""Errors as clients get them: a code, a message and a hint."""

from __future__ import annotations

import copy
import inspect
import logging
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from fastmcp.exceptions import FastMCPError
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError as ArgumentError

from wc_core.base.errors import InvalidInputError, NotFoundError, WcError
from wc_core.base.text import clean, defused
from wc_core.base.toolnames import INSTEAD, PREFIX
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.clients import gets_structured
from wc_observe.callers.open_store import without_folders
from wc_observe.mcp.forms import IN_STRUCTURED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)
# The most characters of a message, and of a value in it.
_MESSAGE_WIDTH = 1_000
_VALUE_WIDTH = 60


class RefusedCallError(FastMCPError):
    """Carries a WcError through FastMCP, which logs any error that it does not know."""

    def __init__(self, error: WcError) -> None:
        super().__init__(error.message, log_level=logging.DEBUG)
        self.error = error


def guarded(answer: Callable[P, R]) -> Callable[P, R]:
    """Returns the same function with every error turned into RefusedCallError.

    The client gets only the type of an unexpected error; the rest goes to standard
    error, which clients keep.
    """

    @wraps(answer)
    def guarded_answer(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return answer(*args, **kwargs)
        except WcError as error:
            raise RefusedCallError(error) from error
        except Exception as error:
            _log.exception("%s failed", answer.__name__)
            raise RefusedCallError(internal_error(error)) from error

    # FastMCP looks for parameters in a docstring, with a parser whose import takes
    # 50 ms; models get the descriptions instead.
    guarded_answer.__doc__ = None
    return guarded_answer


def internal_error(error: Exception) -> WcError:
    """Returns the error for a bug in wc."""
    return WcError(
        f"The server could not answer ({type(error).__name__}).",
        "The details are in its log (standard error). Try: wc doctor",
    )


def _without_folders(error: WcError) -> WcError:
    """Returns the error as the caller may see it."""
    call = CURRENT.get(None)
    if call is None:
        return error
    visible = copy.copy(error)
    visible.message, visible.hint = (
        without_folders(text, call) for text in (visible.message, visible.hint)
    )
    return visible


def as_fields(error: WcError) -> dict[str, Any]:
    """Returns the error as JSON, as ``wc … --json`` prints it. A message that repeats a
    very long argument is shortened in the middle."""
    fields = {"code": error.code, "message": error.message, "hint": error.hint}
    return {"error": {key: _shortened(value) for key, value in fields.items()}}


def as_protocol(error: WcError, address: str = "") -> MCPError:
    """Returns the error as a protocol error, because the results of these requests
    cannot be errors. The error of a resource includes its address, as SEP-2164
    specifies."""
    error = _without_folders(error)
    code = INTERNAL_ERROR if type(error) is WcError else INVALID_PARAMS
    about = {"uri": _shortened(address)} if address else {}
    return MCPError(code, as_text(error), as_fields(error) | about)


def as_text(error: WcError) -> str:
    """Returns the error as ``CODE: message``, with the hint on its own line."""
    lines = f"{error.code}: {_shortened(error.message)}\n{_shortened(error.hint)}"
    return lines.rstrip()


def _shortened(text: str) -> str:
    if len(text) > _MESSAGE_WIDTH:
        text = f"{text[: _MESSAGE_WIDTH // 2]} … {text[-_MESSAGE_WIDTH // 2 :]}"
    return defused(clean(text))


def error_result(error: WcError) -> ToolResult:
    """Returns the error as the result of a tool."""
    error, call = _without_folders(error), CURRENT.get(None)
    if call is not None and gets_structured(call.client, error=True):
        fields = as_fields(error)
        return ToolResult(IN_STRUCTURED, structured_content=fields, is_error=True)
    return ToolResult(as_text(error), is_error=True)


def code_of(result: ToolResult) -> str:
    """Returns the code of an error that became the result of a tool."""
    if result.structured_content is not None:
        return str(result.structured_content["error"]["code"])
    text: str = getattr(result.content[0], "text", "")
    return text.partition(":")[0]


def unknown_tool(name: str, tools: Iterable[str]) -> WcError:
    """Returns the error for a name that none of the ``tools`` has. It says what does
    the same, or lists them."""
    short = name.removeprefix(PREFIX)
    instead = INSTEAD.get(short, "")
    if PREFIX + short in tools:
        hint = f"Call {PREFIX}{short}."
    elif instead.startswith("wc "):
        hint = f"This server only reads. In a shell: {instead}"
    elif instead:
        hint = f"Call {PREFIX}{instead}."
    else:
        hint = f"There are: {', '.join(sorted(tools))}"
    return NotFoundError(f"There is no tool {short_repr(name)}.", hint)


def invalid_arguments(
    tool: str, cause: object, parameters: Mapping[str, Mapping[str, Any]]
) -> InvalidInputError:
    """Returns the error for invalid arguments. It lists what is allowed."""
    if not isinstance(cause, ArgumentError):
        return InvalidInputError(f"The arguments of {tool} are invalid.")
    problems: dict[str, str] = {}
    for detail in cause.errors(include_url=False):
        name = str(detail["loc"][0]) if detail["loc"] else "arguments"
        problems.setdefault(name, _argument_problem(name, dict(detail)))
    allowed = [
        f"{name}: {allowed_values(parameters[name])}"
        for name in problems
        if name in parameters
    ]
    if len(allowed) < len(problems):
        allowed.append(f"{tool} takes: {', '.join(parameters) or 'no arguments'}")
    return InvalidInputError("; ".join(problems.values()), ". ".join(allowed))


def given_arguments(
    tool: Callable[..., object], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the arguments of a tool that differ from their defaults."""
    defaults = inspect.signature(tool).parameters
    return {
        name: value
        for name, value in arguments.items()
        if value != defaults[name].default
    }


def require_only(arguments: Iterable[str], form: str, *names: str) -> None:
    """Raises InvalidInputError if there are other ``arguments`` than the ``names`` that
    this ``form`` of a call takes, and the format."""
    allowed = (*names, "format")
    refused = [name for name in arguments if name not in allowed]
    if refused:
        raise InvalidInputError(
            f"{form} does not take {' or '.join(refused)}.",
            f"It takes: {', '.join(allowed)}",
        )


def _argument_problem(name: str, detail: Mapping[str, Any]) -> str:
    if detail["type"] == "unexpected_keyword_argument":
        return f"there is no argument {short_repr(name)}"
    if detail["type"].startswith("missing"):
        return f"{name} is required"
    return f"{name} cannot be {short_repr(detail['input'])}"


def short_repr(value: object) -> str:
    """Returns the ``repr`` of a value, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _VALUE_WIDTH else f"{text[:_VALUE_WIDTH]}…"


def allowed_values(schema: Mapping[str, Any]) -> str:
    """Describes the allowed values of a parameter, from its JSON schema."""
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return allowed_values(option)
    if "enum" in schema:
        return "one of " + ", ".join(f'"{value}"' for value in schema["enum"])
    kind = schema.get("type", "a value")
    words = {"integer": "a whole number", "boolean": "true or false", "string": "text"}
    text = str(words.get(kind, kind))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{text} from {low} to {high}"
    if low is not None:
        return f"{text}, at least {low}"
    return text

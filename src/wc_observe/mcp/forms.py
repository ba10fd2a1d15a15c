"""Which part of an answer reaches a client's model: its text, its structured content,
or both.

A client that forwards one part loses what is only in the other; a client that forwards
both pays twice for what is in both. `clients` knows what each client does; for JSON,
the user can override it.

The repository's guidance for callers comes once, in the part that has everything else.
"""

from __future__ import annotations

import inspect
import json
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from fastmcp.tools.base import ToolResult

from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.toolnames import OCCASIONS, occasion_of
from wc_core.ledger.guidance import for_occasion
from wc_core.reading.views.budget.tokens import CALLS, Budget
from wc_observe.answers import jsontext
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.clients import BOTH, TEXT, shown_part
from wc_observe.callers.open_store import root_of_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.ledger.guidance import Guidance
    from wc_observe.callers.calls import Call

P = ParamSpec("P")


def is_json_in_text(call: Call) -> bool:
    """Returns whether an answer in JSON is also in the text. A client that forwards
    both parts never gets it twice."""
    part = shown_part(call.client)
    chosen = jsontext.configured(call.env)
    return part != BOTH and (part == TEXT if chosen is None else chosen)


def markdown_result(text: str) -> ToolResult:
    """Returns an answer in markdown, which is only text."""
    return ToolResult(text)


def json_result(fields: dict[str, Any], count: int, name: str) -> ToolResult:
    """Returns an answer in JSON: as structured content, and in the text either again or
    as a line that says where it is."""
    if is_json_in_text(CURRENT.get()):
        text = _json_text(fields)
    else:
        text = f'{name}: {count}, in the structured content; as text: format="markdown"'
    return ToolResult(text, structured_content=fields)


def budget_of(tokens: int, tool: str, *, in_json: bool) -> Budget:
    """Returns the token budget of a tool's answer, after subtracting its guidance."""
    guidance = _guidance(OCCASIONS[tool])
    if guidance is None:
        return Budget(tokens, calls=CALLS)
    if in_json:
        reserved = len(_json_text({"guidance": [guidance.to_json()]}))
    else:
        reserved = len(guidance.text(indent="")) + 1
    return Budget(tokens, reserved, CALLS)


def guided(answer: Callable[P, ToolResult]) -> Callable[P, ToolResult]:
    """Returns the function of a tool that adds guidance to its answer."""
    tool = answer.__name__
    if tool not in OCCASIONS:
        return answer
    has_format = "format" in inspect.signature(answer).parameters

    @wraps(answer)
    def guided_answer(*args: P.args, **kwargs: P.kwargs) -> ToolResult:
        result = answer(*args, **kwargs)
        guidance = _guidance(occasion_of(tool, kwargs))
        if guidance is None:
            return result
        return _with_guidance(result, guidance, has_format=has_format)

    return guided_answer


def _guidance(occasion: str) -> Guidance | None:
    call = CURRENT.get()
    try:
        root = root_of_request(call)
    except WcError:
        return None  # without a store; the tools report what is wrong
    return for_occasion(Layout(root), occasion)


def _with_guidance(
    result: ToolResult, guidance: Guidance, *, has_format: bool
) -> ToolResult:
    call, fields = CURRENT.get(), result.structured_content
    text = "".join(getattr(block, "text", "") for block in result.content)
    marked = f"{text.rstrip()}\n{guidance.text(indent='')}\n"
    if fields is None:
        return ToolResult(marked)
    guided_fields = {**fields, "guidance": [guidance.to_json()]}
    if not has_format:
        # The same facts in both parts, unless the client forwards both.
        kept = fields if shown_part(call.client) == BOTH else guided_fields
        return ToolResult(marked, structured_content=kept)
    if is_json_in_text(call):
        text = _json_text(guided_fields)
    return ToolResult(text, structured_content=guided_fields)


def _json_text(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

"""In which form an answer leaves: as text or as structured content, never as both.

A client that forwards one part loses what is only in the other; a client that forwards
both pays twice for what is in both. `clients` knows which clients get structured
content.

The repository's guidance for callers comes once, in the part that has everything else.
"""

from __future__ import annotations

import json
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from fastmcp.tools.base import ToolResult

from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.toolnames import OCCASIONS, occasion_of
from wc_core.ledger.guidance import for_occasion
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.clients import gets_structured
from wc_observe.callers.open_store import root_of_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.ledger.guidance import Guidance

P = ParamSpec("P")

# The text beside structured content: a result must have some.
IN_STRUCTURED = "See the structured content."


def markdown_result(text: str) -> ToolResult:
    """Returns an answer in markdown, which is only text."""
    return ToolResult(text)


def json_result(fields: dict[str, Any]) -> ToolResult:
    """Returns an answer in JSON: as structured content, or as text."""
    return short_result(json_text(fields), fields)


def short_result(text: str, fields: dict[str, Any]) -> ToolResult:
    """Returns the answer of a tool without a format: the fields as structured content,
    or the same facts as text."""
    if gets_structured(CURRENT.get().client):
        return ToolResult(IN_STRUCTURED, structured_content=fields)
    return ToolResult(text)


def guided(answer: Callable[P, ToolResult]) -> Callable[P, ToolResult]:
    """Returns the function of a tool that adds guidance to its answer."""
    tool = answer.__name__
    if tool not in OCCASIONS:
        return answer

    @wraps(answer)
    def guided_answer(*args: P.args, **kwargs: P.kwargs) -> ToolResult:
        result = answer(*args, **kwargs)
        guidance = _guidance(occasion_of(tool, kwargs))
        if guidance is None:
            return result
        return _with_guidance(result, guidance, str(kwargs.get("format", "")))

    return guided_answer


def _guidance(occasion: str) -> Guidance | None:
    call = CURRENT.get()
    try:
        root = root_of_request(call)
    except WcError:
        return None  # without a store; the tools report what is wrong
    return for_occasion(Layout(root), occasion)


def _with_guidance(result: ToolResult, guidance: Guidance, form: str) -> ToolResult:
    fields = result.structured_content
    if fields is not None:
        return short_result("", fields | {"guidance": [guidance.to_json()]})
    text = "".join(getattr(block, "text", "") for block in result.content)
    if form == "json":
        fields = json.loads(text) | {"guidance": [guidance.to_json()]}
        return ToolResult(json_text(fields))
    return ToolResult(f"{text.rstrip()}\n{guidance.text(indent='')}\n")


def json_text(fields: dict[str, Any]) -> str:
    """Returns the fields as one line of JSON."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

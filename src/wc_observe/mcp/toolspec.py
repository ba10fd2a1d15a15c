"""What a tool is made of: a function that answers, and what models are told.

An answer is either text or structured content, never the same payload in
both, because clients put both into the model's context or forward only one:

* ``format="markdown"`` is text alone;
* ``format="json"`` is structured content, with one line of text that says
  where the data is, for a client that shows only text;
* what has no format is short, and the text has the same facts as the
  structured content, so that it does not matter which one is forwarded.

Only the last kind declares an output schema: a tool that does must return
structured content each time, and clients refuse an answer without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastmcp.tools.base import Tool, ToolResult
from mcp_types import ToolAnnotations

from wc_observe.mcp.refusals import guarded

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "watercooler_v1_"


class Offer(NamedTuple):
    """What answers, what models are told it does, what its structured
    content looks like where there always is one."""

    answer: Callable[..., ToolResult]
    description: str
    output_schema: dict[str, Any] | None = None


def as_tool(offer: Offer) -> Tool:
    """The tool, named after its function, with its errors made ours."""
    return Tool.from_function(
        guarded(offer.answer),
        name=PREFIX + offer.answer.__name__.rstrip("_"),
        description=offer.description,
        output_schema=offer.output_schema,
        # Entries come from other people through git: an open world.
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=True
        ),
    )


def structured(fields: dict[str, Any], count: int, what: str) -> ToolResult:
    """An answer of structured content, with a line that says where it is."""
    line = f'{what}: {count}, in the structured content; as text: format="markdown"'
    return ToolResult(line, structured_content=fields)

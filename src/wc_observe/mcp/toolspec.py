"""What a tool consists of: a function that answers, and a description for models.

An answer is either text or structured content, never the same payload in both, because
clients put both into the model's context or forward only one (see `forms`):

* ``format="markdown"`` is text;
* ``format="json"`` is structured content, and text as well for a client that shows only
  text;
* a tool without a format has a short answer, whose text has the same facts as
  the structured content, so that it does not matter which one is forwarded.

A tool that declares an output schema must return structured content each time, and
clients refuse an answer without it. So a tool with a format declares its schema only to
clients that can have both parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.tools.base import Tool, ToolResult
from mcp_types import ToolAnnotations

from wc_core.toolnames import PREFIX
from wc_core.values import NamedTuple
from wc_observe.mcp.forms import guided
from wc_observe.mcp.refusals import guarded

if TYPE_CHECKING:
    from collections.abc import Callable


class ToolSpec(NamedTuple):
    """The function that answers, the description for models, and the schema of the
    structured content, if any."""

    answer: Callable[..., ToolResult]
    description: str
    output_schema: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """The tool's name without its prefix: that of its function."""
        return self.answer.__name__

    @property
    def title(self) -> str:
        """The tool's name for people, such as "Read thread"."""
        return self.name.replace("_", " ").capitalize()


def as_tool(spec: ToolSpec) -> Tool:
    """Returns the tool, named after its function, with its errors turned into wc's."""
    return Tool.from_function(
        guarded(guided(spec.answer)),
        name=PREFIX + spec.name,
        title=spec.title,
        description=spec.description,
        output_schema=spec.output_schema,
        # Entries come from other people through git, so the world is open.
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=True
        ),
    )

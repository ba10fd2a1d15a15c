"""What a tool consists of: a function that answers, and a description for models.

An answer is either text or structured content, never both, because clients put both
into the model's context or forward only one (see `forms`):

* ``format="markdown"`` is text;
* ``format="json"``, the short answer of a tool without a format, and an error are
  structured content for clients that are known to show it, and text for all others.

No tool declares an output schema: no client shows it to its model, and a tool that has
one must return structured content with each answer, also with one in markdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.tools import FunctionTool
from mcp_types import ToolAnnotations

from wc_core.base.toolnames import PREFIX
from wc_core.base.values import NamedTuple
from wc_observe.mcp.forms import guided
from wc_observe.mcp.refusals import guarded

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastmcp.tools.base import ToolResult
    from mcp_types import Tool as ListedTool


# Titles that differ from the name.
_TITLES = {"whoami": "Who am I"}


class ToolSpec(NamedTuple):
    """The function that answers, and the description for models."""

    answer: Callable[..., ToolResult]
    description: str

    @property
    def name(self) -> str:
        """The tool's name without its prefix: that of its function."""
        return self.answer.__name__

    @property
    def title(self) -> str:
        """The tool's name for people, such as "Read thread"."""
        return _TITLES.get(self.name) or self.name.replace("_", " ").capitalize()


class ShortTool(FunctionTool):
    """A tool that is listed without what says nothing to a model."""

    def to_mcp_tool(self, **overrides: Any) -> ListedTool:
        """Returns the tool as clients list it, without the framework's own data."""
        short = {"_meta": None, "inputSchema": _short_schema(self.parameters)}
        return super().to_mcp_tool(**{**short, **overrides})


def as_tool(spec: ToolSpec) -> FunctionTool:
    """Returns the tool, named after its function, with its errors turned into wc's."""
    return ShortTool.from_function(
        guarded(guided(spec.answer)),
        name=PREFIX + spec.name,
        title=spec.title,
        description=spec.description,
        output_schema=None,
        # A tool that only reads can be repeated. That the world is open, because
        # entries come from other people through git, is the protocol's default.
        annotations=ToolAnnotations(read_only_hint=True),
    )


def _short_schema(parameters: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of a tool's parameters without what a model need not know:
    that others are refused, defaults that mean "not given" or are the first value of a
    list, and that numbers are not negative. An error message still says all of it."""
    properties = {
        name: {k: v for k, v in schema.items() if not _says_nothing(k, schema)}
        for name, schema in parameters["properties"].items()
    }
    kept = {k: v for k, v in parameters.items() if k != "additionalProperties"}
    return {**kept, "properties": properties}


def _says_nothing(key: str, schema: dict[str, Any]) -> bool:
    value = schema[key]
    if key == "default":
        return not value or value == schema.get("enum", [None])[0]
    return key == "minimum" and value in {0, 1}

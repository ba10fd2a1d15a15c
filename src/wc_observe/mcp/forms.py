"""Which part of an answer reaches a client's model: its text, its structured content,
or both.

A client that shows one part would miss what is in the other; one that shows both would
pay twice for what is in both. The protocol has no way to ask, so it goes by the name
that the client gives itself, and a user can say otherwise about JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastmcp.tools.base import ToolResult

from wc_core.names import SPELLINGS, fold
from wc_observe.answers import jsontext
from wc_observe.calls import CURRENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_observe.calls import Call

TEXT, STRUCTURED, BOTH, UNKNOWN = "text", "structured", "both", "unknown"

# What was seen in requests to a model, or in the client's source.
_SHOWN: Mapping[str, str] = {
    "Claude Code": STRUCTURED,  # 2.1.330; anthropics/claude-code#79944
    "Codex": STRUCTURED,  # 0.169
    "Cursor": STRUCTURED,  # modelcontextprotocol/modelcontextprotocol#1411
    "VS Code": STRUCTURED,  # mcpLanguageModelToolContribution.ts
    "Gemini CLI": TEXT,  # 0.61
    "Qwen Code": TEXT,  # made of Gemini CLI
    "opencode": TEXT,  # 1.18.33
    "Claude Desktop": TEXT,  # seuros/action_mcp#181
    "Copilot CLI": BOTH,  # github/copilot-cli#4515
}

_IN_TEXT = 'the answer is in the text content; here: format="json"'


def shown_part(client: str) -> str:
    """Returns which part of an answer the client shows to its model."""
    return _SHOWN.get(SPELLINGS.get(fold(client), client), UNKNOWN)


def lists_schemas(client: str) -> bool:
    """Returns whether tools that also answer in markdown declare their output schema.

    An answer of a tool with a schema must have structured content. A client that shows
    nothing else would never show markdown, so it is not told about the schemas.
    """
    return shown_part(client) != STRUCTURED


def is_json_in_text(call: Call) -> bool:
    """Returns whether an answer in JSON is in the text as well. A client that shows
    both parts never gets it twice."""
    part = shown_part(call.client)
    chosen = jsontext.configured(call.env)
    return part != BOTH and (part == TEXT if chosen is None else chosen)


def markdown_result(text: str) -> ToolResult:
    """Returns an answer in markdown: text, and for clients that know the schema a
    pointer to it."""
    if not lists_schemas(CURRENT.get().client):
        return ToolResult(text)
    return ToolResult(text, structured_content={"note": _IN_TEXT})


def json_result(fields: dict[str, Any], count: int, name: str) -> ToolResult:
    """Returns an answer in JSON: structured content, and in the text either the same or
    a line that says where it is."""
    if is_json_in_text(CURRENT.get()):
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    else:
        text = f'{name}: {count}, in the structured content; as text: format="markdown"'
    return ToolResult(text, structured_content=fields)

"""Which agent an MCP client is, and which part of an answer reaches its model.

The protocol has no way to ask for the latter, so it goes by the name that the client
gives itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.agents import agent_of_client
from wc_core.names import SPELLINGS, fold
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

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

_UNNAMED = "MCP client"


def agent_name(title: str) -> str:
    """Returns the agent that a client is, according to the name it gives itself."""
    # Bridges add their own name in brackets, which would be taken for a tag.
    name = one_line(title, 100).partition(" (")[0]
    return agent_of_client(name) or name or _UNNAMED


def shown_part(client: str) -> str:
    """Returns which part of an answer the client shows to its model."""
    return _SHOWN.get(SPELLINGS.get(fold(client), client), UNKNOWN)


def lists_schemas(client: str) -> bool:
    """Returns whether tools that also answer in markdown declare their output schema.

    An answer of a tool with a schema must have structured content. A client that shows
    nothing else would never show markdown, so it is not told about the schemas.
    """
    return shown_part(client) != STRUCTURED


def is_schema_listed(client: str, parameters: Mapping[str, object]) -> bool:
    """Returns whether a client is told the output schema of a tool with these
    parameters."""
    return "format" not in parameters or lists_schemas(client)

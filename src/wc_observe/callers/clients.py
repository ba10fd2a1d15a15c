"""Which agent an MCP client is, and which part of an answer reaches its model.

The protocol does not tell the latter, so the name that the client sends decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.agents import agent_of_client
from wc_core.base.names import SPELLINGS, fold
from wc_core.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT, STRUCTURED, BOTH, UNKNOWN = "text", "structured", "both", "unknown"

# As observed in requests to a model, or in the client's source.
_SHOWN: Mapping[str, str] = {
    "Claude Code": STRUCTURED,  # 2.1.332; anthropics/claude-code#79944
    "Codex": STRUCTURED,  # 0.169
    "Cursor": STRUCTURED,  # modelcontextprotocol/modelcontextprotocol#1411
    "VS Code": STRUCTURED,  # mcpLanguageModelToolContribution.ts
    "Gemini CLI": TEXT,  # 0.61
    "Qwen Code": TEXT,  # based on Gemini CLI
    "opencode": TEXT,  # 1.18.33
    "Claude Desktop": TEXT,  # seuros/action_mcp#181
    "Copilot CLI": BOTH,  # github/copilot-cli#4515
}

_UNNAMED = "MCP client"


def agent_name(title: str) -> str:
    """Returns the agent that a client is, based on the name it sends."""
    # Bridges add their own name in brackets, which would be taken for a tag.
    name = one_line(title, 100).partition(" (")[0]
    return agent_of_client(name) or name or _UNNAMED


def shown_part(client: str) -> str:
    """Returns which part of an answer the client forwards to its model."""
    return _SHOWN.get(SPELLINGS.get(fold(client), client), UNKNOWN)

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

# The clients that show only the structured content of an answer that has some, and
# whether that is true of an error as well; as observed in requests to a model, or in
# the client's source. All others get text, which reaches every model.
_STRUCTURED: Mapping[str, bool] = {
    "Claude Code": False,  # 2.1.332; anthropics/claude-code#79944
    "Codex": True,  # 0.169
    "Cursor": False,  # modelcontextprotocol/modelcontextprotocol#1411
    "VS Code": False,  # mcpLanguageModelToolContribution.ts
}

_UNNAMED = "MCP client"


def agent_name(title: str) -> str:
    """Returns the agent that a client is, based on the name it sends."""
    # Bridges add their own name in brackets, which would be taken for a tag.
    name = one_line(title, 100).partition(" (")[0]
    return agent_of_client(name) or name or _UNNAMED


def gets_structured(client: str, *, error: bool = False) -> bool:
    """Returns whether a client gets an answer, or an error, as structured content; it
    gets text otherwise, and never both."""
    in_errors = _STRUCTURED.get(SPELLINGS.get(fold(client), client))
    return in_errors is True if error else in_errors is not None

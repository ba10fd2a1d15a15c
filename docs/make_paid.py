"""The table of docs/performance.md about what an agent pays before its first useful
step: counted from the texts themselves, at four characters a token.

What a brief and the hooks say depends on the store. ``LIMITS`` has what they may cost
at most; tests/contract/test_what_an_agent_pays.py counts them in three stores.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blocks import replaced

from wc_observe.mcp import instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
SKILL = ROOT / "src/wc_cli/agents/skill/watercooler/SKILL.md"

CHARACTERS_PER_TOKEN = 4
# Before the first useful step, in a usual store.
GOAL = 3_000
# The most tokens of what depends on the store.
LIMITS = {
    "brief, empty store": 20,
    "brief, usual store": 350,
    "brief, crowded store": 1_000,
    "news with a prompt": 100,
    "reminder at the end of a turn": 100,
}

# Characters of beads 1.0.3: `bd prime` from its source (cmd/bd/prime.go) with a remote
# and no memories, the server as `beads-mcp` 1.0.3 from PyPI with FastMCP 3.2.4. The
# tools are the names, descriptions and input schemas of its 15 tools, as below.
_BEADS_TOOLS, _BEADS_INSTRUCTIONS = 11_530, 356
_BEADS_PRIME, _BEADS_PRIME_WITH_SERVER = 4_672, 583

_NONE = "\u2013"


def tools_length(declared: str) -> int:
    """The characters that a model gets of the tools that the server lists by default:
    names, descriptions and input schemas. ``declared`` is the file of its answers."""
    answers = json.loads(declared)
    tools = answers["results"]["tools/list"]["tools"]
    return sum(
        _tool_length(tool)
        for tool in tools
        if tool["name"] not in answers["optional_tools"]
    )


def _tool_length(tool: dict[str, Any]) -> int:
    schema = json.dumps(tool["inputSchema"], separators=(",", ":"), ensure_ascii=False)
    return len(tool["name"]) + len(tool.get("description", "")) + len(schema)


def skill_length() -> int:
    """The characters that a model gets of the skill: the description in the list of
    skills, and the text below the head when it is used."""
    _, head, text = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return len(fields["description"]) + len(text)


def tokens(characters: int) -> int:
    """The tokens of a text, as a rule of thumb."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def total(declared: str) -> int:
    """The tokens before the first useful step in a usual store, with the server."""
    lengths = tools_length(declared), len(instructions.SHORT), skill_length()
    return sum(map(tokens, lengths)) + LIMITS["brief, usual store"]


def table(declared: str) -> Iterator[str]:
    """The lines of the table."""
    ours = {
        "tools of the server": tokens(tools_length(declared)),
        "its instructions": tokens(len(instructions.SHORT)),
        "skill": tokens(skill_length()),
    }
    prime = tokens(_BEADS_PRIME_WITH_SERVER)
    theirs = {
        "tools of the server": f"{tokens(_BEADS_TOOLS):,}",
        "its instructions": str(tokens(_BEADS_INSTRUCTIONS)),
        "brief, usual store": f"{prime} (`bd prime` beside its server)",
    }
    server = tokens(_BEADS_TOOLS) + tokens(_BEADS_INSTRUCTIONS)
    yield "| tokens | wc | beads 1.0.3 |"
    yield "|---|---|---|"
    for title, count in ours.items():
        yield f"| {title} | {count:,} | {theirs.get(title, _NONE)} |"
    for title, limit in LIMITS.items():
        yield f"| {title} | at most {limit:,} | {theirs.get(title, _NONE)} |"
    yield (
        f"| before the first step, with the server | at most {total(declared):,} "
        f"| {server + prime:,} |"
    )
    without = tokens(skill_length()) + LIMITS["brief, usual store"]
    yield (
        f"| before the first step, without it | at most {without:,} "
        f"| {tokens(_BEADS_PRIME):,} (`bd prime`) |"
    )


def with_table(page: str, declared: str) -> str:
    """The page with the current table."""
    return replaced(page, "paid", table(declared))

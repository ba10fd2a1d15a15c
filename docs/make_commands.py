"""What follows from the list of commands: the words of the launcher bin/wc, and the
commands that the skill allows agents to run."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from blocks import replaced

from wc_cli.agents.install import permissions
from wc_cli.run import table

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
LAUNCHER = ROOT / "bin/wc"
SKILL = ROOT / "src/wc_cli/agents/skill/watercooler/SKILL.md"

# The characters of the names in a line of bin/wc. The bars between them come on top.
_WIDTH = 60


def files() -> dict[Path, str]:
    """Returns each file with its path."""
    launcher = LAUNCHER.read_text(encoding="utf-8")
    skill = SKILL.read_text(encoding="utf-8")
    return {
        LAUNCHER: _with_blocks(
            launcher,
            commands=launcher_words(),
            synonyms=synonyms(),
            words=near_words(),
        ),
        SKILL: _with_allowed_tools(skill),
    }


def _with_blocks(text: str, **blocks: Iterator[str]) -> str:
    for name, lines in blocks.items():
        text = replaced(text, name, lines)
    return text


def launcher_words() -> Iterator[str]:
    """Yields the lines of a shell pattern that matches every command, and every word
    for which wc says what to type instead."""
    names = " ".join((*table.COMMANDS, *table.ALIASES, *table.INSTEAD))
    lines = textwrap.wrap(names, _WIDTH, break_on_hyphens=False)
    patterns = [line.replace(" ", " | ") for line in lines]
    for pattern in patterns[:-1]:
        yield f"    {pattern} | \\"
    yield f"    {patterns[-1]}) ;;"


def synonyms() -> Iterator[str]:
    """Yields the lines of a shell `case` that sets the command a word may mean."""
    for name, words in table.SYNONYMS.items():
        yield f"    {' | '.join(words)}) _wc_meant='{name}' ;;"


def near_words() -> Iterator[str]:
    """Yields the lines of a shell assignment that has every command as a word."""
    words = " ".join((*table.COMMANDS, *table.ALIASES))
    lines = textwrap.wrap(words, _WIDTH + 10, break_on_hyphens=False)
    yield '  _wc_words="'
    yield from (f"    {line}" for line in lines)
    yield '  "'


def _with_allowed_tools(skill: str) -> str:
    tools = " ".join(f"Bash(wc {name}:*)" for name in permissions.COMMANDS)
    line = f"allowed-tools: {tools}"
    text, count = re.subn(
        r"^allowed-tools: .*$", line, skill, count=1, flags=re.MULTILINE
    )
    if not count:
        raise SystemExit(f"{SKILL} has no allowed-tools")
    return text

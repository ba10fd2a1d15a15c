"""What agents may do without asking their user: `wc` commands that read, or write
entries, and the tools of the server, which cannot write."""

from __future__ import annotations

from wc_cli import table
from wc_core import toolnames

# Aliases are included: an agent that types `wc set_status`, as the older tool spells
# it, must not be stopped by a question.
COMMANDS = tuple(
    name
    for name in (*table.COMMANDS, *table.ALIASES)
    if table.COMMANDS[table.ALIASES.get(name, name)].agents
)

# All others. Some agents would run these too without asking: they mistake `wc` for
# the program that counts words, which is harmless.
ASKED = tuple(
    name for name in (*table.COMMANDS, *table.ALIASES) if name not in COMMANDS
)

SERVER = "watercooler"
TOOLS = tuple(f"{toolnames.PREFIX}{name}" for name in toolnames.TOOLS)


def prefixes() -> tuple[str, ...]:
    """The beginnings of the allowed command lines."""
    return tuple(f"wc {name}" for name in COMMANDS)


def pattern(names: tuple[str, ...] = COMMANDS) -> str:
    """A regular expression that matches the beginnings of the command lines.

    It has no look-around: Zed does not support it, and runs nothing at all while a
    pattern is invalid.
    """
    return rf"^wc\s+({'|'.join(names)})(\s|$)"

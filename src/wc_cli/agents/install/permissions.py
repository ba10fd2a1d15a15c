"""What agents may do without asking their user: `wc` commands that read or write
entries, and the tools of the server, which cannot write."""

from __future__ import annotations

import os

from wc_cli.agents.install.changes import executable
from wc_cli.agents.launcher import is_ours
from wc_cli.run import table
from wc_core.base import toolnames
from wc_core.base.programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

COMMANDS = tuple(name for name, command in table.COMMANDS.items() if command.agents)

# Claude Code, Codex, Qwen Code and VS Code run every `wc` without asking, because they
# mistake it for the harmless program that counts words: they are told to ask for these.
# All other clients ask for what is not allowed.
ASKED = tuple(name for name, command in table.COMMANDS.items() if command.beyond)

PROGRAMS = ("wc", "wc-cli")
_SYSTEM = frozenset({"/bin", "/usr/bin"})

SERVER = "watercooler"
# The tools that the server lists. A rule names a tool, never the whole server: another
# server may get this name later.
TOOLS = tuple(f"{toolnames.PREFIX}{name}" for name in toolnames.TOOLS)


def prefixes(site: InstallSite) -> tuple[str, ...]:
    """The beginnings of the command lines that are allowed. If PATH leads to another
    wc, agents are told to run wc-cli."""
    program = "wc" if executable("wc", site) == "wc" else "wc-cli"
    return tuple(f"{program} {name}" for name in COMMANDS)


def allowed_programs(site: InstallSite) -> tuple[str, ...]:
    """The possible names of our command. The system's ``wc`` only counts words, so the
    name is ours to allow; another program that PATH leads to could do anything."""
    path = find_program(site.env, "wc")
    is_harmless = not path or os.path.dirname(os.path.realpath(path)) in _SYSTEM
    return PROGRAMS if is_harmless or is_ours(path, "wc") else ("wc-cli",)


def pattern(
    names: tuple[str, ...] = COMMANDS, programs: tuple[str, ...] = PROGRAMS
) -> str:
    """A regular expression that matches the beginnings of the command lines.

    It has no look-around, because Zed does not support it, and runs nothing at all
    while a pattern is invalid.
    """
    program = "wc(-cli)?" if programs == PROGRAMS else "|".join(programs)
    return rf"^{program}\s+({'|'.join(names)})(\s|$)"

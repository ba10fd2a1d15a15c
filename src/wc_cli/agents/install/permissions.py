"""What agents may do without asking their user: `wc` commands that read or write
entries, and the tools of the server, which cannot write."""

from __future__ import annotations

from wc_cli.agents.install.changes import executable
from wc_cli.run import table
from wc_core.base import toolnames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

# Includes aliases: an agent that types `wc set_status`, as the older tool spells it,
# must not be interrupted by a question.
COMMANDS = tuple(
    name
    for name in (*table.COMMANDS, *table.ALIASES)
    if table.COMMANDS[table.ALIASES.get(name, name)].agents
)

# All other commands. Some agents would run these without asking, too: they mistake `wc`
# for the harmless program that counts words.
ASKED = tuple(
    name for name in (*table.COMMANDS, *table.ALIASES) if name not in COMMANDS
)

SERVER = "watercooler"
TOOLS = tuple(
    f"{toolnames.PREFIX}{name}" for name in (*toolnames.TOOLS, *toolnames.OLDER_TOOLS)
)


def prefixes(site: InstallSite, names: tuple[str, ...] = COMMANDS) -> tuple[str, ...]:
    """The beginnings of command lines. If PATH leads to the system's wc, agents are
    told to run wc-cli."""
    programs = ("wc",) if executable("wc", site) == "wc" else ("wc", "wc-cli")
    return tuple(f"{program} {name}" for program in programs for name in names)


def pattern(names: tuple[str, ...] = COMMANDS) -> str:
    """A regular expression that matches the beginnings of the command lines.

    It has no look-around, because Zed does not support it, and runs nothing at all
    while a pattern is invalid.
    """
    return rf"^wc(-cli)?\s+({'|'.join(names)})(\s|$)"

"""All commands, where each is carried out, and what it does in one line.

Modules are imported when their command is used: a command pays for itself
alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.options import Declared


class Command(NamedTuple):
    """A command: ``module:attribute`` of its `Declared`, and its panel in
    the help."""

    where: str
    panel: str


WRITING, READING, PLACE, ABOUT = "Write", "Read", "Store", "Help"

COMMANDS: dict[str, Command] = {
    "say": Command("writing:say", WRITING),
    "ack": Command("writing:ack", WRITING),
    "handoff": Command("writing:handoff", WRITING),
    "take": Command("writing:take", WRITING),
    "set-status": Command("writing:set_status", WRITING),
    "new": Command("writing:new", WRITING),
    "brief": Command("brief:brief", READING),
    "wait": Command("wait:wait", READING),
    "list": Command("reading:list_threads", READING),
    "read": Command("reading:read", READING),
    "search": Command("reading:search", READING),
    "updates": Command("reading:updates", READING),
    "log": Command("history:log", READING),
    "stats": Command("stats:show", READING),
    "timeline": Command("timeline:show", READING),
    "seen": Command("reading:seen", READING),
    "board": Command("board:board", READING),
    "reindex": Command("reading:reindex", READING),
    "worktrees": Command("worktrees:worktrees", READING),
    "note": Command("worktrees:note", WRITING),
    "statusline": Command("prompt:statusline_", READING),
    "sync": Command("syncing:sync", PLACE),
    "init": Command("places:init", PLACE),
    "whoami": Command("whoami:whoami", PLACE),
    "problems": Command("problems:problems", PLACE),
    "break-lock": Command("places:break_lock", PLACE),
    "doctor": Command("doctor:doctor", PLACE),
    "install": Command("install.command:install", PLACE),
    "uninstall": Command("install.command:uninstall", PLACE),
    "demo": Command("demo:demo", ABOUT),
    "skill": Command("about:skill", ABOUT),
    "completion": Command("about:completion", ABOUT),
    "version": Command("about:version", ABOUT),
    "help": Command("about:help_", ABOUT),
}

# Names that older habits and other tools use for the same command.
ALIASES = {"set_status": "set-status", "break_lock": "break-lock"}


def load(name: str) -> Declared | None:
    """The command of that name, or ``None``."""
    command = COMMANDS.get(ALIASES.get(name, name))
    if command is None:
        return None
    module, _, attribute = command.where.partition(":")
    declared: Declared = getattr(import_module(f"wc_cli.{module}"), attribute)
    return declared

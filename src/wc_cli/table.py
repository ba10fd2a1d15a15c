"""The list of commands, and the module that carries out each.

A module is imported when its command is used, so that a command costs no other
command any time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from wc_cli.options import Declared


class Command(NamedTuple):
    """A command: ``module:attribute`` of its `Declared`, and its panel in the help."""

    place: str
    panel: str


WRITING, READING, PLACE, ABOUT = "Write", "Read", "Store", "Help"

COMMANDS: dict[str, Command] = {
    "say": Command("commands.writing:say", WRITING),
    "ack": Command("commands.writing:ack", WRITING),
    "handoff": Command("commands.writing:handoff", WRITING),
    "take": Command("commands.writing:take", WRITING),
    "set-status": Command("commands.writing:set_status", WRITING),
    "new": Command("commands.writing:new", WRITING),
    "brief": Command("commands.brief:brief", READING),
    "wait": Command("commands.wait:wait", READING),
    "list": Command("commands.reading:list_threads", READING),
    "read": Command("commands.reading:read", READING),
    "search": Command("commands.reading:search", READING),
    "updates": Command("commands.reading:updates", READING),
    "log": Command("commands.log:log", READING),
    "stats": Command("commands.stats:show", READING),
    "timeline": Command("commands.timeline:show", READING),
    "seen": Command("commands.reading:seen", READING),
    "board": Command("commands.board:board", READING),
    "reindex": Command("commands.reading:reindex", READING),
    "worktrees": Command("commands.worktrees:worktrees", READING),
    "note": Command("commands.worktrees:note", WRITING),
    "statusline": Command("commands.statusline:print_statusline", READING),
    "sync": Command("commands.sync:sync", PLACE),
    "init": Command("commands.stores:init", PLACE),
    "whoami": Command("commands.whoami:whoami", PLACE),
    "problems": Command("commands.problems:problems", PLACE),
    "break-lock": Command("commands.stores:break_lock", PLACE),
    "doctor": Command("commands.doctor:doctor", PLACE),
    "install": Command("install.command:install", PLACE),
    "uninstall": Command("install.command:uninstall", PLACE),
    "demo": Command("commands.demo:demo", ABOUT),
    "skill": Command("commands.about:skill", ABOUT),
    "completion": Command("commands.about:completion", ABOUT),
    "version": Command("commands.about:version", ABOUT),
    "help": Command("commands.about:show_help", ABOUT),
}

# The spellings of earlier versions and of other tools.
ALIASES = {"set_status": "set-status", "break_lock": "break-lock"}


def load(name: str) -> Declared | None:
    """Returns the command with that name, or ``None``."""
    command = COMMANDS.get(ALIASES.get(name, name))
    if command is None:
        return None
    module, _, attribute = command.place.partition(":")
    declared: Declared = getattr(import_module(f"wc_cli.{module}"), attribute)
    return declared

"""Where to start, and the commands by group.

It uses neither the modules of the commands nor Typer: docs/make_reference.py writes the
summary of each command to a file.
"""

from __future__ import annotations

import os

from wc_cli.run import table
from wc_cli.run.help.layout import definitions, help_width, wrapped
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import ENTRY_TYPES, ROLES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INTRO = (
    "Who has the ball, and who will conflict? For people who run several "
    "coding agents in several git worktrees."
)
_SUMMARIES = os.path.join(os.path.dirname(__file__), "summaries.txt")
_NAME_WIDTH = 10
_START = (
    ("wc new TOPIC -m TEXT --to NAME", "start a thread, pass its ball to NAME"),
    ("wc list --mine", "list the threads that wait for you"),
    ("wc read [TOPIC]", "show a thread"),
    ("wc say [TOPIC] -m TEXT", "add an entry and pass the ball back"),
    ("wc done [TOPIC] -m TEXT", "finish your part"),
    ("wc use TOPIC", "choose the thread of this worktree"),
)
_MORE = (
    ("The commands of a group:", "wc help GROUP"),
    ("A command, with examples:", "wc help COMMAND"),
    ("All commands:", "wc help --all"),
    ("A tour in a throwaway folder:", "wc demo"),
    ("Options of every command:", "wc help options"),
)


class CommandGroup(NamedTuple):
    """A group of commands in the help: its title, and their names."""

    title: str
    names: tuple[str, ...]


def _group(title: str, names: str) -> CommandGroup:
    return CommandGroup(title, tuple(names.split()))


# By the word that `wc help` takes, which is never a command.
_GROUPS = {
    "ball": _group(
        "Pass the ball",
        "say done ack handoff take set-status close new ask answer",
    ),
    "reading": _group(
        "Read",
        "list read open whose use board brief search updates "
        "stats inbox wait wake worktrees",
    ),
    "planning": _group("Plan", "ready tree link unlink"),
    "edits": _group(
        "Edit files together",
        "claim release check claims note radar review land neighbors",
    ),
    "threads": _group(
        "Change threads",
        "amend retract rename tag move import export project reindex",
    ),
    "repository": _group(
        "This repository",
        "init sync cloud whoami config guidance enrich",
    ),
    "machine": _group(
        "This machine",
        "install uninstall statusline doctor break-lock completion",
    ),
    "about": _group("Help", "demo help skill version"),
}


# The group of a command that none of them names, by its panel.
_GROUP_OF_PANEL = {
    table.WRITING: "threads",
    table.READING: "reading",
    table.PLACE: "repository",
    table.ABOUT: "about",
}


def groups() -> dict[str, CommandGroup]:
    """Return all commands by group."""
    placed = {name for group in _GROUPS.values() for name in group.names}
    names = {word: [*group.names] for word, group in _GROUPS.items()}
    for name, row in table.COMMANDS.items():
        if name not in placed:
            names[_GROUP_OF_PANEL[row.panel]].append(name)
    return {
        word: CommandGroup(group.title, tuple(names[word]))
        for word, group in _GROUPS.items()
    }


def first_sentence(description: str) -> str:
    """Return the first sentence of a description, on one line."""
    sentence, _, _ = " ".join(description.partition("\n\n")[0].split()).partition(". ")
    return f"{sentence.rstrip('.')}."


def summaries() -> dict[str, str]:
    """Return the summary of each command: the first sentence of its description."""
    with open(_SUMMARIES, encoding="utf-8") as file:
        pairs = (line.rstrip("\n").partition(" ") for line in file)
        return {name: summary for name, _, summary in pairs}


def start_page(columns: int = 0) -> str:
    """Return where to start, and a line for each group of commands. ``columns`` is the
    width of the terminal, 0 if there is none."""
    width = help_width(columns)
    lines = [*_head(width), "", "Groups of commands:"]
    column = max(map(len, _GROUPS))
    for word, group in groups().items():
        lines.append(_group_line(f"  {word:{column}}  {group.title}:", group, width))
    return "\n".join([*lines, "", *_in_columns(_MORE, width)])


def group_page(word: str, columns: int = 0) -> str:
    """Return the commands of a group with their summaries."""
    width = help_width(columns)
    lines = [*_summary_lines(groups()[word], summaries(), width)]
    return "\n".join([*lines, "", *_in_columns(_MORE[1:2], width)])


def overview(summary_of: Mapping[str, str], columns: int = 0) -> str:
    """Return where to start, and all commands by group with these summaries."""
    width = help_width(columns)
    lines = _head(width)
    for group in groups().values():
        lines += ["", *_summary_lines(group, summary_of, width)]
    words = (("Statuses", STATUSES), ("Roles", ROLES), ("Types", ENTRY_TYPES))
    rows = [(title, f"{', '.join(values)}.") for title, values in words]
    lines += ["", "Words:", *definitions(rows, width, _NAME_WIDTH)]
    return "\n".join([*lines, "", *_in_columns((_MORE[1], _MORE[3]), width)])


def _head(width: int) -> list[str]:
    start = ["", "Start here:", *_in_columns(_START, width, "  ")]
    return ["Usage: wc COMMAND [ARGUMENTS]", "", *wrapped(INTRO, width), *start]


def _group_line(start: str, group: CommandGroup, width: int) -> str:
    """Return a line with as many names of the group as fit."""
    line = start
    for name, following in zip(group.names, (*group.names[1:], ""), strict=True):
        longer = f"{line} {name}" if line == start else f"{line}, {name}"
        if len(longer) + (3 if following else 0) > width:
            return f"{line} …" if line == start else f"{line}, …"
        line = longer
    return line


def _summary_lines(
    group: CommandGroup, summary_of: Mapping[str, str], width: int
) -> Iterator[str]:
    yield f"{group.title}:"
    rows = ((name, summary_of[name]) for name in group.names)
    yield from definitions(rows, width, _NAME_WIDTH)


def _in_columns(
    pairs: Sequence[tuple[str, str]], width: int, indent: str = ""
) -> list[str]:
    """Return a line for each pair, or more if the terminal is narrow."""
    first_width = max(len(first) for first, _ in pairs)
    lines = [f"{indent}{first:{first_width}}  {second}" for first, second in pairs]
    if max(map(len, lines)) <= width:
        return lines
    inner = f"{indent}    "
    lines = []
    for first, second in pairs:
        below = wrapped(second, width, inner, inner)
        lines += [f"{indent}{first}", *below]
    return lines

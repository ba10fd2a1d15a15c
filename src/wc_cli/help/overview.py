"""The overview of all commands, by group.

It uses neither the modules of the commands nor Typer: docs/make_reference.py writes the
summary of each command to a file.
"""

from __future__ import annotations

import os
import textwrap

from wc_cli import table
from wc_cli.help.texts import WIDTH
from wc_core.threads.model import ENTRY_TYPES, ROLES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTRO = (
    "Whose move is it? Threads with one ball each, for people who run several "
    "coding agents in several git worktrees."
)
_SUMMARIES = os.path.join(os.path.dirname(__file__), "summaries.txt")
_LEAST_WIDTH = 40
_NAME_WIDTH = 11
_START = (
    ("wc new TOPIC -m TEXT --to NAME", "start a thread, pass its ball to NAME"),
    ("wc list --mine", "list the threads whose ball you have"),
    ("wc read [TOPIC]", "show a thread"),
    ("wc say [TOPIC] -m TEXT", "add an entry and pass the ball back"),
    ("wc done [TOPIC] -m TEXT", "finish your part"),
    ("wc use TOPIC", "choose the thread of this worktree"),
)
_MORE = (
    ("More about a command, with examples:", "wc help COMMAND"),
    ("A tour in a throwaway folder:", "wc demo"),
)
_GROUPS = {
    "Pass the ball": "say done ack handoff take set-status close new ask answer",
    "Read": (
        "list read open whose use board brief search related decisions updates digest "
        "log stats timeline seen inbox wait wake worktrees"
    ),
    "Plan": "ready why tree plan link unlink block checklist check-off gate budget",
    "Edit files together": (
        "claim release renew takeover publish check claims note activity radar "
        "conflicts review neighbors graph"
    ),
    "Change threads": "amend retract rename tag move import export project reindex",
    "This repository": (
        "init sync cloud carry harvest whoami config rules guidance enrich wrap"
    ),
    "This machine": (
        "install uninstall notify statusline doctor problems break-lock completion"
    ),
    "Help": "demo help skill version",
}


def groups() -> dict[str, list[str]]:
    """Return the commands by group. A command without a group is under its panel."""
    grouped = {title: names.split() for title, names in _GROUPS.items()}
    placed = {name for names in grouped.values() for name in names}
    for name, row in table.COMMANDS.items():
        if name not in placed:
            grouped.setdefault(row.panel, []).append(name)
    return grouped


def first_sentence(description: str) -> str:
    """Return the first sentence of a description, on one line."""
    sentence, _, _ = " ".join(description.partition("\n\n")[0].split()).partition(". ")
    return f"{sentence.rstrip('.')}."


def summaries() -> dict[str, str]:
    """Return the summary of each command: the first sentence of its description."""
    with open(_SUMMARIES, encoding="utf-8") as file:
        pairs = (line.rstrip("\n").partition(" ") for line in file)
        return {name: summary for name, _, summary in pairs}


def overview(summary_of: Mapping[str, str], columns: int = 0) -> str:
    """Return the overview of all commands with these summaries. ``columns`` is the
    width of the terminal, 0 if there is none."""
    width = max(_LEAST_WIDTH, min(columns or WIDTH, WIDTH))
    lines = ["Usage: wc COMMAND [ARGUMENTS]", "", *textwrap.wrap(INTRO, width)]
    lines += ["", "Start here:", *_in_columns(_START, width, "  ")]
    for title, names in groups().items():
        lines += ["", f"{title}:"]
        for name in names:
            lines += _entry(name, summary_of[name], width)
    words = (("Statuses", STATUSES), ("Roles", ROLES), ("Types", ENTRY_TYPES))
    lines += ["", "Words:"]
    for title, values in words:
        lines += _entry(title, f"{', '.join(values)}.", width)
    lines += ["", *_in_columns(_MORE, width)]
    return "\n".join(lines)


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
        below = textwrap.wrap(
            second, width, initial_indent=inner, subsequent_indent=inner
        )
        lines += [f"{indent}{first}", *below]
    return lines


def _entry(name: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        f"{name:{_NAME_WIDTH}} {text}",
        width,
        initial_indent="  ",
        subsequent_indent=" " * (_NAME_WIDTH + 3),
        break_on_hyphens=False,
    )

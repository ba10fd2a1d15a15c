"""``wc statusline``: what ``bin/wc-statusline`` prints."""

from __future__ import annotations

import os
import sys

from wc_cli.run.context import Context
from wc_cli.run.entries import promptlines
from wc_cli.run.entries.promptlines import PromptLines
from wc_cli.run.options import ALWAYS, AUTO, TextOptions, command, flag, number, text
from wc_cli.run.output import say_exact
from wc_cli.run.terminal.style import is_terminal
from wc_core.attention.status import keptlines, line
from wc_core.attention.status.look import LineStyle
from wc_core.base.lean import json
from wc_core.ledger.git import contact
from wc_core.ledger.git.discovery import (
    BRANCH_STORE,
    StoreMissingError,
    StoreMovedError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from wc_core.ledger.git.discovery import Place

# More than any client sends, so that no writer without end fills the memory.
_MOST_INPUT = 1 << 20


class StatuslineOptions(TextOptions):
    """Print who has the ball here: the line of wc-statusline, made from
    the threads themselves."""

    stdin: bool = flag("--stdin", help="Read Claude Code's JSON from standard input.")
    ascii: bool = flag("--ascii", help="Only ASCII characters.")
    rows: int = number("--rows", "One row per thread, at most this many.")
    links: str = text("--links", "WHERE", "Link threads: page, or an address prefix.")
    template: str = text("--format", "TEMPLATE", "A template, such as {topic}.")


@command(StatuslineOptions)
def print_statusline(context: Context, options: StatuslineOptions) -> None:
    """Print the line; an empty one if there is no store. It is kept for the script if
    that asked for it."""
    style = _style(context, options)
    request_text = ""
    if options.stdin:
        data = sys.stdin.buffer.read(_MOST_INPUT)
        folder = _claude_folder(data)
        if os.path.isdir(folder):
            context = Context(context.env, folder, context.asked)
        else:
            request_text = os.fsdecode(data)
    try:
        say_exact(_status_line(context, style, request_text))
    except StoreMissingError:
        say_exact(line.trouble_line(line.STORE_MISSING, style))
    except StoreMovedError:
        say_exact(line.trouble_line(line.STORE_MOVED, style))


def _missing_text(place: Place) -> str:
    """Return what is known about threads where there is no store."""
    if place.branch_exists:
        return line.NOT_CHECKED_OUT
    repository = place.repository
    if place.kind != BRANCH_STORE or repository is None:
        return ""
    has_failed = os.path.isfile(contact.path_of(repository, contact.UNASKED))
    return line.NOT_ASKED if has_failed else ""


def _status_line(context: Context, style: LineStyle, request_text: str) -> str:
    if not context.place.exists:
        return line.trouble_line(_missing_text(context.place), style)
    request = promptlines.request_of(context, style, request_text)
    lines = PromptLines(context)
    text = lines.text(style, request)
    if lines.viewer is not None:
        context.remember()
    return text


def _style(context: Context, options: StatuslineOptions) -> LineStyle:
    env = context.env
    is_shown = options.stdin or (is_terminal() and env.get("TERM") != "dumb")
    color = options.color == ALWAYS or (
        options.color == AUTO and is_shown and not env.get("NO_COLOR")
    )
    return LineStyle(
        columns=keptlines.columns_of(env.get("COLUMNS", "")),
        ascii=options.ascii,
        color=color,
        rows=options.rows,
        links=options.links,
        format=options.template,
    )


def _claude_folder(data: bytes) -> str:
    """Return the folder in Claude Code's JSON, the first that exists; empty if it names
    none."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(fields, dict):
        return ""
    # In a session that it started in a worktree, only the first one names that.
    places = (
        ("worktree", "path"),
        ("workspace", "current_dir"),
        ("cwd",),
        ("workspace", "project_dir"),
    )
    folders = (_at(fields, keys) for keys in places)
    return next(filter(_is_absolute_folder, folders), "")


def _at(fields: Any, keys: Sequence[str]) -> str:
    """Return the text at some keys of nested objects; empty if there is none."""
    for key in keys:
        fields = fields.get(key) if isinstance(fields, dict) else None
    return fields if isinstance(fields, str) else ""


def _is_absolute_folder(text: str) -> bool:
    return text.startswith("/") and "\0" not in text and os.path.isdir(text)

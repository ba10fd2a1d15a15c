"""``wc guidance``: the repository's advice to those who work in it."""

from __future__ import annotations

import difflib

from wc_cli.agents.briefing import dialects
from wc_cli.commands.common import LockOptions
from wc_cli.ledger.store import guidancefiles
from wc_cli.run import table
from wc_cli.run.entries import receipts
from wc_cli.run.options import argument, command, text, words
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import GUIDANCE, Layout
from wc_core.base.phrases import counted
from wc_core.base.text import one_line, whole_number
from wc_core.ledger import guidance as texts
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_cli.run.context import Context

_ADD, _LIST, _REMOVE = "add", "list", "remove"
_EXAMPLE = "Write, for example: wc guidance add --on handoff 'Run the tests first.'"
_MAX_DIGITS = 4


class GuidanceOptions(LockOptions):
    """Set this repository's guidance for an occasion, such as a handoff: agents get it
    with the answer."""

    action: str = argument(
        "ACTION", "add, list or remove; or an occasion.", default=_LIST
    )
    words: tuple[str, ...] = words(
        "TEXT|N", "The lines to add, or the number of the one to remove.", default=()
    )
    on: str = text("--on", "OCCASION", "A command, or the event of a hook.")


@command(GuidanceOptions)
def guidance(context: Context, options: GuidanceOptions) -> None:
    """Change or list the guidance."""
    _take_occasion(options)
    occasion = _occasion(options.on) if options.on else ""
    if options.action == _LIST:
        _list(context, options, occasion)
        return
    if options.action not in {_ADD, _REMOVE}:
        raise InvalidInputError(
            f"wc guidance has no action {one_line(options.action)!r}.",
            "Use add, list or remove.",
        )
    if not occasion or not options.words:
        is_add = options.action == _ADD
        raise InvalidInputError(
            f"wc guidance {options.action} needs --on OCCASION and "
            f"{'a text' if is_add else 'the number of a line'}.",
            _EXAMPLE if is_add else "See the numbers: wc guidance list",
        )
    layout = context.writer().reader.layout
    by = context.identity.author
    seconds = vocabulary.seconds(options.lock_timeout or "10")
    if options.action == _ADD:
        added = _lines(options.words)
        guidancefiles.add(layout, occasion, added, by, seconds)
        text_of_change = f"{counted(len(added), 'line')} added"
    else:
        number = _number(options.words)
        removed = guidancefiles.remove(layout, occasion, number, by, seconds)
        text_of_change = f"removed {removed!r}"
    notes = receipts.start_settling(context)
    if options.json:
        say_json({"store": context.store} | _fields(layout, occasion))
    else:
        written = counted(len(texts.lines_of(layout, occasion)), "line")
        say(one_line(f"guidance on {occasion}: {text_of_change}, {written} now"))
    for note in notes:
        remark(f"note: {one_line(note)}")


def _take_occasion(options: GuidanceOptions) -> None:
    """Take an occasion in the place of the action as that of ``--on``."""
    occasion = table.ALIASES.get(options.action, options.action)
    is_action = occasion in {_ADD, _LIST, _REMOVE}
    if not (options.on or is_action) and occasion in occasions():
        options.on = occasion
        options.action = _ADD if options.words else _LIST


def occasions() -> tuple[str, ...]:
    """Return the possible occasions for guidance: commands, whose names the server's
    tools share, and hook events."""
    return (*table.occasions(), *dialects.EVENTS, *dialects.TOOL_EVENTS)


def _occasion(typed: str) -> str:
    name = table.ALIASES.get(typed, typed)
    possible = occasions()
    if name in possible:
        return name
    if name in table.NO_OCCASION:
        reason = f"There can be no guidance on {name}: {table.NO_OCCASION[name]}."
        raise InvalidInputError(reason, f"Use one of: {', '.join(possible)}")
    near = difflib.get_close_matches(name, possible, 3)
    hint = f"Did you mean: {', '.join(near)}? " if near else ""
    raise InvalidInputError(
        f"{one_line(typed)!r} is not an occasion.",
        f"{hint}Use one of: {', '.join(possible)}",
    )


def _lines(typed: tuple[str, ...]) -> list[str]:
    """The lines to add. Raises InvalidInputError for an empty one."""
    lines = [texts.line_text(line) for text in typed for line in text.splitlines()]
    if not lines or not all(lines):
        raise InvalidInputError("A line of guidance cannot be empty.", _EXAMPLE)
    return lines


def _number(typed: tuple[str, ...]) -> int:
    number = whole_number(typed[0], _MAX_DIGITS)
    if number is None or len(typed) > 1:
        raise InvalidInputError(
            f"{one_line(' '.join(typed))!r} is not a line number.",
            "See the numbers: wc guidance list",
        )
    return number


def _list(context: Context, options: GuidanceOptions, occasion: str) -> None:
    if options.words:
        raise InvalidInputError(
            "wc guidance list takes no text.", "For one occasion: --on OCCASION"
        )
    layout = context.reader.layout
    chosen = (occasion,) if occasion else texts.occasions_in(layout)
    general = "" if occasion else texts.general_text(layout)
    if options.json:
        fields: dict[str, Any] = {
            "store": context.store,
            "general": general,
            "occasions": [_fields(layout, name) for name in chosen],
        }
        say_json(fields)
        return
    lines = [line for name in chosen for line in _occasion_text(layout, name)]
    if general:
        count = counted(len(general.split("\n")), "line")
        lines.append(f"brief ({GUIDANCE}): {count}; change it with an editor")
    say("\n".join(lines))
    if not lines:
        remark(f"This repository has no guidance. {_EXAMPLE}")


def _fields(layout: Layout, occasion: str) -> dict[str, Any]:
    lines = texts.lines_of(layout, occasion)
    return {
        "on": occasion,
        "file": texts.file_of(occasion),
        "lines": list(lines),
        "given": len(texts.within_limits(lines)),
        "known": occasion in occasions(),
    }


def _occasion_text(layout: Layout, occasion: str) -> Iterator[str]:
    """Yield the lines for an occasion, with their numbers."""
    lines = texts.lines_of(layout, occasion)
    if not lines:
        return
    unknown = "" if occasion in occasions() else ", which this wc does not know"
    yield one_line(f"{occasion} ({texts.file_of(occasion)}){unknown}:")
    for number, line in enumerate(lines, 1):
        yield f"  {number}. {line}"
    if texts.within_limits(lines) != lines:
        yield (
            f"  (cut when shown: at most {texts.MAX_LINES} lines and "
            f"{texts.MAX_CHARACTERS} characters)"
        )

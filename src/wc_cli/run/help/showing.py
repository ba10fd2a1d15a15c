"""Shows help: in colours and a pager, if there is a terminal."""

from __future__ import annotations

import os

from wc_cli.run import table
from wc_cli.run.help import overview
from wc_cli.run.help.command import OPTIONS, command_help, options_page
from wc_cli.run.options import split_leading
from wc_cli.run.output import say_exact
from wc_cli.run.terminal.style import Style, is_terminal, output_style, terminal_width
from wc_core.base.errors import InvalidInputError
from wc_core.base.lean import re
from wc_core.base.names import near_names
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BOLD, _CYAN = "1", "36"
_HEADING = r"(?:Usage:|[A-Z][\w ,]*:$)"
# An option, or a word in a column of its own.
_FIRST_WORD = r"  (-[^ ,]+|\S+(?=  ))"


def explain(argv: Sequence[str]) -> None:
    """Show the help that a command line asks for: of its command, or of all of wc.

    Raises InvalidInputError if its first word is neither a command nor an option for
    help.
    """
    if not argv or argv[0] in {"--help", "-h"}:
        show_overview()
    elif argv[0].startswith("-"):
        is_known = not split_leading(argv)[1]
        problem = "There is no command after" if is_known else "No such option:"
        raise InvalidInputError(f"{problem} {argv[0]}.", "See: wc help")
    elif argv[0] in table.INSTEAD:
        raise _instead(argv)
    else:
        show_command(argv[0])


def show_overview(*, is_all: bool = False) -> None:
    """Show where to start with a line for each group, or all commands."""
    columns = terminal_width()
    if is_all:
        show(overview.overview(overview.summaries(), columns))
    else:
        show(overview.start_page(columns))


def show_topic(name: str, *, is_all: bool = False) -> None:
    """Show the help of a command, or the commands of a group.

    Raises InvalidInputError if there is neither.
    """
    columns = terminal_width()
    text = options_page(columns) if name == OPTIONS else ""
    text = text or command_help(name, columns, is_all=is_all)
    if not text and name in overview.groups():
        text = overview.group_page(name, columns)
    if name in table.INSTEAD:
        raise _instead([name])
    if not text:
        raise _unknown_name(name, (*table.COMMANDS, *overview.groups()))
    show(text)


def show_command(name: str) -> None:
    """Show the help of a command.

    Raises InvalidInputError if there is no such command.
    """
    text = command_help(name, terminal_width())
    if not text:
        raise _unknown_name(name, table.COMMANDS)
    show(text)


def _instead(argv: Sequence[str]) -> InvalidInputError:
    """Return the error for a word that is no command, with what to type instead."""
    word, *following = argv
    topics = [argument for argument in following if not argument.startswith("-")]
    command = table.INSTEAD[word]
    if topics:
        command = command.replace("TOPIC", quoted(one_line(topics[0])))
    return InvalidInputError(f"There is no command {word!r}.", f"Use: {command}")


def _unknown_name(name: str, names: Iterable[str]) -> InvalidInputError:
    """Return the error for a command that does not exist, with what was probably
    meant."""
    meant = [real for real, words in table.SYNONYMS.items() if name in words]
    near = meant or near_names(name, [*names])
    hint = f"Did you mean: {', '.join(near)}? " if near else ""
    return InvalidInputError(
        f"There is no command {name!r}.", f"{hint}List them with: wc help --all"
    )


def show(text: str) -> None:
    """Print a help text, through a person's pager if it is longer than the screen."""
    shown = colored(text, output_style(os.environ))
    if not is_terminal():
        say_exact(shown)
        return
    from wc_cli.run.terminal import pager  # 20 ms, only on a terminal

    lines = (f"{line}\n" for line in shown.split("\n"))
    pager.page_parts(lines, pager.person_pager(os.environ), os.environ)


def colored(text: str, style: Style) -> str:
    """Return a help text with bold headings, and coloured commands and options."""
    if not style.color:
        return text
    return "\n".join(_colored_line(line, style) for line in text.split("\n"))


def _colored_line(line: str, style: Style) -> str:
    heading = re.match(_HEADING, line)
    if heading is not None:
        return style(heading[0], _BOLD) + line[heading.end() :]
    first = re.match(_FIRST_WORD, line)
    return line if first is None else f"  {style(first[1], _CYAN)}{line[first.end() :]}"

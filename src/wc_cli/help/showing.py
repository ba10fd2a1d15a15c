"""Shows help: in colours and a pager, if there is a terminal."""

from __future__ import annotations

import os

from wc_cli.help import texts
from wc_cli.output import say
from wc_cli.terminal.style import Style, is_terminal, output_style, terminal_width
from wc_core.lean import re

_BOLD, _CYAN = "1", "36"
_SHORT_OPTION = "\n  -h, --help "
_HEADING = r"(?:Usage:|[A-Z][\w ,]*:$)"
# An option, or a word in a column of its own.
_FIRST_WORD = r"  (-[^ ,]+|\S+(?=  ))"


def show_overview() -> None:
    """Show the overview of all commands."""
    columns = terminal_width()
    if not 0 < columns < texts.WIDTH:
        show(texts.written_overview())
        return
    from wc_cli.help.overview import overview, summaries  # 7 ms, for a narrow terminal

    show(overview(summaries(), columns))


def show_written(name: str, option: str = "--help") -> bool:
    """Show the help of a command as it was written for 80 columns. Returns False, and
    shows nothing, if the terminal is narrower, or if there is no command with this name
    and this option for help."""
    if 0 < terminal_width() < texts.WIDTH:
        return False
    text = texts.written(name)
    # A command that takes words such as `-h` has no short option.
    if not text or (option == "-h" and _SHORT_OPTION not in text):
        return False
    show(text)
    return True


def show(text: str) -> None:
    """Print a help text, through a person's pager if it is longer than the screen."""
    shown = colored(text, output_style(os.environ))
    if not is_terminal():
        say(shown)
        return
    from wc_cli.terminal import pager  # 20 ms, only on a terminal

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

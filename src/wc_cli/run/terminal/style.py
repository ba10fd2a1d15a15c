"""The style of text on standard output, and how wide it may be there.

Unless ``--color`` says otherwise, colours are used only on a terminal without
NO_COLOR.
"""

from __future__ import annotations

import sys

from wc_cli.run.output import chosen_color
from wc_cli.run.widths import columns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

BOLD, DIM, YELLOW = "1", "2", "33"


class Style:
    """Adds colours, or leaves text plain."""

    def __init__(self, *, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *codes: str) -> str:
        """Return ``text`` in these colours."""
        if not self.color or not text:
            return text
        return f"\033[{';'.join(codes)}m{text}\033[0m"


def agent_codes(color: int) -> tuple[str, ...]:
    """Return the codes for an agent's name: white on the agent's colour, one of 256."""
    return ("97", f"48;5;{color}")


def ink_codes(color: int) -> tuple[str, ...]:
    """Return the codes for text in one of 256 colours."""
    return (f"38;5;{color}",)


def output_style(env: Mapping[str, str]) -> Style:
    """Return the style for standard output."""
    chosen = chosen_color()
    if chosen is None:
        return Style(color=is_for_people(env) and not env.get("NO_COLOR"))
    return Style(color=chosen)


def is_for_people(env: Mapping[str, str]) -> bool:
    """Return whether standard output is a terminal that supports more than plain
    text."""
    return sys.stdout.isatty() and env.get("TERM", "") != "dumb"


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def terminal_width() -> int:
    """Return the width to cut lines to; 0 if output is not a terminal and lines are not
    cut."""
    return columns_of(sys.stdout)

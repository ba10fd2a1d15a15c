"""The help of the live board: what the keys and marks mean, for any width."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len
from rich.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions

_KEYS = (
    ("←↓↑→ or hjkl", "choose a thread; page up and down, home and end"),
    ("enter", "open it"),
    ("/", "filter by words; enter keeps them, escape drops them"),
    ("c", "show or hide threads that are closed, or not moved for weeks"),
    ("w", "worktrees, loops and notes"),
    ("v", "the plan: parts, sidequests, and what waits for what"),
    ("r", "refresh now (changes appear automatically)"),
    ("q", "quit, or back"),
)
_IN_THREAD = "In a thread: ↑↓ or jk, page up and down, home and end; e earlier entries."
_MARKS = (
    "+2 new for you",
    "⑂ two histories side by side",
    "⚠ damage",
    "◆ chosen with wc use",
)
_RED_AGE = "A red age: someone has had the ball for more than two days."
_WRITING = (
    ("i", "say something, in your editor"),
    ("n", "a new thread, in your editor"),
    ("s", "status: o open, r in review, b blocked, c closed"),
)
# Short, so that several share a line.
_ASKING = (
    "a  add a remark",
    "p  pass the ball",
    "t  take it",
    "d  done",
    "m  mark as read",
)
_WRITING_NOTE = (
    "Closing, and the keys a, p, t, d and m, ask for a y first. To write nothing, "
    "leave the editor without saving."
)
_READ_ONLY = "This board is read-only. Enable the keys that write: wc board --write"
_KEY_WIDTH, _GAP = 15, "   "


class Help:
    """The help as a renderable of any width."""

    def __init__(self, *, writing: bool) -> None:
        self._writing = writing

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Text]:
        """Yield the lines."""
        for line in help_lines(options.max_width, writing=self._writing):
            yield Text(line)


def help_lines(width: int, *, writing: bool) -> Iterator[str]:
    """Yield the lines of the help, none of them wider than ``width`` if the words
    allow it. What continues a line is below its text, not below its key."""
    yield from _key_lines(_KEYS, _KEY_WIDTH, width)
    yield from ("", *textwrap.wrap(_IN_THREAD, width))
    yield from ("", *_shared_lines(_MARKS, width), *textwrap.wrap(_RED_AGE, width), "")
    if not writing:
        yield from textwrap.wrap(_READ_ONLY, width)
        return
    yield from _key_lines(_WRITING, len("i  "), width)
    yield from (*_shared_lines(_ASKING, width), "")
    yield from textwrap.wrap(_WRITING_NOTE, width)


def _key_lines(
    rows: Iterable[tuple[str, str]], key_width: int, width: int
) -> Iterator[str]:
    for key, text in rows:
        yield from textwrap.wrap(
            text,
            max(width, 2 * key_width),
            initial_indent=key.ljust(key_width),
            subsequent_indent=" " * key_width,
        )


def _shared_lines(items: Sequence[str], width: int) -> Iterator[str]:
    """Yield the items, as many on each line as fit."""
    line = ""
    for item in items:
        longer = f"{line}{_GAP}{item}" if line else item
        if line and cell_len(longer) > width:
            yield line
            longer = item
        line = longer
    yield line

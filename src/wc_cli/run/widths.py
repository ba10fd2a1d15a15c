"""The width of text on a terminal: measuring, cutting, padding, and wrapping at
words."""

from __future__ import annotations

import os
import unicodedata

from wc_core.base.lean import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

# Characters that take a column although their own width is zero: the selector that
# turns the sign before it into a picture, the soft hyphen, and Arabic and other signs
# around numbers.
_WIDENING = frozenset(
    "\ufe0f\u00ad\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
    "\U000110bd\U000110cd"
)

_USUAL = 80  # columns of a terminal that does not say how many it has
# A colour, as `wc_cli.run.terminal.style` writes it.
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_PLAIN = "\x1b[0m"
_PIECES = re.compile(r"(\x1b\[[0-9;]*m| )")
# What a line begins with: blanks, and the mark of a quotation or of an item.
_BEGINNING = re.compile(r"( *)(> |[-•] |\d+\. )?")
_HANG = " " * 2
# A command at the end of a line or of a sentence is kept whole, so that it can be
# copied.
_COMMAND = re.compile(r"(?:(?<=: )|(?<=^)|(?<= {4}))wc [a-z].*?(?=[.;] |$)")


def columns_of(stream: TextIO) -> int:
    """Return how many columns the terminal of a stream has; 0 if it is not a
    terminal."""
    if not stream.isatty():
        return 0
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL
    except OSError:
        return _USUAL


def width_of(text: str) -> int:
    """Return how many columns ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if char in _WIDENING:
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def cut_to_width(text: str, width: int) -> str:
    """Return the beginning of ``text`` that fits into ``width`` columns."""
    if width_of(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += _columns(char)
        if used > width:
            break
        kept.append(char)
    return f"{''.join(kept)}…"


def left_to_right(text: str) -> str:
    """Return ``text`` with a zero-width mark after right-to-left letters, so that what
    follows stays to its right."""
    if text.isascii():
        return text
    runs_left = any(unicodedata.bidirectional(char) in {"R", "AL"} for char in text)
    return f"{text}\u200e" if runs_left else text


def pad(text: str, width: int) -> str:
    """Return ``text`` padded with blanks to ``width`` columns."""
    if text.isascii():
        return text.ljust(width)
    return text + " " * (width - width_of(text))


def wrapped(text: str, width: int) -> str:
    """Return the text with lines of at most ``width`` columns, except where a word or a
    command is longer. What continues a line is indented, or quoted as the line is."""
    return "\n".join(
        piece for line in text.split("\n") for piece in _wrapped_line(line, width)
    )


def _wrapped_line(line: str, width: int) -> Iterator[str]:
    # Counting its colours, too: most lines need no pattern.
    if width_of(line) <= width or width_of(plain := _COLOR.sub("", line)) <= width:
        yield line
        return
    beginning = _BEGINNING.match(plain)
    blanks, mark = beginning.groups("") if beginning else ("", "")
    hang = f"{blanks}{mark if mark == '> ' else ' ' * len(mark) or _HANG}"
    begun = ""  # the line up to here, without the blank before the next word
    for word in _words(line, plain):
        longer = f"{begun} {word}"
        has_text = _COLOR.sub("", begun).strip() not in {"", mark.strip()}
        if has_text and width_of(_COLOR.sub("", longer)) - 1 > width:
            colors = "".join(_COLOR.findall(begun.rpartition(_PLAIN)[2]))
            yield f"{begun[1:].rstrip()}{_PLAIN if colors else ''}"
            longer = f" {hang}{colors}{word}"
        begun = longer
    yield begun[1:]


def _words(line: str, plain: str) -> Iterator[str]:
    """Yield the words of a line with their colours; empty ones between blanks."""
    whole = [match.span() for match in _COMMAND.finditer(plain)]
    word, at = "", 0
    for piece in _PIECES.split(line):
        if piece == " " and not any(start <= at < end for start, end in whole):
            yield word
            word = ""
        else:
            word += piece
        at += 0 if piece.startswith("\x1b") else len(piece)
    yield word

"""Lines of help for a width: wrapped text, and pairs in two columns."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Help is never wider; without a terminal, it has this width.
WIDTH = 80
_LEAST_WIDTH = 40
_INDENT = "  "


def help_width(columns: int) -> int:
    """Return the width of help on a terminal with this many columns, 0 for none."""
    return max(_LEAST_WIDTH, min(columns or WIDTH, WIDTH))


def wrapped(text: str, width: int, first: str = "", indent: str = "") -> list[str]:
    """Return the text as lines of at most this width, except for longer words. The
    first line starts with ``first``, the others with ``indent``."""
    # The library's textwrap takes 7 ms to import.
    lines: list[str] = []
    line, gap = first, ""
    for word in text.split():
        if gap and len(line) + 1 + len(word) > width:
            lines.append(line)
            line, gap = indent, ""
        line += gap + word
        gap = " "
    lines.append(line)
    return lines


def definitions(
    pairs: Iterable[tuple[str, str]], width: int, least: int = 0
) -> Iterator[str]:
    """Yield the lines of two columns, the second wrapped.

    The first column is as wide as its longest word, at least ``least`` and at most a
    third of the width. The second begins on the next line after a longer word.
    """
    rows = list(pairs)
    most = width // 3
    column = max(least, *(len(word) for word, _ in rows if len(word) <= most), 0)
    indent = " " * (len(_INDENT) + column + 2)
    for word, text in rows:
        first = f"{_INDENT}{word:{column}}  "
        if len(word) > column:
            yield f"{_INDENT}{word}"
            first = indent
        yield from wrapped(text, width, first, indent)

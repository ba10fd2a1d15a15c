"""The width of text on a terminal: measuring, cutting and padding."""

from __future__ import annotations

import unicodedata

# Characters that take a column although their own width is zero: the selector that
# turns the sign before it into a picture, the soft hyphen, and Arabic and other signs
# around numbers.
_WIDENING = frozenset(
    "\ufe0f\u00ad\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
    "\U000110bd\U000110cd"
)


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

"""The functions or classes that contain conflicting lines, on both sides.

git marks the conflicts of a file in the merged text. With the lines of only one side,
the text is a source file again and can be parsed. Otherwise, git's heading of the hunk
stands for the definition.
"""

from __future__ import annotations

from wc_core.base.lean import re
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.graph.symbols import definitions, enclosing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SYMBOLS = 8
_MAX_WIDTH = 80
_LEFT, _BASE, _RIGHT, _END = b"<<<<<<< ", b"||||||| ", b"=======", b">>>>>>> "
# Lines that git uses as headings, and indented definitions.
_HEADING = re.compile(
    rb"[A-Za-z_$]|\s+(?:(?:export|default|async|static|public|private|protected|pub"
    rb"(?:\(\w+\))?|final|abstract|override|unsafe)\s+)*"
    rb"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module)\s"
)


class OneSide(NamedTuple):
    """The text with the lines of one side, and its conflicting lines: first and last,
    counted from 1. If this side has none, the last is before the first."""

    text: bytes
    hunks: tuple[tuple[int, int], ...]


def symbols(path: str, marked: bytes, first: str, second: str) -> tuple[str, ...]:
    """The definitions that contain the conflicts in a merged file, in file order.
    ``first`` and ``second`` are the merged commits."""
    sides = split_sides(marked, first, second)
    names = dict.fromkeys(name for side in sides for name in _symbols(path, side))
    return tuple(names)[:MAX_SYMBOLS]


def _symbols(path: str, side: OneSide) -> Iterator[str]:
    """The definitions that contain the hunks of one side."""
    defined = definitions(path, side.text)
    if defined is None:
        yield from _headings(side)
        return
    for hunk in side.hunks:
        yield from (item.name for item in enclosing(defined, *hunk))


def split_sides(marked: bytes, first: str, second: str) -> tuple[OneSide, OneSide]:
    """The two sides of a text in which git marked the conflicts."""
    begin, end = _LEFT + first.encode(), _END + second.encode()
    lines: tuple[list[bytes], list[bytes]] = ([], [])
    hunks: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    starts = (0, 0)
    current: tuple[int, ...] = (0, 1)
    inside = False
    for line in marked.splitlines(keepends=True):
        if not inside and line.startswith(begin):
            inside, current = True, (0,)
            starts = (len(lines[0]) + 1, len(lines[1]) + 1)
        elif inside and current == (0,) and line.startswith(_BASE):
            current = ()
        elif inside and current != (1,) and line.rstrip(b"\r\n") == _RIGHT:
            current = (1,)
        elif inside and line.startswith(end):
            inside, current = False, (0, 1)
            for side in (0, 1):
                hunks[side].append((starts[side], len(lines[side])))
        else:
            for side in current:
                lines[side].append(line)
    return (
        OneSide(b"".join(lines[0]), tuple(hunks[0])),
        OneSide(b"".join(lines[1]), tuple(hunks[1])),
    )


def _headings(side: OneSide) -> Iterator[str]:
    """The headings of one side's hunks, as in git's diffs: the last one before a hunk,
    unless it begins with one, and those inside it."""
    lines = side.text.splitlines()
    for start, end in side.hunks:
        within = [line for line in lines[start - 1 : end] if line.strip()]
        if not (within and _HEADING.match(within[0])):
            before = reversed(lines[: start - 1])
            heading = next((line for line in before if _HEADING.match(line)), b"")
            if heading:
                yield _text(heading)
        yield from (_text(line) for line in within if _HEADING.match(line))


def _text(line: bytes) -> str:
    return one_line(line.decode(errors="replace"), _MAX_WIDTH).rstrip("{: ")

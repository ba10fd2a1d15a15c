"""Lines of files that an entry is about, with the few lines around them as they were
when it was written."""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

MAX_QUOTED, MAX_WIDTH = 7, 200


class LineRef(NamedTuple):
    """The lines ``start`` to ``end`` of the file at ``path``, counted from 1.

    ``quote`` has at most `MAX_QUOTED` lines of the file, the first of which is its line
    ``first``; 0 and empty if nothing was quoted.
    """

    path: str
    start: int
    end: int
    first: int = 0
    quote: str = ""

    @property
    def place(self) -> str:
        """The path with its lines: ``src/a.py:12`` or ``src/a.py:12-20``."""
        span = f"{self.start}" if self.start == self.end else f"{self.start}-{self.end}"
        return f"{self.path}:{span}"

    def numbered_quote(self) -> list[tuple[int, str, bool]]:
        """The quoted lines: the number, the text, and whether the entry is about the
        line, not only near it."""
        lines = self.quote.split("\n") if self.first else []
        return [
            (number, line, self.start <= number <= self.end)
            for number, line in enumerate(lines, self.first)
        ]

    def quoting(self, lines: Sequence[str]) -> LineRef:
        """The same with a quotation, where ``lines`` are all lines of the file."""
        count = min(self.end - self.start + 1, MAX_QUOTED)
        before = (MAX_QUOTED - count) // 2
        first = max(1, self.start - before)
        chosen = lines[first - 1 : first - 1 + MAX_QUOTED]
        quote = "\n".join(line.rstrip()[:MAX_WIDTH] for line in chosen)
        return self._replace(first=first, quote=quote)


def split_place(written: str) -> tuple[str, int, int]:
    """The path and the lines of ``PATH:LINE`` or ``PATH:START-END``; 0 and 0 if it
    names no lines, or impossible ones."""
    path, _, span = written.rpartition(":")
    start, dash, end = span.partition("-")
    numbers = (start, end if dash else start)
    if not path or not all(_is_number(number) for number in numbers):
        return written, 0, 0
    return path, int(numbers[0]), int(numbers[1])


_MAX_DIGITS = 9


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS


def ref_fields(refs: Iterable[LineRef]) -> list[dict[str, Any]]:
    """References in their form in a log, without an empty quotation."""
    return [
        {name: value for name, value in ref._asdict().items() if value or name in _ALL}
        for ref in refs
    ]


_ALL = frozenset({"path", "start", "end"})


def read_refs(value: Any) -> tuple[LineRef, ...] | None:
    """References from a log; ``None`` for another shape."""
    if not isinstance(value, list) or not all(map(_is_ref, value)):
        return None
    return tuple(LineRef(**item) for item in value)


def _is_ref(value: Any) -> bool:
    if not isinstance(value, dict) or not _ALL <= value.keys() <= {*LineRef._fields}:
        return False
    texts = (value["path"], value.get("quote", ""))
    numbers = (value["start"], value["end"], value.get("first", 0))
    return all(type(text) is str for text in texts) and all(
        type(number) is int and number >= 0 for number in numbers
    )

"""Small pieces of sentences, and tables of them."""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """Headings and rows of as many cells: others' words as they are, for who
    shows it to make harmless."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def quoted(word: str) -> str:
    """A word as a shell takes it, for commands in hints."""
    import shlex  # only refusals need it

    return shlex.quote(word)


def counted(number: int, one: str, many: str = "") -> str:
    """``1 thread``, ``2 threads``, ``0 entries``."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"

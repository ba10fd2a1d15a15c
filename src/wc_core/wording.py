"""Small pieces of sentences."""

from __future__ import annotations


def quoted(word: str) -> str:
    """A word as a shell takes it, for commands in hints."""
    import shlex  # only refusals need it

    return shlex.quote(word)


def counted(number: int, one: str, many: str = "") -> str:
    """``1 thread``, ``2 threads``, ``0 entries``."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"

"""Small parts of messages: paths, quoted words, counts, tables."""

from __future__ import annotations

import os

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


# What a shell reads as it is.
_UNQUOTED = frozenset(
    "%+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
)


class Table(NamedTuple):
    """Headings, and rows with as many cells.

    The cells may have other people's text unchanged; the code that prints them cleans
    it.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def shown_path(path: str, env: Mapping[str, str]) -> str:
    """Returns a path for display, on one line, with ``~`` for the home folder."""
    return one_line(with_home(path, env))


def with_home(path: str, env: Mapping[str, str]) -> str:
    """Returns a path with ``~`` for the home folder and no other change."""
    home = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    if home not in {"", "/"} and (path == home or path.startswith(f"{home}/")):
        return f"~{path[len(home) :]}"
    return path


def quoted(word: str) -> str:
    """A word quoted for a shell, as `shlex.quote` does, which takes 5 ms to import."""
    if word and _UNQUOTED.issuperset(word):
        return word
    quote = "'"
    return quote + word.replace(quote, "'\"'\"'") + quote


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: ``1 thread``, ``2 threads``, ``0 entries``."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"

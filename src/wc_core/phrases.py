"""Small pieces of sentences, and tables of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping


class Table(NamedTuple):
    """Headings and rows of as many cells: others' words as they are, for who
    shows it to make harmless."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def shown_path(path: str, env: Mapping[str, str]) -> str:
    """Returns a path as people write it, on one line: their home folder is ``~``."""
    return one_line(with_home(path, env))


def with_home(path: str, env: Mapping[str, str]) -> str:
    """Returns a path with ``~`` for the home folder and no other change."""
    home = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    if home not in {"", "/"} and (path == home or path.startswith(f"{home}/")):
        return f"~{path[len(home) :]}"
    return path


def quoted(word: str) -> str:
    """A word as a shell takes it, for commands in hints."""
    import shlex  # only refusals need it

    return shlex.quote(word)


def counted(number: int, one: str, many: str = "") -> str:
    """``1 thread``, ``2 threads``, ``0 entries``."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"

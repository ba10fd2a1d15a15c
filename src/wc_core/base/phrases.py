"""Small parts of messages: paths, quoted words, counts, tables."""

from __future__ import annotations

import os

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


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


def listed(items: Iterable[str], most: int) -> str:
    """Items in one sentence, of which at most so many are named: ``a, b and 3 more``.
    It has one item more if only that one would be left."""
    rows = list(items)
    if len(rows) <= most + 1:
        return ", ".join(rows)
    return f"{', '.join(rows[:most])} and {len(rows) - most} more"


def bounded(notes: Sequence[str], most: int, see: str = "") -> list[str]:
    """At most so many notes, and a last one that counts the others; ``see`` says where
    they are."""
    if len(notes) <= most + 1:
        return [*notes]
    end = f" ({see})" if see else ""
    return [*notes[:most], f"… and {len(notes) - most} more{end}"]

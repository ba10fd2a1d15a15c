"""The texts that docs/make_reference.py writes: the help for 80 columns, examples."""

from __future__ import annotations

import os

from wc_cli import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The widest help. Where there is no terminal, it is this wide, too.
WIDTH = 80
_FOLDER = os.path.dirname(__file__)
_TEXTS = os.path.join(_FOLDER, "texts.txt")
_EXAMPLES = os.path.join(_FOLDER, "examples.txt")
_USAGE = "\n\nUsage: wc "


def written_overview() -> str:
    """Return the overview of all commands."""
    return _after_usage("COMMAND")


def written(name: str) -> str:
    """Return the help of a command, by any of its names; empty if there is no such
    command."""
    is_name = name in table.COMMANDS or name in table.ALIASES
    return _after_usage(name) if is_name else ""


def _after_usage(word: str) -> str:
    """Return the text that begins with the usage of ``wc WORD``."""
    with open(_TEXTS, encoding="utf-8") as file:
        texts = f"\n\n{file.read()}"
    beginning = f"{_USAGE}{word} "
    rest = texts.partition(beginning)[2]
    return f"{beginning.strip()} {rest.partition(_USAGE)[0].strip()}"


def examples(name: str) -> list[str]:
    """Return the examples of a command, one command line each."""
    with open(_EXAMPLES, encoding="utf-8") as file:
        return list(_lines_of(name, file))


def _lines_of(name: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines whose last command is ``wc NAME``."""
    for line in lines:
        words = line.rpartition("| ")[2].split()
        if words[:2] == ["wc", name]:
            yield line.rstrip("\n")

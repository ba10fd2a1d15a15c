"""The drawing of the wings, in docs/architecture.md.

It is made from the contracts in pyproject.toml. Each layer that has a folder is a box;
the server is one box, with all its layers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blocks import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
# More boxes than these are a map, no drawing.
MOST_BOXES = 12
_LAYER = re.compile(r'^  "([^"]+)",(?: +# (.*))?$', re.MULTILINE)
_GAP = "   "


class Layer(NamedTuple):
    """A row of a contract: names that do not import each other, and its comment."""

    names: tuple[str, ...]
    comment: str


def files() -> dict[Path, str]:
    """Returns the page with its path."""
    text = PAGE.read_text(encoding="utf-8")
    return {PAGE: replaced(text, "drawing", ["```text", *drawing(), "```"])}


def layers(package: str) -> list[Layer]:
    """Returns the layers of a package, from the top. Raises SystemExit if there is no
    such contract."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(rf'^containers = \["{package}"\]\n(?:.+\n)*', text, re.MULTILINE)
    if block is None:
        raise SystemExit(f"there is no contract with the layers of {package}")
    rows = _LAYER.findall(block[0])
    return [Layer(tuple(names.split(" | ")), comment) for names, comment in rows]


def boxes(package: str) -> list[Layer]:
    """Returns the layers with a folder; the others are modules, the ways in."""
    folder = ROOT / "src" / package
    return [
        layer
        for layer in layers(package)
        if any((folder / name).is_dir() for name in layer.names)
    ]


def drawing() -> Iterator[str]:
    """Yields the lines of the drawing: the command beside the server, on the core.
    Raises SystemExit if it has too many boxes."""
    command, core = boxes("wc_cli"), boxes("wc_core")
    if len(command) + len(core) + 1 > MOST_BOXES:
        raise SystemExit(f"the drawing has more than {MOST_BOXES} boxes")
    left = _stack([[row] for row in _rows(command)])
    server = _rows([row for row in layers("wc_observe") if row.comment])
    height = len(left) - 2  # without the rules above and below
    right = _stack([[*server, *[""] * (height - len(server))]])
    yield "wc_cli: all effects".ljust(len(left[0])) + _GAP + "wc_observe: the server"
    for command_line, server_line in zip(left, right, strict=True):
        yield command_line + _GAP + server_line
    yield ""
    yield "wc_core: knows the store, cannot change it"
    width = len(left[0]) + len(_GAP) + len(right[0])
    yield from _stack([[row] for row in _rows(core)], width)


def _rows(shown: list[Layer]) -> list[str]:
    """One line for each layer: its names, and what they are."""
    width = max(len(" | ".join(layer.names)) for layer in shown)
    return [f"{' | '.join(row.names).ljust(width)}   {row.comment}" for row in shown]


def _stack(boxed: list[list[str]], width: int = 0) -> list[str]:
    """Boxes of lines on top of each other, at least so wide."""
    inside = max(width - 4, *(len(line) for lines in boxed for line in lines))
    rule = f"+{'-' * (inside + 2)}+"
    drawn = [rule]
    for lines in boxed:
        drawn += [f"| {line.ljust(inside)} |" for line in lines]
        drawn.append(rule)
    return drawn

"""Makes text visible that the rendering of markdown would hide.

A model reads an entry as it was written, a person reads its rendering. Text that only
the model sees could instruct it without the person's knowledge. The functions take
tokens of markdown-it, which this module does not import.
"""

from __future__ import annotations

import re

from wc_core.base.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# Parsers silently drop text that is nested deeper.
MAX_NESTING = 20
# Without this rule, link definitions are shown as text; rendered, they vanish.
DISABLED = "reference"
_BAR = re.compile(r"(?<!\\)\|")
# The markers before a row in a quote or a list, and the level of other rows.
_CONTAINERS = re.compile(r"^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*")
_TOP = 2


def uncover(tokens: Iterable[Any]) -> None:
    """Change parsed tokens so that they show hidden text.

    Text that was written as entities is cleaned like all other text. A fence with more
    than a language after it becomes part of its code block.
    """
    for token in tokens:
        if token.type == "text":
            token.content = clean(token.content)
        elif token.type == "fence" and len(token.info.split()) > 1:
            line = f"{token.markup}{token.info}"
            token.content = f"{line}\n{token.content}"
        uncover(token.children or ())


def is_whole(tokens: Sequence[Any], text: str) -> bool:
    """Whether the tokens have all of the text.

    Parsers drop text that is nested too deeply, and cells beyond the columns of a
    table.
    """
    if any(token.nesting == 1 and token.level >= MAX_NESTING - 1 for token in tokens):
        return False
    return not _has_extra_cells(tokens, text)


def _has_extra_cells(tokens: Sequence[Any], text: str) -> bool:
    """Whether a row of a table has more cells in the text than in the tokens."""
    lines = text.split("\n")
    row, cells = "", 0
    for token in tokens:
        if token.type == "tr_open":
            line = lines[token.map[0]] if token.map else ""
            row, cells = _CONTAINERS.sub("", line) if token.level > _TOP else line, 0
        elif token.type in {"td_open", "th_open"}:
            cells += 1
        elif token.type == "tr_close" and _count_cells(row) > cells:
            return True
    return False


def _count_cells(row: str) -> int:
    """The number of cells in a line of text."""
    row = row.strip()
    edges = row.startswith("|") + (row.endswith("|") and not row.endswith("\\|"))
    return len(_BAR.findall(row)) + 1 - edges

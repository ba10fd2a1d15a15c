"""What markdown leaves out of sight, put in sight.

A model reads an entry as it was written, a person its rendering: whatever only
the first would see could speak behind the other's back. Used on the tokens of
markdown-it, which this module does not import.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wc_core.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Parsers leave out what is nested deeper than that, without a word.
MAX_NESTING = 20
# Definitions of links are shown as they are written, for they show nowhere else.
DISABLED = "reference"
_BAR = re.compile(r"(?<!\\)\|")
# What stands before a row in a quote or a list; the level of other rows.
_CONTAINERS = re.compile(r"^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*")
_TOP = 2


def uncover(tokens: Iterable[Any]) -> None:
    """Change parsed tokens: text that was written as entities is cleaned like all
    other, and a fence that says more than its language is shown with that line.
    """
    for token in tokens:
        if token.type == "text":
            token.content = clean(token.content)
        elif token.type == "fence" and len(token.info.split()) > 1:
            line = f"{token.markup}{token.info}"
            token.content = f"{line}\n{token.content}"
        uncover(token.children or ())


def is_whole(tokens: Sequence[Any], text: str) -> bool:
    """Whether nothing of the text was left out: neither what is nested too deeply
    nor cells beyond the columns of a table."""
    if any(one.nesting == 1 and one.level >= MAX_NESTING - 1 for one in tokens):
        return False
    lines = text.split("\n")
    row, cells = "", 0
    for token in tokens:
        if token.type == "tr_open":
            line = lines[token.map[0]] if token.map else ""
            row, cells = _CONTAINERS.sub("", line) if token.level > _TOP else line, 0
        elif token.type in {"td_open", "th_open"}:
            cells += 1
        elif token.type == "tr_close" and _cells(row) > cells:
            return False
    return True


def _cells(row: str) -> int:
    row = row.strip()
    edges = row.startswith("|") + (row.endswith("|") and not row.endswith("\\|"))
    return len(_BAR.findall(row)) + 1 - edges

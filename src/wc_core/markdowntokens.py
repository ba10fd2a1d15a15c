"""What markdown leaves out of sight, put in sight.

A model reads an entry as it was written, a person its rendering: whatever only
the first would see could speak behind the other's back. Used on the tokens of
markdown-it, which this module does not import.
"""

from __future__ import annotations

from wc_core.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Parsers leave out what is nested deeper than that, without a word.
MAX_NESTING = 20
# Definitions of links are shown as they are written, for they show nowhere else.
DISABLED = "reference"


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


def is_whole(tokens: Iterable[Any]) -> bool:
    """Whether nothing was left out for being nested too deeply."""
    return all(token.level < MAX_NESTING - 1 for token in tokens if token.nesting == 1)

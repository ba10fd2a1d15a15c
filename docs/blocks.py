"""Replaces generated blocks in files that are otherwise written by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def replaced(text: str, name: str, lines: Iterable[str]) -> str:
    """The text with other lines in the block of that name. Raises SystemExit if there
    is no such block."""
    block = re.compile(
        rf"^(.*BEGIN {name}: written by docs/make_reference.py.*\n)"
        rf"(?:.*\n)*?(.*END {name}\b)",
        re.MULTILINE,
    )
    match = block.search(text)
    if match is None:
        raise SystemExit(f"there is no block {name}")
    inside = "".join(f"{line}\n" for line in lines)
    return text[: match.end(1)] + inside + text[match.start(2) :]

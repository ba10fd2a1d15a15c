"""A single change in a text: read its value, insert it, remove it.

A text is that of a file, or ``None`` if there is no file. Nothing in here knows who
made a change; `wc_cli.agents.install.ledger` does.
"""

from __future__ import annotations

import json
import re

from wc_cli.agents.install.changes import Add, Block, OwnFile
from wc_cli.agents.install.formats import jsonc, toml
from wc_cli.agents.install.formats.jsonc import ABSENT, Edited
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from wc_cli.agents.install.changes import Change

_BEGIN, _END = ">>> watercooler >>>", "<<< watercooler <<<"

# The kinds of changes, as the ledger names them; the others are json-set, json-add,
# toml-set and toml-add.
BLOCK, FILE = "block", "file"
# Both modules have the functions that are called here.
_FORMATS = {"json": jsonc, "toml": toml}


class Spot(NamedTuple):
    """A place in a file, and the value that belongs there. Two changes with the same
    ``slot`` are about the same place."""

    kind: str
    keys: tuple[str, ...]
    value: Any

    @property
    def is_item(self) -> bool:
        """Whether the value is an item of the array at these keys."""
        return self.kind.endswith("-add")

    @property
    def slot(self) -> tuple[str, ...]:
        """Identifies the place within the file."""
        item = json.dumps(self.value, sort_keys=True) if self.is_item else ""
        keys = () if self.kind == FILE else self.keys
        return (self.kind, *keys, item)


def spot_of(change: Change) -> Spot:
    """The place of a change."""
    if isinstance(change, Block):
        return Spot(BLOCK, (change.comment,), list(change.lines))
    if isinstance(change, OwnFile):
        return Spot(FILE, (), change.text)
    verb = "add" if isinstance(change, Add) else "set"
    return Spot(f"{change.format}-{verb}", change.keys, change.value)


def value_at(text: str | None, spot: Spot) -> Any:
    """The value at a spot; for an array, the item itself; ABSENT if there is none.

    Raises UnreadableError.
    """
    if text is None or spot.kind == FILE:
        return ABSENT if text is None else text
    if spot.kind == BLOCK:
        match = _match_block(text, spot)
        return ABSENT if match is None else match["lines"].splitlines()
    value = _format(spot.kind).value_at(text, spot.keys)
    if not spot.is_item:
        return value
    items = value if isinstance(value, list) else []
    return spot.value if any(are_same(item, spot.value) for item in items) else ABSENT


def insert(text: str | None, spot: Spot, piece: str = "") -> Edited:
    """The text with the value at its spot, replacing any other value.

    ``piece`` is that of our value that is replaced. Raises UnreadableError.
    """
    text, keys = text or "", spot.keys
    if spot.kind == FILE:
        return Edited(spot.value)
    if spot.kind == BLOCK:
        return _insert_block(text, spot, piece)
    form = _format(spot.kind)
    above = (keys[:length] for length in range(len(keys) + spot.is_item))
    made = tuple(path for path in above if form.value_at(text, path) is ABSENT)
    edited: Edited = (
        form.append_item(text, keys, spot.value)
        if spot.is_item
        else form.set_value(text, keys, spot.value, piece)
    )
    return edited._replace(made=made)


def remove(text: str, spot: Spot, piece: str = "") -> str | None:
    """The text without the value at its spot, which must be there; ``None`` if no file
    remains. Raises UnreadableError."""
    if spot.kind == FILE:
        return None
    if spot.kind == BLOCK:
        return _remove_block(text, spot, piece)
    form = _format(spot.kind)
    rest: str = (
        form.without_item(text, spot.keys, spot.value)
        if spot.is_item
        else form.without(text, spot.keys, piece)
    )
    return rest


def pruned(text: str, kind: str, made: Iterable[Sequence[str]]) -> str:
    """The text without the empty ones among the objects and arrays at these paths.
    Raises UnreadableError."""
    for keys in sorted(made, key=len, reverse=True):
        text = _format(kind).without_empty(text, keys)
    return text


def _format(kind: str) -> Any:
    """The module for a kind of change in JSON or TOML."""
    return _FORMATS[kind.partition("-")[0]]


def are_same(first: Any, second: Any) -> bool:
    """Whether two values, which may be ABSENT, are the same."""
    if first is ABSENT or second is ABSENT:
        return first is second
    return jsonc.are_same(first, second)


# Blocks of lines.


def _match_block(text: str, spot: Spot) -> re.Match[str] | None:
    """The marked lines, including their last line break."""
    (comment,) = spot.keys
    begin, end = (re.escape(f"{comment} {mark}") for mark in (_BEGIN, _END))
    pattern = rf"^{begin}\r?\n(?P<lines>(?:(?!{begin}).*\n)*?){end}(?:\r?\n|\Z)"
    return re.search(pattern, text, re.MULTILINE)


def _insert_block(text: str, spot: Spot, piece: str) -> Edited:
    (comment,) = spot.keys
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = (f"{comment} {_BEGIN}", *spot.value, f"{comment} {_END}", "")
    words = newline.join(lines)
    match = _match_block(text, spot)
    if match is not None:
        replaced = text[: match.start()] + words + text[match.end() :]
        return Edited(replaced, piece=piece)
    gap = newline if text and not text.endswith("\n") else ""
    return Edited(text + gap + words, piece=gap)


def _remove_block(text: str, spot: Spot, piece: str) -> str:
    match = _match_block(text, spot)
    if match is None:
        return text
    before, after = text[: match.start()], text[match.end() :]
    return before.removesuffix(piece) if piece and not after else before + after

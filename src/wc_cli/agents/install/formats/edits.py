"""A single change in a text: read its value, insert it, remove it.

A text is that of a file, or ``None`` if there is no file. Nothing in here knows who
made a change; `wc_cli.agents.install.ledger` does.
"""

from __future__ import annotations

import json
import re

from wc_cli.agents.install.changes import (
    Block,
    Change,
    JsonAdd,
    JsonSet,
    OwnFile,
    TomlAdd,
    TomlSet,
)
from wc_cli.agents.install.formats import jsonc, jsonedit, toml
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

# Not a value of any format: stands for a missing value.
ABSENT = object()

_BEGIN, _END = ">>> watercooler >>>", "<<< watercooler <<<"

# The kinds of changes, as the ledger names them.
JSON_SET, JSON_ADD = "json-set", "json-add"
TOML_SET, TOML_ADD = "toml-set", "toml-add"
BLOCK, FILE = "block", "file"
_ADDS_ITEM = frozenset({JSON_ADD, TOML_ADD})


class Spot(NamedTuple):
    """A place in a file, and the value that belongs there. Two changes with the same
    ``slot`` are about the same place."""

    kind: str
    keys: tuple[str, ...]
    value: Any

    @property
    def slot(self) -> tuple[str, ...]:
        """Identifies the place within the file."""
        item = json.dumps(self.value, sort_keys=True) if self.kind in _ADDS_ITEM else ""
        keys = () if self.kind == FILE else self.keys
        return (self.kind, *keys, item)


class Inserted(NamedTuple):
    """A text with a value inserted.

    ``made`` are the paths of the objects and arrays that were created for it, and
    ``piece`` is the text that `remove` needs to remove exactly the same.
    """

    text: str
    made: tuple[tuple[str, ...], ...] = ()
    piece: str = ""


def spot_of(change: Change) -> Spot:
    """The place of a change."""
    if isinstance(change, JsonSet):
        return Spot(JSON_SET, change.keys, change.value)
    if isinstance(change, JsonAdd):
        return Spot(JSON_ADD, change.keys, change.item)
    if isinstance(change, TomlSet):
        return Spot(TOML_SET, change.keys, change.value)
    if isinstance(change, TomlAdd):
        return Spot(TOML_ADD, change.keys, change.item)
    if isinstance(change, Block):
        return Spot(BLOCK, (change.comment,), list(change.lines))
    if isinstance(change, OwnFile):
        return Spot(FILE, (), change.text)
    raise AssertionError(change)


def value_at(text: str | None, spot: Spot) -> Any:
    """The value at a spot; for an array, the item itself; ABSENT if there is none.

    Raises UnreadableError.
    """
    return ABSENT if text is None else _EDITORS[spot.kind].value_at(text, spot)


def insert(text: str | None, spot: Spot, piece: str = "") -> Inserted:
    """The text with the value at its spot, replacing any other value.

    ``piece`` is that of our value that is replaced. Raises UnreadableError.
    """
    return _EDITORS[spot.kind].insert(text or "", spot, piece)


def remove(text: str, spot: Spot, piece: str = "") -> str | None:
    """The text without the value at its spot, which must be there; ``None`` if no file
    remains. Raises UnreadableError."""
    return _EDITORS[spot.kind].remove(text, spot, piece)


def raw_text(text: str, spot: Spot) -> str:
    """The value at a spot in JSON, exactly as written in the text."""
    node = jsonc.find(text, spot.keys)
    return text[node.start : node.end] if node is not None else ""


def with_raw(text: str, spot: Spot, words: str) -> str:
    """The text with ``words``, as returned by `raw_text`, as the value at a spot in
    JSON."""
    node = jsonc.find(text, spot.keys)
    return text if node is None else text[: node.start] + words + text[node.end :]


def pruned(text: str, kind: str, made: Iterable[Sequence[str]]) -> str:
    """The text without the empty ones among the objects and arrays at these paths.
    Raises UnreadableError."""
    for keys in sorted(made, key=len, reverse=True):
        if kind in (TOML_SET, TOML_ADD):
            if toml.find(text, keys) in ({}, []):
                text = toml.without(text, keys)
        else:
            text = _pruned_json(text, tuple(keys))
    return text


def _pruned_json(text: str, keys: tuple[str, ...]) -> str:
    node = jsonc.find(text, keys)
    empty = node is not None and node.elements == ()
    if node is None or not empty or text[node.start + 1 : node.end - 1].strip():
        return text
    if keys:
        return _remove_json(text, Spot(JSON_SET, keys, None), "")
    outside = text[: node.start] + text[node.end :]
    return outside if outside.strip("\ufeff \t\r\n") else ""


def are_same(first: Any, second: Any) -> bool:
    """Whether two values, which may be ABSENT, are the same."""
    if first is ABSENT or second is ABSENT:
        return first is second
    return jsonc.are_same(first, second)


class _Editor(NamedTuple):
    """The functions for changes of one kind; `value_at`, `insert` and `remove` describe
    their parameters and results."""

    value_at: Callable[[str, Spot], Any]
    insert: Callable[[str, Spot, str], Inserted]
    remove: Callable[[str, Spot, str], str | None]


def _missing_paths(
    is_there: Callable[[Sequence[str]], bool], keys: tuple[str, ...], *, root: bool
) -> tuple[tuple[str, ...], ...]:
    """The paths on the way to a spot that do not exist yet."""
    paths = (keys[:length] for length in range(0 if root else 1, len(keys) + 1))
    return tuple(path for path in paths if not is_there(path))


# JSON.


def _json_value(text: str, spot: Spot) -> Any:
    node = jsonc.find(text, spot.keys)
    return ABSENT if node is None else node.value


def _json_item(text: str, spot: Spot) -> Any:
    return _item_of(_json_value(text, spot), spot)


def _item_of(array: Any, spot: Spot) -> Any:
    items = array if isinstance(array, list) else []
    return spot.value if any(are_same(item, spot.value) for item in items) else ABSENT


def _insert_json(text: str, spot: Spot, piece: str) -> Inserted:  # noqa: ARG001
    def is_there(keys: Sequence[str]) -> bool:
        return jsonc.find(text, keys) is not None

    if spot.kind == JSON_ADD:
        created = _missing_paths(is_there, spot.keys, root=True)
        return Inserted(jsonedit.append_item(text, spot.keys, spot.value), created)
    created = _missing_paths(is_there, spot.keys[:-1], root=True)
    return Inserted(jsonedit.set_value(text, spot.keys, spot.value), created)


def _remove_json(text: str, spot: Spot, piece: str) -> str:  # noqa: ARG001
    parent = jsonc.find(text, spot.keys[:-1])
    elements = (parent.elements if parent else None) or ()
    index = [element.key for element in elements].index(spot.keys[-1])
    return text if parent is None else jsonedit.without_element(text, parent, index)


def _remove_json_item(text: str, spot: Spot, piece: str) -> str:  # noqa: ARG001
    node = jsonc.find(text, spot.keys)
    elements = (node.elements if node else None) or ()
    matches = [are_same(element.node.value, spot.value) for element in elements]
    return (
        text
        if node is None
        else jsonedit.without_element(text, node, matches.index(True))
    )


# TOML.


def _toml_value(text: str, spot: Spot) -> Any:
    value = toml.find(text, spot.keys)
    return ABSENT if value is None else value


def _toml_item(text: str, spot: Spot) -> Any:
    return _item_of(toml.find(text, spot.keys), spot)


def _insert_toml(text: str, spot: Spot, piece: str) -> Inserted:
    def is_there(keys: Sequence[str]) -> bool:
        return toml.find(text, keys) is not None

    if spot.kind == TOML_ADD:
        edited = toml.append_item(text, spot.keys, spot.value)
        return Inserted(edited.text, _missing_paths(is_there, spot.keys, root=False))
    edited = toml.set_value(text, spot.keys, spot.value, piece)
    created = _missing_paths(is_there, spot.keys[:-1], root=False)
    return Inserted(edited.text, created, edited.piece)


def _remove_toml(text: str, spot: Spot, piece: str) -> str:
    return toml.without(text, spot.keys, piece)


def _remove_toml_item(text: str, spot: Spot, piece: str) -> str:  # noqa: ARG001
    return toml.without_item(text, spot.keys, spot.value)


# Blocks of lines, and whole files.


def _match_block(text: str, spot: Spot) -> re.Match[str] | None:
    """The marked lines, including their last line break."""
    (comment,) = spot.keys
    begin, end = (re.escape(f"{comment} {mark}") for mark in (_BEGIN, _END))
    pattern = rf"^{begin}\r?\n(?P<lines>(?:(?!{begin}).*\n)*?){end}(?:\r?\n|\Z)"
    return re.search(pattern, text, re.MULTILINE)


def _block_lines(text: str, spot: Spot) -> Any:
    match = _match_block(text, spot)
    return ABSENT if match is None else match["lines"].splitlines()


def _insert_block(text: str, spot: Spot, piece: str) -> Inserted:
    (comment,) = spot.keys
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = (f"{comment} {_BEGIN}", *spot.value, f"{comment} {_END}", "")
    words = newline.join(lines)
    match = _match_block(text, spot)
    if match is not None:
        replaced = text[: match.start()] + words + text[match.end() :]
        return Inserted(replaced, piece=piece)
    gap = newline if text and not text.endswith("\n") else ""
    return Inserted(text + gap + words, piece=gap)


def _remove_block(text: str, spot: Spot, piece: str) -> str:
    match = _match_block(text, spot)
    if match is None:
        return text
    before, after = text[: match.start()], text[match.end() :]
    return before.removesuffix(piece) if piece and not after else before + after


_EDITORS = {
    JSON_SET: _Editor(_json_value, _insert_json, _remove_json),
    JSON_ADD: _Editor(_json_item, _insert_json, _remove_json_item),
    TOML_SET: _Editor(_toml_value, _insert_toml, _remove_toml),
    TOML_ADD: _Editor(_toml_item, _insert_toml, _remove_toml_item),
    BLOCK: _Editor(_block_lines, _insert_block, _remove_block),
    FILE: _Editor(
        lambda text, _: text,
        lambda _, spot, __: Inserted(spot.value),
        lambda _, __, ___: None,
    ),
}

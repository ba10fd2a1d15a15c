"""One change in one text: is it there, put it in, take it out.

A text is that of a file, ``None`` where there is no file. Nothing here knows who
made a change; `ledger` does.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.install.changes import (
    Block,
    Change,
    JsonAdd,
    JsonSet,
    OwnFile,
    TomlAdd,
    TomlSet,
)
from wc_cli.install.formats import jsonc, jsonedit
from wc_cli.install.formats import toml as tomls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# No value of any format.
ABSENT = object()

_BEGIN, _END = ">>> watercooler >>>", "<<< watercooler <<<"


class Spot(NamedTuple):
    """Where in a file a change belongs, and what belongs there. Two changes with
    the same ``slot`` are about the same thing."""

    kind: str
    keys: tuple[str, ...]
    value: Any

    @property
    def slot(self) -> tuple[str, ...]:
        """What tells it from other spots of the file."""
        item = json.dumps(self.value, sort_keys=True) if self.kind in _ITEMS else ""
        keys = () if self.kind in (_BLOCK, _FILE) else self.keys
        return (self.kind, *keys, item)


class Put(NamedTuple):
    """A text with a value put in, what of the way to it was made, and what TOML's
    ``piece`` is."""

    text: str
    made: tuple[tuple[str, ...], ...] = ()
    piece: str = ""


_JSON_SET, _JSON_ADD, _TOML_SET, _TOML_ADD, _BLOCK, _FILE = (
    *("json-set", "json-add", "toml-set", "toml-add"),
    *("block", "file"),
)
_ITEMS = frozenset({_JSON_ADD, _TOML_ADD})


def spot(change: Change) -> Spot:
    """Where a change belongs."""
    if isinstance(change, JsonSet):
        return Spot(_JSON_SET, change.keys, change.value)
    if isinstance(change, JsonAdd):
        return Spot(_JSON_ADD, change.keys, change.item)
    if isinstance(change, TomlSet):
        return Spot(_TOML_SET, change.keys, change.value)
    if isinstance(change, TomlAdd):
        return Spot(_TOML_ADD, change.keys, change.item)
    if isinstance(change, Block):
        return Spot(_BLOCK, (change.comment,), list(change.lines))
    if isinstance(change, OwnFile):
        return Spot(_FILE, (), change.text)
    raise AssertionError(change)


def found(text: str | None, where: Spot) -> Any:
    """The value at a spot, of an array the item itself; ABSENT if there is none.

    Raises jsonc.Unreadable.
    """
    if text is None:
        return ABSENT
    return _FOUND[where.kind](text, where)


def put(text: str | None, where: Spot, piece: str = "") -> Put:
    """The text with the value at its spot, whatever was there; ``piece`` is what
    was said of a value of ours. Raises jsonc.Unreadable."""
    return _PUT[where.kind](text or "", where, piece)


def taken(text: str, where: Spot, piece: str = "") -> str | None:
    """The text without the value at its spot, which is there; ``None``: without
    it there is no file. Raises jsonc.Unreadable."""
    return _TAKEN[where.kind](text, where, piece)


def raw(text: str, where: Spot) -> str:
    """How the value at a spot of JSON is written."""
    node = jsonc.find(text, where.keys)
    return text[node.start : node.end] if node is not None else ""


def written(text: str, where: Spot, words: str) -> str:
    """The text with a value at a spot of JSON written like that, as `raw` said."""
    node = jsonc.find(text, where.keys)
    return text if node is None else text[: node.start] + words + text[node.end :]


def pruned(text: str, kind: str, made: Iterable[Sequence[str]]) -> str:
    """The text without those of the objects and arrays at these paths that are
    empty. Raises jsonc.Unreadable."""
    for keys in sorted(made, key=len, reverse=True):
        if kind.startswith("toml"):
            if tomls.find(text, keys) in ({}, []):
                text = tomls.without(text, keys)
        else:
            text = _pruned_json(text, tuple(keys))
    return text


def _pruned_json(text: str, keys: tuple[str, ...]) -> str:
    node = jsonc.find(text, keys)
    empty = node is not None and node.elements == ()
    if node is None or not empty or text[node.start + 1 : node.end - 1].strip():
        return text
    if keys:
        return _without_json(text, Spot(_JSON_SET, keys, None), "")
    rest = text[: node.start] + text[node.end :]
    return rest if rest.strip("\ufeff \t\r\n") else ""


def same(one: Any, other: Any) -> bool:
    """Whether two values that may be ABSENT are the same."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return jsonc.same(one, other)


def _found_json(text: str, where: Spot) -> Any:
    node = jsonc.find(text, where.keys)
    return ABSENT if node is None else node.value


def _found_item(text: str, where: Spot) -> Any:
    toml = where.kind == _TOML_ADD
    value = tomls.find(text, where.keys) if toml else _found_json(text, where)
    items = value if isinstance(value, list) else []
    return where.value if any(same(one, where.value) for one in items) else ABSENT


def _found_toml(text: str, where: Spot) -> Any:
    value = tomls.find(text, where.keys)
    return ABSENT if value is None else value


def _made(
    look: Callable[[Sequence[str]], bool], keys: tuple[str, ...], *, root: bool
) -> tuple[tuple[str, ...], ...]:
    """Which paths on the way to a spot are not there."""
    paths = (keys[:length] for length in range(0 if root else 1, len(keys) + 1))
    return tuple(path for path in paths if not look(path))


def _put_json(text: str, where: Spot, piece: str) -> Put:  # noqa: ARG001
    def is_there(keys: Sequence[str]) -> bool:
        return jsonc.find(text, keys) is not None

    if where.kind == _JSON_ADD:
        made = _made(is_there, where.keys, root=True)
        return Put(jsonedit.add(text, where.keys, where.value), made)
    made = _made(is_there, where.keys[:-1], root=True)
    return Put(jsonedit.put(text, where.keys, where.value), made)


def _put_toml(text: str, where: Spot, piece: str) -> Put:
    def is_there(keys: Sequence[str]) -> bool:
        return tomls.find(text, keys) is not None

    if where.kind == _TOML_ADD:
        edited = tomls.add(text, where.keys, where.value)
        return Put(edited.text, _made(is_there, where.keys, root=False))
    edited = tomls.put(text, where.keys, where.value, piece)
    return Put(edited.text, _made(is_there, where.keys[:-1], root=False), edited.piece)


def _without_json(text: str, where: Spot, piece: str) -> str:  # noqa: ARG001
    parent = jsonc.find(text, where.keys[:-1])
    elements = (parent.elements if parent else None) or ()
    index = [one.key for one in elements].index(where.keys[-1])
    return text if parent is None else jsonedit.removed(text, parent, index)


def _without_item(text: str, where: Spot, piece: str) -> str:  # noqa: ARG001
    node = jsonc.find(text, where.keys)
    elements = (node.elements if node else None) or ()
    values = [same(one.node.value, where.value) for one in elements]
    return text if node is None else jsonedit.removed(text, node, values.index(True))


def _without_toml(text: str, where: Spot, piece: str) -> str:
    return tomls.without(text, where.keys, piece)


def _without_toml_item(text: str, where: Spot, piece: str) -> str:  # noqa: ARG001
    return tomls.without_item(text, where.keys, where.value)


def _block(text: str, where: Spot) -> re.Match[str] | None:
    """The marked lines, with the line break that ends them."""
    (comment,) = where.keys
    begin, end = (re.escape(f"{comment} {mark}") for mark in (_BEGIN, _END))
    pattern = rf"^{begin}\r?\n(?P<lines>(?:(?!{begin}).*\n)*?){end}(?:\r?\n|\Z)"
    return re.search(pattern, text, re.MULTILINE)


def _found_block(text: str, where: Spot) -> Any:
    match = _block(text, where)
    return ABSENT if match is None else match["lines"].splitlines()


def _put_block(text: str, where: Spot, piece: str) -> Put:
    (comment,) = where.keys
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = (f"{comment} {_BEGIN}", *where.value, f"{comment} {_END}", "")
    words = newline.join(lines)
    match = _block(text, where)
    if match is not None:
        return Put(text[: match.start()] + words + text[match.end() :], piece=piece)
    gap = newline if text and not text.endswith("\n") else ""
    return Put(text + gap + words, piece=gap)


def _without_block(text: str, where: Spot, piece: str) -> str:
    match = _block(text, where)
    if match is None:
        return text
    before, after = text[: match.start()], text[match.end() :]
    return before.removesuffix(piece) if piece and not after else before + after


def _found_file(text: str, where: Spot) -> Any:  # noqa: ARG001
    return text


def _put_file(text: str, where: Spot, piece: str) -> Put:  # noqa: ARG001
    return Put(where.value)


def _without_file(text: str, where: Spot, piece: str) -> None:  # noqa: ARG001
    return None


_FOUND: dict[str, Callable[[str, Spot], Any]] = {
    _JSON_SET: _found_json,
    _JSON_ADD: _found_item,
    _TOML_SET: _found_toml,
    _TOML_ADD: _found_item,
    _BLOCK: _found_block,
    _FILE: _found_file,
}
_PUT: dict[str, Callable[[str, Spot, str], Put]] = {
    _JSON_SET: _put_json,
    _JSON_ADD: _put_json,
    _TOML_SET: _put_toml,
    _TOML_ADD: _put_toml,
    _BLOCK: _put_block,
    _FILE: _put_file,
}
_TAKEN: dict[str, Callable[[str, Spot, str], str | None]] = {
    _JSON_SET: _without_json,
    _JSON_ADD: _without_item,
    _TOML_SET: _without_toml,
    _TOML_ADD: _without_toml_item,
    _BLOCK: _without_block,
    _FILE: _without_file,
}

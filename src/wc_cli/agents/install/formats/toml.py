"""TOML, edited with tomlkit, which keeps comments, order and blanks.

Each result is parsed again with Python's own parser and compared with the intended
values, and no comment may be lost. Any other edit is refused.
"""

from __future__ import annotations

import re
import tomllib

from wc_cli.agents.install.formats.jsonc import ABSENT, Edited, UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")

# Strings are matched to skip them: they may contain the sign of a comment.
_STRING_OR_COMMENT = re.compile(
    r'''"""(?s:\\.|[^\\])*?"""+|"(?:\\.|[^"\\\n])*"'''
    r"|'''(?s:.)*?'''+|'[^'\n]*'|(?P<comment>#[^\n]*)"
)
_BARE_NEWLINE = re.compile(r"(?<!\r)\n")


def parse(text: str) -> dict[str, Any]:
    """The values of a text. Raises UnreadableError."""
    try:
        return tomllib.loads(_without_mark(text).replace("\r\n", "\n"))
    except ValueError as error:  # also for a number with too many digits
        match = _PLACE.search(str(error))
        line, column = (int(match[1]), int(match[2])) if match else (0, 0)
        problem = _PLACE.sub("", str(error)).strip()
        problem = problem[:1].lower() + problem[1:]
        raise UnreadableError(problem, line, column) from None


def find(text: str, keys: Sequence[str]) -> Any:
    """The value at a path of keys; ``None`` if there is none."""
    value: Any = parse(text)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def value_at(text: str, keys: Sequence[str]) -> Any:
    """Like `find`, but ABSENT if there is none."""
    value = find(text, keys)
    return ABSENT if value is None else value


def set_value(text: str, keys: Sequence[str], value: Any, piece: str = "") -> Edited:
    """The text with a value at a path of keys.

    ``piece`` is that of the replaced value. Raises UnreadableError.
    """
    intended = _with_value(parse(text), keys, value)
    replaces = bool(piece) and text.count(piece) == 1
    if isinstance(value, dict) and (replaces or find(text, keys) is None):
        before, _, after = text.partition(piece) if replaces else (text, "", "")
        edited = _with_new_table(before, keys, value)
        if _has_values(edited.text + after, intended):
            return Edited(edited.text + after, edited.piece)

    def edit(table: Any) -> None:
        table[keys[-1]] = value

    return Edited(_edit_table(text, keys[:-1], edit, intended))


def append_item(text: str, keys: Sequence[str], item: Any) -> Edited:
    """The text with an item in the array at a path of keys. Raises UnreadableError."""
    array = find(text, keys)
    if array is None:
        return set_value(text, keys, [item])
    if not isinstance(array, list):
        raise UnreadableError(f"{'.'.join(keys)} is not an array")
    intended = _with_value(parse(text), keys, [*array, item])

    def edit(table: Any) -> None:
        table[keys[-1]].append(item)

    return Edited(_edit_table(text, keys[:-1], edit, intended))


def without(text: str, keys: Sequence[str], piece: str = "") -> str:
    """The text without a key; a table above it stays unless it is empty.

    ``piece`` is that of `set_value`. Raises UnreadableError.
    """
    intended = _with_value(parse(text), keys, None)
    for words in (piece, *_header_texts(text, keys)):
        if words and text.count(words) == 1:
            shorter = text.replace(words, "")
            if _has_values(shorter, intended, keys):
                return shorter

    def edit(table: Any) -> None:
        del table[keys[-1]]

    return _edit_table(text, keys[:-1], edit, intended, removed=keys)


def _header_texts(text: str, keys: Sequence[str]) -> tuple[str, ...]:
    """The header of an empty table, as written in a text. What follows its line belongs
    to the user, but tomlkit would remove it, too."""
    words = ".".join(map(re.escape, keys))
    match = re.search(rf"^(\r?\n)?(\[{words}\]\r?\n)", text, re.MULTILINE)
    return (match[0], match[2]) if match else ()


def without_item(text: str, keys: Sequence[str], item: Any) -> str:
    """The text without an item of an array. Raises UnreadableError."""
    array = list(find(text, keys))
    index = array.index(item)
    intended = _with_value(parse(text), keys, array[:index] + array[index + 1 :])

    def edit(table: Any) -> None:
        del table[keys[-1]][index]

    return _edit_table(text, keys[:-1], edit, intended)


def without_empty(text: str, keys: Sequence[str]) -> str:
    """The text without a table or array, if it is there and empty."""
    return without(text, keys) if find(text, keys) in ({}, []) else text


def _edit_table(
    text: str,
    keys: Sequence[str],
    edit: Callable[[Any], None],
    intended: dict[str, Any],
    removed: Sequence[str] = (),
) -> str:
    """The text after an edit of the table at a path, which is created if missing; empty
    tables above ``removed`` may be missing afterwards.

    Raises UnreadableError.
    """
    import tomlkit  # 25 ms, only for TOML

    bare = _without_mark(text)
    try:
        document = tomlkit.parse(bare)
        table: Any = document
        for key in keys:
            if key not in table:
                table[key] = tomlkit.table(is_super_table=False)
            table = table[key]
        edit(table)
        result = tomlkit.dumps(document)
    except (tomlkit.exceptions.TOMLKitError, TypeError, KeyError) as error:
        raise UnreadableError(f"this cannot be changed in place: {error}") from error
    if "\r\n" in bare and not _BARE_NEWLINE.search(bare):
        result = _BARE_NEWLINE.sub("\r\n", result)
    result = text[: len(text) - len(bare)] + result
    kept = _comments(result) == _comments(text)
    if not kept or not _has_values(result, intended, removed):
        raise UnreadableError("this cannot be changed in place without changing more")
    return result


def _with_new_table(text: str, keys: Sequence[str], value: dict[str, Any]) -> Edited:
    """The text with a table at its end."""
    import tomlkit  # 25 ms, only for TOML

    table = tomlkit.table()
    table.update(value)
    outer: Any = table
    for key in reversed(keys):
        above = tomlkit.table(is_super_table=True)
        above[key] = outer
        outer = above
    document = tomlkit.document()
    document.update(outer)
    newline = "\r\n" if "\r\n" in text else "\n"
    words = tomlkit.dumps(document).strip("\n") + "\n"
    bare = _without_mark(text)
    gap = "" if not bare else "\n" if bare.endswith("\n") else "\n\n"
    piece = (gap + words).replace("\n", newline)
    return Edited(text + piece, piece)


def _without_mark(text: str) -> str:
    """The text without a byte order mark."""
    return text.removeprefix("\ufeff")


def _with_value(
    table: dict[str, Any], keys: Sequence[str], value: Any
) -> dict[str, Any]:
    """Nested dictionaries with a value set, or removed if it is ``None``."""
    key, *inner_keys = keys
    inner = table.get(key, {})
    if inner_keys and not isinstance(inner, dict):
        raise UnreadableError(f"{key} is not a table")
    if inner_keys:
        return {**table, key: _with_value(inner, inner_keys, value)}
    if value is None:
        return {name: table[name] for name in table if name != key}
    return {**table, key: value}


def _has_values(
    text: str, intended: dict[str, Any], removed: Sequence[str] = ()
) -> bool:
    """Whether a text has exactly these values; empty tables above ``removed`` may be
    missing."""
    try:
        values = parse(text)
    except UnreadableError:
        return False
    return repr(_normal_form(values, removed)) == repr(_normal_form(intended, removed))


def _normal_form(table: dict[str, Any], removed: Sequence[str]) -> dict[str, Any]:
    """The table in a fixed order, with the tables above ``removed`` even if they are
    missing."""
    if len(removed) > 1:
        table = {removed[0]: {}, **table}
    return {
        name: _normal_form(value, removed[1:] if removed and name == removed[0] else ())
        if isinstance(value, dict)
        else value
        for name, value in sorted(table.items())
    }


def _comments(text: str) -> list[str]:
    """The comments of a valid text, in a fixed order: an edit may move them."""
    comments = (match["comment"] for match in _STRING_OR_COMMENT.finditer(text))
    return sorted(comment.strip() for comment in comments if comment)

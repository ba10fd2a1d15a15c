"""TOML, edited by tomlkit, which keeps comments, order and blanks.

What it makes of a text is read again by Python's own parser and compared with
what was meant, and no comment may be lost: an edit that would do anything else
is refused.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.install.formats.jsonc import Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")

_BARE_NEWLINE = re.compile(r"(?<!\r)\n")


class Edited(NamedTuple):
    """A text and, where a piece of it stands for itself, that piece."""

    text: str
    piece: str = ""


def parse(text: str) -> dict[str, Any]:
    """The values of a text. Raises Unreadable."""
    try:
        return tomllib.loads(_bare(text).replace("\r\n", "\n"))
    except ValueError as error:  # a number with too many digits, too
        found = _PLACE.search(str(error))
        line, column = (int(found[1]), int(found[2])) if found else (0, 0)
        problem = _PLACE.sub("", str(error)).strip()
        raise Unreadable(problem[:1].lower() + problem[1:], line, column) from None


def find(text: str, keys: Sequence[str]) -> Any:
    """The value at a path of keys; ``None`` if there is none."""
    value: Any = parse(text)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put(text: str, keys: Sequence[str], value: Any, piece: str = "") -> Edited:
    """The text with a value at a path of keys; ``piece`` is what was said of one
    that it takes the place of. Raises Unreadable."""
    wanted = _with(parse(text), keys, value)
    stands = bool(piece) and text.count(piece) == 1
    if isinstance(value, dict) and (stands or find(text, keys) is None):
        before, _, after = text.partition(piece) if stands else (text, "", "")
        edited = _appended(before, keys, value)
        if _is(edited.text + after, wanted):
            return Edited(edited.text + after, edited.piece)

    def edit(table: Any) -> None:
        table[keys[-1]] = value

    return Edited(_edited(text, keys[:-1], edit, wanted))


def add(text: str, keys: Sequence[str], item: Any) -> Edited:
    """The text with an item in the array at a path of keys. Raises Unreadable."""
    found = find(text, keys)
    if found is None:
        return put(text, keys, [item])
    if not isinstance(found, list):
        raise Unreadable(f"{'.'.join(keys)} is no array")
    wanted = _with(parse(text), keys, [*found, item])
    edited = _edited(text, keys[:-1], lambda one: one[keys[-1]].append(item), wanted)
    return Edited(edited)


def without(text: str, keys: Sequence[str], piece: str = "") -> str:
    """The text without a key; of the tables above it, those stay that have
    anything. ``piece`` is what `put` said. Raises Unreadable."""
    wanted = _with(parse(text), keys, None)
    for one in (piece, *_headers(text, keys)):
        if one and text.count(one) == 1:
            shorter = text.replace(one, "")
            if _is(shorter, wanted, keys):
                return shorter

    def edit(table: Any) -> None:
        del table[keys[-1]]

    return _edited(text, keys[:-1], edit, wanted, gone=keys)


def _headers(text: str, keys: Sequence[str]) -> tuple[str, ...]:
    """How a table without keys stands in a text: what follows its line belongs to
    whoever wrote it, though tomlkit would take it along."""
    words = ".".join(map(re.escape, keys))
    found = re.search(rf"^(\r?\n)?(\[{words}\]\r?\n)", text, re.MULTILINE)
    return (found[0], found[2]) if found else ()


def without_item(text: str, keys: Sequence[str], item: Any) -> str:
    """The text without an item of an array. Raises Unreadable."""
    found = list(find(text, keys))
    index = found.index(item)
    wanted = _with(parse(text), keys, found[:index] + found[index + 1 :])

    def edit(table: Any) -> None:
        del table[keys[-1]][index]

    return _edited(text, keys[:-1], edit, wanted)


def _edited(
    text: str,
    keys: Sequence[str],
    edit: Any,
    wanted: dict[str, Any],
    gone: Sequence[str] = (),
) -> str:
    """The text after an edit of the table at a path, which is made if need be; of
    the tables above ``gone``, empty ones may be gone too."""
    import tomlkit  # only installing needs it
    from tomlkit.exceptions import TOMLKitError

    bare = _bare(text)
    try:
        document = tomlkit.parse(bare)
        table: Any = document
        for key in keys:
            if key not in table:
                table[key] = tomlkit.table(is_super_table=False)
            table = table[key]
        edit(table)
        result = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, KeyError) as error:
        raise Unreadable(f"this cannot be changed in place: {error}") from error
    if "\r\n" in bare and not _BARE_NEWLINE.search(bare):
        result = _BARE_NEWLINE.sub("\r\n", result)
    result = text[: len(text) - len(bare)] + result
    if not _is(result, wanted, gone) or _comments(result) != _comments(text):
        raise Unreadable("this cannot be changed in place without changing more")
    return result


def _appended(text: str, keys: Sequence[str], value: dict[str, Any]) -> Edited:
    """The text with a table at its end."""
    import tomlkit

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
    bare = _bare(text)
    gap = "" if not bare else "\n" if bare.endswith("\n") else "\n\n"
    piece = (gap + words).replace("\n", newline)
    return Edited(text + piece, piece)


def _bare(text: str) -> str:
    return text.removeprefix("\ufeff")


def _with(table: dict[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    """Nested dictionaries with a value put in, or with ``None`` taken out."""
    key, *rest = keys
    found = table.get(key, {})
    if rest and not isinstance(found, dict):
        raise Unreadable(f"{key} is no table")
    if rest:
        return {**table, key: _with(found, rest, value)}
    if value is None:
        return {name: one for name, one in table.items() if name != key}
    return {**table, key: value}


def _is(text: str, wanted: dict[str, Any], keys: Sequence[str] = ()) -> bool:
    """Whether a text says just that; tables above ``keys`` may be gone if they
    are empty."""
    try:
        found = parse(text)
    except Unreadable:
        return False
    return repr(_filled(found, keys)) == repr(_filled(wanted, keys))


def _filled(table: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """The table in a fixed order; with those above ``keys``, should they lack."""
    if len(keys) > 1:
        table = {keys[0]: {}, **table}
    return {
        name: _filled(one, keys[1:] if keys and name == keys[0] else ())
        if isinstance(one, dict)
        else one
        for name, one in sorted(table.items())
    }


def _comments(text: str) -> list[str]:
    """How lines with a comment end: what stands before one may be edited."""
    lines = (line.rpartition("#") for line in text.splitlines())
    return sorted(end.strip() for _, mark, end in lines if mark)

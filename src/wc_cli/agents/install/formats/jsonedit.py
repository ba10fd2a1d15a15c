"""JSON with comments, edited in place: all other bytes stay as they are.

An edit replaces spans of the text. The inserted text is formatted like its neighbours,
without comments, and without commas after the last element.
"""

from __future__ import annotations

import json
import re

from wc_cli.agents.install.formats import jsonc
from wc_cli.agents.install.formats.jsonc import Node, UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_SAME_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")

# Surrogates: a value may contain them as escapes, but a file cannot be written with
# them.
_SURROGATES = re.compile("[\ud800-\udfff]")


def set_value(text: str, keys: Sequence[str], value: Any) -> str:
    """The text with a value at a path of keys; missing objects on the path are created.
    Raises UnreadableError, also if the path leads through a value that is not an
    object."""
    root = jsonc.parse(text)
    if root is None:
        return _with_first_value(text, _in_objects(keys, value))
    node = root
    for depth, key in enumerate(keys):
        if not node.is_object:
            problem = f"{_path_text(keys[:depth])} is not an object"
            raise UnreadableError(problem, *_place_of(text, node))
        member = node.member(key)
        if member is None:
            nested = _in_objects(keys[depth + 1 :], value)
            return _with_element(text, node, nested, key)
        node = member.node
    return with_value(text, node, value)


def append_item(text: str, keys: Sequence[str], item: Any) -> str:
    """The text with an item at the end of the array at a path of keys, which is created
    if missing. Raises UnreadableError."""
    node = jsonc.find(text, keys)
    if node is None:
        return set_value(text, keys, [item])
    if node.elements is None or node.is_object:
        raise UnreadableError(
            f"{_path_text(keys)} is not an array", *_place_of(text, node)
        )
    return _with_element(text, node, item, None)


def with_value(text: str, node: Node, value: Any) -> str:
    """The text with a node's value replaced."""
    indent = _indent_at(text, node.start)
    words = _as_json(text, value, indent, inline=_is_inline(text))
    return text[: node.start] + words + text[node.end :]


def without_element(text: str, parent: Node, index: int) -> str:
    """The text without an element of an object or array: removes exactly what
    `set_value` and `append_item` insert."""
    elements = parent.elements or ()
    element = elements[index]
    before = elements[index - 1] if index else None
    end = max(element.comma, element.node.end)
    least = parent.start + 1 if before is None else before.comma
    start = _blank_before(text, least, element.start, end)
    is_last = index == len(elements) - 1
    if is_last and before is not None and element.comma < 0:
        # The comma before it no longer separates anything.
        comma = before.comma
        return text[: comma - 1] + text[comma:start] + text[end:]
    alone = len(elements) == 1
    if alone and not _text_around(text, parent, element.start, end).strip():
        return text[: parent.start + 1] + text[parent.end - 1 :]
    if start == element.start:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    return text[:start] + text[end:]


def _text_around(text: str, parent: Node, start: int, end: int) -> str:
    """The text of an object or array before and after a span."""
    return text[parent.start + 1 : start] + text[end : parent.end - 1]


def _blank_before(text: str, least: int, at: int, end: int) -> int:
    """The offset, at least ``least``, of the line break and blanks before an element.

    What follows the element at ``end`` must not end up behind a comment.
    """
    gap = text[least:at]
    kept = gap.rstrip(" \t")
    if not kept:
        return least
    if not kept.endswith("\n"):
        return at
    kept = kept[:-1].removesuffix("\r")
    line_end = re.match(r"[ \t]*(?:[\r\n]|\Z)", text[end:])
    if line_end is None and "//" in kept.rpartition("\n")[2]:
        return at
    return least + len(kept)


def _path_text(keys: Sequence[str]) -> str:
    return ".".join(keys) or "the whole"


def _place_of(text: str, node: Node) -> tuple[int, int]:
    return jsonc.place(text, node.start)


def _in_objects(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _with_first_value(text: str, value: Any) -> str:
    """A text of blanks and comments, followed by a value."""
    end = _newline(text)
    gap = "" if not text.lstrip("\ufeff") or text.endswith("\n") else end
    return f"{text}{gap}{_as_json(text, value, '', inline=False)}{end}"


def _newline(text: str) -> str:
    match = re.search(r"\r\n|\n", text)
    return match[0] if match else "\n"


def _indent_step(text: str) -> str:
    """One step of indentation: that of the first indented element."""
    root = jsonc.parse(text)
    for element in (root.elements or ()) if root else ():
        indent = _indent_at(text, element.start)
        if indent:
            return indent
    return "  "


def _is_inline(text: str) -> bool:
    """Whether a text has all of its elements on one line."""
    root = jsonc.parse(text)
    if root is None or not root.elements:
        return False
    return "\n" not in text[root.start : root.end]


def _indent_at(text: str, at: int) -> str:
    """The blanks at the start of the line of an offset."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _as_json(text: str, value: Any, indent: str, *, inline: bool) -> str:
    """A value as JSON, formatted like the text; ``indent`` is that of its line."""
    indented = None if inline else _indent_step(text)
    words = json.dumps(value, ensure_ascii=False, indent=indented)
    if not words.isascii() and _SURROGATES.search(words):
        words = json.dumps(value, indent=indented)
    return words.replace("\n", _newline(text) + indent)


def _with_element(text: str, parent: Node, value: Any, key: str | None) -> str:
    """The text with another element at the end of an object or array."""
    elements = parent.elements or ()
    if not elements:
        return _with_first_element(text, parent, value, key)
    inline = "\n" not in text[parent.start : parent.end]
    indent = _indent_at(text, elements[-1].start)
    words = _member_prefix(key) + _as_json(text, value, indent, inline=inline)
    end = elements[-1].comma
    if end < 0:
        end = elements[-1].node.end
        text = text[:end] + "," + text[end:]
        end += 1
    else:
        words += ","
    if inline:
        return f"{text[:end]} {words}{text[end:]}"
    end = _after_comment(text, end)
    return f"{text[:end]}{_newline(text)}{indent}{words}{text[end:]}"


def _with_first_element(text: str, parent: Node, value: Any, key: str | None) -> str:
    """The text with the first element of an object or array; existing comments stay
    before the element."""
    start, end = parent.start + 1, parent.end - 1
    inside = text[start:end]
    inline = _is_inline(text)
    outer = _indent_at(text, parent.start)
    indent = outer + _indent_step(text)
    words = _member_prefix(key) + _as_json(text, value, indent, inline=inline)
    if inline and not inside.strip():
        return text[:start] + words + text[end:]
    newline = _newline(text)
    comments = inside.rstrip() if inside.strip() else ""
    tail = inside[len(comments) :]
    if "\n" not in tail:
        tail = newline + outer
    step = "" if inline else indent
    return f"{text[:start]}{comments}{newline}{step}{words}{tail}{text[end:]}"


def _member_prefix(key: str | None) -> str:
    """What precedes the value of a member; nothing for an item."""
    return "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "


def _after_comment(text: str, at: int) -> int:
    """The end of the line of an offset, if only blanks and comments follow on that
    line."""
    match = _SAME_LINE.match(text, at)
    end = match.end() if match else at
    return end if re.match(r"[\r\n]", text[end:]) else at

"""JSON with comments, edited where it stands: all other bytes stay as they are.

An edit replaces spans. What is put in is written as its neighbours are; comments and
commas after the last element are never introduced.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from wc_cli.install.formats import jsonc
from wc_cli.install.formats.jsonc import Node, Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

_SAME_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")

# Halves of characters, which a value may have as an escape, and a file never.
_HALVES = re.compile("[\ud800-\udfff]")


def put(text: str, keys: Sequence[str], value: Any) -> str:
    """The text with a value at a path of keys; what is missing of the path is
    made. Raises Unreadable, also where the path leads through what is no object."""
    root = jsonc.parse(text)
    if root is None:
        return _begun(text, _nested(keys, value))
    node = root
    for depth, key in enumerate(keys):
        if not node.is_object:
            raise Unreadable(f"{_named(keys[:depth])} is no object", *_at(text, node))
        member = node.member(key)
        if member is None:
            nested = _nested(keys[depth + 1 :], value)
            return _inserted(text, node, nested, key)
        node = member.node
    return replaced(text, node, value)


def add(text: str, keys: Sequence[str], item: Any) -> str:
    """The text with an item at the end of the array at a path of keys, which is
    made if need be. Raises Unreadable."""
    node = jsonc.find(text, keys)
    if node is None:
        return put(text, keys, [item])
    if node.elements is None or node.is_object:
        raise Unreadable(f"{_named(keys)} is no array", *_at(text, node))
    return _inserted(text, node, item, None)


def replaced(text: str, node: Node, value: Any) -> str:
    """The text with another value in the place of a node."""
    words = _written(text, value, _indent_at(text, node.start), _is_inline(text))
    return text[: node.start] + words + text[node.end :]


def removed(text: str, parent: Node, index: int) -> str:
    """The text without one element of an object or array: what `put` and `add`
    insert is taken out exactly."""
    elements = parent.elements or ()
    one = elements[index]
    end = one.comma if one.comma >= 0 else one.node.end
    before = elements[index - 1] if index else None
    least = parent.start + 1 if before is None else before.comma
    start = _blank_before(text, least, one.start, end)
    if index == len(elements) - 1 and before is not None and one.comma < 0:
        # The comma before it has nothing to part any more.
        comma = before.comma
        return text[: comma - 1] + text[comma:start] + text[end:]
    if len(elements) == 1 and not _around(text, parent, one.start, end).strip():
        return text[: parent.start + 1] + text[parent.end - 1 :]
    if start == one.start:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    return text[:start] + text[end:]


def _around(text: str, parent: Node, start: int, end: int) -> str:
    """What an object or array has before and after a span."""
    return text[parent.start + 1 : start] + text[end : parent.end - 1]


def _blank_before(text: str, least: int, at: int, end: int) -> int:
    """Where the line break and the blanks before an element begin, not before
    ``least``; what follows the element at ``end`` must not come to stand behind a
    comment."""
    gap = text[least:at]
    kept = gap.rstrip(" \t")
    if not kept:
        return least
    if not kept.endswith("\n"):
        return at
    kept = kept[:-1].removesuffix("\r")
    rest = re.match(r"[ \t]*(?:[\r\n]|\Z)", text[end:])
    if rest is None and "//" in kept.rpartition("\n")[2]:
        return at
    return least + len(kept)


def _named(keys: Sequence[str]) -> str:
    return ".".join(keys) or "the whole"


def _at(text: str, node: Node) -> tuple[int, int]:
    return jsonc.place(text, node.start)


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _begun(text: str, value: Any) -> str:
    """A text of blanks and comments with a value at its end."""
    end = _newline(text)
    gap = "" if not text.lstrip("\ufeff") or text.endswith("\n") else end
    return f"{text}{gap}{_written(text, value, '', inline=False)}{end}"


def _newline(text: str) -> str:
    found = re.search(r"\r\n|\n", text)
    return found[0] if found else "\n"


def _unit(text: str) -> str:
    """One step of indentation: that of the first line which has any and does
    not belong to a comment."""
    root = jsonc.parse(text)
    for one in (root.elements or ()) if root else ():
        indent = _indent_at(text, one.start)
        if indent:
            return indent
    return "  "


def _is_inline(text: str) -> bool:
    """Whether a text is all on one line."""
    root = jsonc.parse(text)
    if root is None or not root.elements:
        return False
    return "\n" not in text[root.start : root.end]


def _indent_at(text: str, at: int) -> str:
    """The blanks that the line of an offset begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(text: str, value: Any, indent: str, inline: bool) -> str:  # noqa: FBT001
    indented = None if inline else _unit(text)
    words = json.dumps(value, ensure_ascii=False, indent=indented)
    if not words.isascii() and _HALVES.search(words):
        words = json.dumps(value, indent=indented)
    return words.replace("\n", _newline(text) + indent)


def _inserted(text: str, parent: Node, value: Any, key: str | None) -> str:
    """The text with one more element at the end of an object or array."""
    elements = parent.elements or ()
    inner = text[parent.start : parent.end]
    inline = "\n" not in inner if elements else _is_inline(text)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    outer = _indent_at(text, parent.start)
    step = _indent_at(text, elements[-1].start) if elements else outer + _unit(text)
    written = name + _written(text, value, step, inline)
    if not elements:
        return _filled(text, parent, written, None if inline else step)
    last = elements[-1]
    gap = " " if inline else _newline(text) + step
    if last.comma < 0:
        at = last.node.end
        text = text[:at] + "," + text[at:]
        at = after = at + 1
    else:
        at = after = last.comma
        written += ","
    if not inline:
        match = _SAME_LINE.match(text, after)
        after = match.end() if match else after
        at = after if re.match(r"[\r\n]", text[after:]) else at
    return text[:at] + gap + written + text[at:]


def _filled(text: str, parent: Node, written: str, step: str | None) -> str:
    """The text with the first element of an object or array; comments in it
    stay before it."""
    start, end = parent.start + 1, parent.end - 1
    inner = text[start:end]
    if step is None and not inner.strip():
        return text[:start] + written + text[end:]
    newline = _newline(text)
    step = step or ""
    kept = inner.rstrip() if inner.strip() else ""
    tail = inner[len(kept) :]
    if "\n" not in tail:
        tail = newline + _indent_at(text, parent.start)
    return text[:start] + kept + newline + step + written + tail + text[end:]

"""JSON with comments, edited where it stands: all other bytes stay as they are.

A text is read into nodes that know where they begin and end; an edit replaces
spans. Comments (``//`` and ``/* */``) and commas after the last element are
understood, and never introduced.

A module of our own because json-five, which keeps comments too, changes nothing by
itself, takes what is not JSON, and needs 200 ms to be imported; jsonc-edit starts
Node.
"""

from __future__ import annotations

import functools
import json
import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

# Deeper than any settings file, and no danger to Python's stack.
_DEEPEST = 100
# What blanks and comments begin with.
_BLANKS = frozenset(" \t\r\n/")
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_SAME_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')


class Unreadable(ValueError):  # noqa: N818 - what it is, not that it is an error
    """What is wrong with a text, and where (both from 1)."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


class Element(NamedTuple):
    """A member of an object (``start`` is its key's) or an item of an array;
    ``comma`` is where its comma ends, -1 without one."""

    key: str | None
    start: int
    node: Node
    comma: int


class Node(NamedTuple):
    """A value and its span; ``elements`` of an object or array, else ``None``."""

    start: int
    end: int
    value: Any
    elements: tuple[Element, ...] | None = None

    @property
    def is_object(self) -> bool:
        """Whether it has members, or could have."""
        return isinstance(self.value, dict)

    def member(self, key: str) -> Element | None:
        """The member of that name. Raises Unreadable if there are two."""
        found = [one for one in self.elements or () if one.key == key]
        if len(found) > 1:
            raise Unreadable(f'"{key}" is there twice')
        return found[0] if found else None


def place(text: str, at: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    lines = re.split(r"\r\n?|\n", text[:at])
    return len(lines), len(lines[-1]) + 1


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def fail(self, problem: str, at: int) -> NoReturn:
        raise Unreadable(problem, *place(self.text, at))

    def blank(self, at: int) -> int:
        if self.text[at : at + 1] not in _BLANKS:
            return at
        match = _BLANK.match(self.text, at)
        end = match.end() if match else at
        if self.text.startswith("/*", end):
            self.fail("a comment without an end", end)
        return end

    def value(self, at: int, depth: int = 0) -> Node:
        first = self.text[at : at + 1]
        if depth > _DEEPEST:
            self.fail("nested too deeply", at)
        if first in ("{", "["):
            return self.container(at, depth)
        if first == '"':
            return self.string(at)
        match = _SCALAR.match(self.text, at)
        if match is None:
            self.fail("a value is missing" if first in ",]}" else "not JSON", at)
        return Node(at, match.end(), json.loads(match[0]))

    def string(self, at: int) -> Node:
        match = _STRING.match(self.text, at)
        if match is None:
            self.fail("a string without an end", at)
        if "\\" not in match[0]:
            return Node(at, match.end(), match[0][1:-1])
        try:
            return Node(at, match.end(), json.loads(match[0]))
        except ValueError:
            self.fail("a string with a wrong escape", at)

    def container(self, at: int, depth: int) -> Node:
        start, of_keys = at, self.text[at] == "{"
        closing = "}" if of_keys else "]"
        found: list[Element] = []
        at = self.blank(at + 1)
        while self.text[at : at + 1] != closing:
            if found and found[-1].comma < 0:
                self.fail(f"a comma or {closing} is missing", at)
            begin, key = at, None
            if of_keys:
                key, at = self.key(at)
            node = self.value(at, depth + 1)
            at = self.blank(node.end)
            comma = -1
            if self.text[at : at + 1] == ",":
                comma = at + 1
                at = self.blank(comma)
            found.append(Element(key, begin, node, comma))
        nodes = [(one.key, one.node.value) for one in found]
        value: Any = dict(nodes) if of_keys else [one for _, one in nodes]
        return Node(start, at + 1, value, tuple(found))

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] != '"':
            self.fail("a key in quotes is missing", at)
        node = self.string(at)
        at = self.blank(node.end)
        if self.text[at : at + 1] != ":":
            self.fail("a colon is missing", at)
        return node.value, self.blank(at + 1)


# One edit reads a text several times, and some files of settings have megabytes.
@functools.lru_cache(maxsize=4)
def parse(text: str) -> Node | None:
    """The value of a text; ``None`` where it has nothing but blanks and comments.

    Raises Unreadable.
    """
    reader = _Reader(text)
    at = reader.blank(1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    node = reader.value(at)
    end = reader.blank(node.end)
    if end != len(text):
        reader.fail("there is something after the end", end)
    return node


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: ``1``, ``true`` and ``1.0`` differ."""
    texts = (json.dumps(value, sort_keys=True) for value in (one, other))
    return next(texts) == next(texts)


def find(text: str, keys: Sequence[str]) -> Node | None:
    """The node at a path of keys. Raises Unreadable."""
    node = parse(text)
    for key in keys:
        member = node.member(key) if node is not None else None
        node = member.node if member is not None else None
    return node


def put(text: str, keys: Sequence[str], value: Any) -> str:
    """The text with a value at a path of keys; what is missing of the path is
    made. Raises Unreadable, also where the path leads through what is no object."""
    root = parse(text)
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
    node = find(text, keys)
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
    return place(text, node.start)


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
    root = parse(text)
    for one in (root.elements or ()) if root else ():
        indent = _indent_at(text, one.start)
        if indent:
            return indent
    return "  "


def _is_inline(text: str) -> bool:
    """Whether a text is all on one line."""
    root = parse(text)
    if root is None or not root.elements:
        return False
    return "\n" not in text[root.start : root.end]


def _indent_at(text: str, at: int) -> str:
    """The blanks that the line of an offset begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(text: str, value: Any, indent: str, inline: bool) -> str:  # noqa: FBT001
    if inline:
        return json.dumps(value, ensure_ascii=False)
    words = json.dumps(value, ensure_ascii=False, indent=_unit(text))
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

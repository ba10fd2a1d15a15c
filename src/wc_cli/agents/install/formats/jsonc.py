"""JSON with comments, parsed into nodes that know their positions.

Comments (``//`` and ``/* */``) and commas after the last element are accepted. An edit
replaces spans of the text: all other bytes stay as they are. The inserted text is
formatted like its neighbours, without comments, and without commas after the last
element.

No library does this: json-five keeps comments too, but it cannot edit and accepts texts
that are not JSON; jsonc-edit starts Node.
"""

from __future__ import annotations

import functools
import json
import re

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

# Deeper than any settings file, and safe for Python's stack.
_DEEPEST = 100
# The first characters of blanks and comments.
_BLANKS = frozenset(" \t\r\n/")
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')

_SAME_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")

# Surrogates: a value may contain them as escapes, but a file cannot be written with
# them.
_SURROGATES = re.compile("[\ud800-\udfff]")
# Not a value of any format: stands for a missing value.
ABSENT = object()


class Edited(NamedTuple):
    """A text with a value inserted.

    ``piece`` is the text that `without` needs to remove exactly the same, and ``made``
    are the paths of the objects and arrays that were created for the value.
    """

    text: str
    piece: str = ""
    made: tuple[tuple[str, ...], ...] = ()


class UnreadableError(ValueError):
    """A text cannot be parsed or edited: the problem, with its line and column (from 1;
    0 if unknown)."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


class Element(NamedTuple):
    """A member of an object (``start`` is that of its key) or an item of an array.

    ``comma`` is the end of its comma, -1 if it has none.
    """

    key: str | None
    start: int
    node: Node
    comma: int


class Node(NamedTuple):
    """A value and its span; only objects and arrays have ``elements``."""

    start: int
    end: int
    value: Any
    elements: tuple[Element, ...] | None = None

    @property
    def is_object(self) -> bool:
        """Whether the value is an object, which may be empty."""
        return isinstance(self.value, dict)

    def member(self, key: str) -> Element | None:
        """The member of that name. Raises UnreadableError if it is not unique."""
        members = [element for element in self.elements or () if element.key == key]
        if len(members) > 1:
            raise UnreadableError(f'"{key}" is there twice')
        return members[0] if members else None


def place(text: str, at: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    lines = re.split(r"\r\n?|\n", text[:at])
    return len(lines), len(lines[-1]) + 1


class _JsonReader:
    """A recursive descent parser; its methods take an offset and raise
    UnreadableError."""

    def __init__(self, text: str) -> None:
        self.text = text

    def fail(self, problem: str, at: int) -> NoReturn:
        raise UnreadableError(problem, *place(self.text, at))

    def skip_blanks(self, at: int) -> int:
        if self.text[at : at + 1] not in _BLANKS:
            return at
        match = _BLANK.match(self.text, at)
        end = match.end() if match else at
        if self.text.startswith("/*", end):
            self.fail("unterminated comment", end)
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
        try:
            return Node(at, match.end(), json.loads(match[0]))
        except ValueError:
            self.fail("a number with too many digits", at)

    def string(self, at: int) -> Node:
        match = _STRING.match(self.text, at)
        if match is None:
            self.fail("unterminated string", at)
        if "\\" not in match[0]:
            return Node(at, match.end(), match[0][1:-1])
        try:
            return Node(at, match.end(), json.loads(match[0]))
        except ValueError:
            self.fail("invalid escape in a string", at)

    def container(self, at: int, depth: int) -> Node:
        start, of_keys = at, self.text[at] == "{"
        closing = "}" if of_keys else "]"
        elements: list[Element] = []
        at = self.skip_blanks(at + 1)
        while self.text[at : at + 1] != closing:
            if elements and elements[-1].comma < 0:
                self.fail(f"a comma or {closing} is missing", at)
            begin, key = at, None
            if of_keys:
                key, at = self.key(at)
            node = self.value(at, depth + 1)
            at = self.skip_blanks(node.end)
            comma = -1
            if self.text[at : at + 1] == ",":
                comma = at + 1
                at = self.skip_blanks(comma)
            elements.append(Element(key, begin, node, comma))
        pairs = [(element.key, element.node.value) for element in elements]
        value: Any = dict(pairs) if of_keys else [value for _, value in pairs]
        return Node(start, at + 1, value, tuple(elements))

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] != '"':
            self.fail("a key in quotes is missing", at)
        node = self.string(at)
        at = self.skip_blanks(node.end)
        if self.text[at : at + 1] != ":":
            self.fail("a colon is missing", at)
        return node.value, self.skip_blanks(at + 1)


# Cached: an edit parses a text several times, and some settings have megabytes.
@functools.lru_cache(maxsize=4)
def parse(text: str) -> Node | None:
    """The value of a text; ``None`` if it has only blanks and comments.

    Raises UnreadableError.
    """
    reader = _JsonReader(text)
    at = reader.skip_blanks(1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    node = reader.value(at)
    end = reader.skip_blanks(node.end)
    if end != len(text):
        reader.fail("unexpected text after the end", end)
    return node


def are_same(first: Any, second: Any) -> bool:
    """Whether two values are the same JSON: ``1``, ``true`` and ``1.0`` differ."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def find(text: str, keys: Sequence[str]) -> Node | None:
    """The node at a path of keys, if there is one. Raises UnreadableError."""
    node = parse(text)
    for key in keys:
        member = node.member(key) if node is not None else None
        node = member.node if member is not None else None
    return node


def set_value(
    text: str,
    keys: Sequence[str],
    value: Any,
    piece: str = "",  # noqa: ARG001
) -> Edited:
    """The text with a value at a path of keys; missing objects on the path are created.
    Raises UnreadableError, also if the path leads through a value that is not an
    object."""
    root = parse(text)
    if root is None:
        return Edited(_with_first_value(text, _in_objects(keys, value)))
    node = root
    for depth, key in enumerate(keys):
        if not node.is_object:
            problem = f"{_path_text(keys[:depth])} is not an object"
            raise UnreadableError(problem, *place(text, node.start))
        member = node.member(key)
        if member is None:
            nested = _in_objects(keys[depth + 1 :], value)
            return Edited(_with_element(text, node, nested, key))
        node = member.node
    indent = _indent_at(text, node.start)
    words = _as_json(text, value, indent, inline=_is_inline(text))
    return Edited(text[: node.start] + words + text[node.end :])


def append_item(text: str, keys: Sequence[str], item: Any) -> Edited:
    """The text with an item at the end of the array at a path of keys, which is created
    if missing. Raises UnreadableError."""
    node = find(text, keys)
    if node is None:
        return set_value(text, keys, [item])
    if node.elements is None or node.is_object:
        raise UnreadableError(
            f"{_path_text(keys)} is not an array", *place(text, node.start)
        )
    return Edited(_with_element(text, node, item, None))


def value_at(text: str, keys: Sequence[str]) -> Any:
    """The value at a path of keys; ABSENT if there is none. Raises UnreadableError."""
    node = find(text, keys)
    return ABSENT if node is None else node.value


def raw_text(text: str, keys: Sequence[str]) -> str:
    """The value at a path of keys, exactly as written in the text."""
    node = find(text, keys)
    return text[node.start : node.end] if node is not None else ""


def with_raw(text: str, keys: Sequence[str], words: str) -> str:
    """The text with ``words``, as returned by `raw_text`, as the value at a path."""
    node = find(text, keys)
    return text if node is None else text[: node.start] + words + text[node.end :]


def without(text: str, keys: Sequence[str], piece: str = "") -> str:  # noqa: ARG001
    """The text without a member, which must be there."""
    parent = find(text, keys[:-1])
    names = [element.key for element in (parent.elements if parent else None) or ()]
    index = names.index(keys[-1])
    return text if parent is None else without_element(text, parent, index)


def without_item(text: str, keys: Sequence[str], item: Any) -> str:
    """The text without an item of an array, which must be there."""
    node = find(text, keys)
    elements = (node.elements if node else None) or ()
    matches = [are_same(element.node.value, item) for element in elements]
    index = matches.index(True)
    return text if node is None else without_element(text, node, index)


def without_empty(text: str, keys: Sequence[str]) -> str:
    """The text without an object or array, if it is there and has not even comments."""
    node = find(text, keys)
    empty = node is not None and node.elements == ()
    if node is None or not empty or text[node.start + 1 : node.end - 1].strip():
        return text
    if keys:
        return without(text, keys)
    outside = text[: node.start] + text[node.end :]
    return outside if outside.strip("\ufeff \t\r\n") else ""


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
    around = text[parent.start + 1 : element.start] + text[end : parent.end - 1]
    if len(elements) == 1 and not around.strip():
        return text[: parent.start + 1] + text[parent.end - 1 :]
    if start == element.start:
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    return text[:start] + text[end:]


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
    root = parse(text)
    for element in (root.elements or ()) if root else ():
        indent = _indent_at(text, element.start)
        if indent:
            return indent
    return "  "


def _is_inline(text: str) -> bool:
    """Whether a text has all of its elements on one line."""
    root = parse(text)
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

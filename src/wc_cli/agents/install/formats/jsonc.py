"""JSON with comments, parsed into nodes that know their positions.

Comments (``//`` and ``/* */``) and commas after the last element are accepted.
`jsonedit` edits texts by these nodes.

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

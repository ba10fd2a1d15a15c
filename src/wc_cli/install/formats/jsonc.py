"""JSON with comments, read into nodes that know where they begin and end.

Comments (``//`` and ``/* */``) and commas after the last element are understood.
`jsonedit` changes texts by these nodes.

A module of our own because json-five, which keeps comments too, changes nothing by
itself, takes what is not JSON, and needs 200 ms to be imported; jsonc-edit starts
Node.
"""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

# Deeper than any settings file, and no danger to Python's stack.
_DEEPEST = 100
# What blanks and comments begin with.
_BLANKS = frozenset(" \t\r\n/")
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
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


class _JsonReader:
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
        try:
            return Node(at, match.end(), json.loads(match[0]))
        except ValueError:
            self.fail("a number with too many digits", at)

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
    reader = _JsonReader(text)
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

"""What a source file defines: functions, classes, methods, constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.graph.languages import language_of
from wc_core.graph.parsing import MAX_BYTES, grammar
from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.graph.parsing import Grammar

_SEPARATOR = "."
# What stands around a definition and belongs to it.
_WRAPPERS = frozenset({"decorated_definition", "export_statement"})


class Definition(NamedTuple):
    """A definition: its name, after those that it is in (``Login.check``), and its
    first and last line, counted from 1."""

    name: str
    first: int
    last: int

    @property
    def simple_name(self) -> str:
        """The name without those that it is in."""
        return self.name.rpartition(_SEPARATOR)[2]

    @property
    def is_top(self) -> bool:
        """Whether it is in no other definition."""
        return _SEPARATOR not in self.name


class _Span(NamedTuple):
    """A definition before its full name is known: where it starts and ends, in bytes
    and in lines. A ``scope`` is no definition itself."""

    start: int
    end: int
    first: int
    last: int
    name: str
    is_scope: bool


def definitions(path: str, source: bytes) -> tuple[Definition, ...] | None:
    """What a file defines, in the order of the file. ``None`` if that is not known: the
    language is not, its grammar is not installed, or the file is very large."""
    language = language_of(path)
    parser = grammar(language) if language is not None else None
    if parser is None or len(source) > MAX_BYTES:
        return None
    return definitions_in(parser, parser.root(source))


def definitions_in(parser: Grammar, root: Any) -> tuple[Definition, ...]:
    """What is defined in the tree of a file."""
    spans = []
    for match in parser.matches(parser.language.definitions, root):
        node = match.node("definition") or match.node("scope")
        if node is None or match.node("name") is None:
            continue
        owner = match.text("owner")
        name = f"{owner}{_SEPARATOR}" * bool(owner) + match.text("name")
        is_scope = match.node("definition") is None
        spans.append(_span(node, name, is_scope=is_scope))
    return tuple(_named(sorted(set(spans), key=lambda span: (span.start, -span.end))))


def _span(node: Any, name: str, *, is_scope: bool) -> _Span:
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    return _Span(node.start_byte, node.end_byte, first, last, name, is_scope)


def _named(spans: Iterable[_Span]) -> Iterable[Definition]:
    """The definitions with their full names; outer ones come before those in them."""
    outer: list[tuple[int, str]] = []
    for span in spans:
        while outer and outer[-1][0] < span.end:
            outer.pop()
        name = f"{outer[-1][1]}{_SEPARATOR}{span.name}" if outer else span.name
        outer.append((span.end, name))
        if not span.is_scope:
            yield Definition(name, span.first, span.last)


def enclosing(defined: Iterable[Definition], first: int, last: int) -> list[Definition]:
    """The innermost definitions that lines ``first`` to ``last`` touch, in the order of
    the file. If the last is before the first, it is the place between the two."""
    touched = [item for item in defined if item.first <= last and item.last >= first]
    return [
        item
        for item in touched
        if not any(_replaces(inner, item, first, last) for inner in touched)
    ]


def _replaces(inner: Definition, outer: Definition, first: int, last: int) -> bool:
    """Whether a definition is in another, with all that the lines touch of it."""
    return (
        inner.name.startswith(f"{outer.name}{_SEPARATOR}")
        and inner.first <= max(first, outer.first)
        and inner.last >= min(last, outer.last)
    )

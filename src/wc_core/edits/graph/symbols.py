"""The symbols that a source file defines: functions, classes, methods, constants."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.edits.graph.parsing import MAX_BYTES, grammar, language_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.edits.graph.parsing import Grammar, SyntaxMatch

_SEPARATOR = "."
# Nodes around a definition that belong to it.
_WRAPPERS = frozenset({"decorated_definition", "export_statement"})


class Definition(NamedTuple):
    """A definition: its name, after those of its enclosing definitions
    (``Login.check``), and its first and last line, counted from 1."""

    name: str
    start: int
    end: int

    @property
    def simple_name(self) -> str:
        """The name without those of its enclosing definitions."""
        return self.name.rpartition(_SEPARATOR)[2]


class _Span(NamedTuple):
    """A definition before its full name is known: where it starts and ends, in bytes
    and in lines."""

    start_byte: int
    end_byte: int
    start: int
    end: int
    name: str


def definitions(path: str, source: bytes) -> tuple[Definition, ...] | None:
    """The symbols of a file, in their order. ``None`` if they are unknown, because
    the language is not supported, its grammar is not installed, or the file is very
    large."""
    language = language_of(path)
    parser = grammar(language) if language is not None else None
    if parser is None or len(source) > MAX_BYTES:
        return None
    return definitions_in(parser, parser.root(source))


def definitions_in(parser: Grammar, root: Any) -> tuple[Definition, ...]:
    """The symbols in the syntax tree of a file."""
    return of_matches(parser.matches(parser.language.definitions, root))


def of_matches(matches: Iterable[SyntaxMatch]) -> tuple[Definition, ...]:
    """The definitions among the matches of a query."""
    spans = set()
    for match in matches:
        node = match.node("definition")
        if node is not None and match.node("name") is not None:
            spans.add(_span(node, match.text("name")))
    ordered = sorted(spans, key=lambda span: (span.start_byte, -span.end_byte))
    return tuple(_named(ordered))


def _span(node: Any, name: str) -> _Span:
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    start, end = node.start_point[0] + 1, node.end_point[0] + 1
    return _Span(node.start_byte, node.end_byte, start, end, name)


def _named(spans: Iterable[_Span]) -> Iterable[Definition]:
    """The definitions with their full names; outer ones come before those in them."""
    outer: list[tuple[int, str]] = []
    for span in spans:
        while outer and outer[-1][0] < span.end_byte:
            outer.pop()
        name = f"{outer[-1][1]}{_SEPARATOR}{span.name}" if outer else span.name
        outer.append((span.end_byte, name))
        yield Definition(name, span.start, span.end)


def enclosing(defined: Iterable[Definition], start: int, end: int) -> list[Definition]:
    """The innermost definitions that lines ``start`` to ``end`` touch, in the order of
    the file. If the end is before the start, it is the place between the two."""
    touched = [item for item in defined if item.start <= end and item.end >= start]
    return [
        item
        for item in touched
        if not any(_replaces(inner, item, start, end) for inner in touched)
    ]


def _replaces(inner: Definition, outer: Definition, start: int, end: int) -> bool:
    """Whether a definition is in another, with all that the lines touch of it."""
    return (
        inner.name.startswith(f"{outer.name}{_SEPARATOR}")
        and inner.start <= max(start, outer.start)
        and inner.end >= min(end, outer.end)
    )

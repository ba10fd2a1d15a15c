"""Parsing by tree-sitter, where it is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import PathFinder

from wc_core.base.lean.functools import cache
from wc_core.base.values import NamedTuple
from wc_core.edits.graph.languages import LANGUAGES, language_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_core.edits.graph.languages import Language

EXTRA = "wc-watercooler[graph]"
# A larger file was not written by hand.
MAX_BYTES = 1 << 20


class SyntaxMatch(NamedTuple):
    """The nodes of one match of a query, by the name of their capture."""

    nodes: dict[str, list[Any]]

    def node(self, name: str) -> Any:
        """The first node of a capture; ``None`` if there is none."""
        return next(iter(self.nodes.get(name, ())), None)

    def text(self, name: str) -> str:
        """The text of the first node of a capture; empty if there is none."""
        node = self.node(name)
        return node_text(node) if node is not None else ""


def node_text(node: Any) -> str:
    """The text of a node of a tree."""
    return str(node.text.decode(errors="replace"))


class Grammar:
    """Parses files of one language."""

    def __init__(self, language: Language, library: Any, grammar: Any) -> None:
        self.language = language
        self._library = library
        self._grammar = library.Language(getattr(grammar, language.function)())
        self._parser = library.Parser(self._grammar)
        self._cursors: dict[str, Any] = {}

    def root(self, source: bytes) -> Any:
        """The root of the tree of a file."""
        return self._parser.parse(source).root_node

    def matches(self, query: str, root: Any) -> Iterator[SyntaxMatch]:
        """The matches of a query in a tree."""
        for _, nodes in self._cursor(query).matches(root):
            yield SyntaxMatch(nodes)

    def _cursor(self, query: str) -> Any:
        if query not in self._cursors:
            compiled = self._library.Query(self._grammar, query)
            self._cursors[query] = self._library.QueryCursor(compiled)
        return self._cursors[query]


@cache
def grammar(language: Language) -> Grammar | None:
    """The grammar of a language; ``None`` if tree-sitter or the grammar is not
    installed."""
    try:
        library = import_module("tree_sitter")
        return Grammar(language, library, import_module(language.module))
    except ImportError:
        return None


def missing_modules() -> list[str]:
    """The modules that parsing needs and that are not installed."""
    modules = dict.fromkeys(language.module for language in LANGUAGES)
    return [
        name for name in ("tree_sitter", *modules) if not PathFinder.find_spec(name)
    ]


def obstacle(path: str) -> str:
    """Why a file cannot be parsed; empty if it can."""
    language = language_of(path)
    if language is None:
        return "wc does not parse files of its kind"
    return "" if grammar(language) is not None else f"{EXTRA} is not installed"

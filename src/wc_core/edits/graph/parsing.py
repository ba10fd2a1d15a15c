"""Parsing by tree-sitter, where it is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import PathFinder

from wc_core.base.lean.functools import cache
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

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


class Language(NamedTuple):
    """A language: its name, the module of its grammar, the function of that module, and
    its queries: ``@definition`` is what defines something and ``@name`` its name.
    ``imports`` has captures that `wc_core.edits.graph.facts` understands."""

    name: str
    module: str
    function: str
    definitions: str
    imports: str


PYTHON = Language(
    "python",
    "tree_sitter_python",
    "language",
    """
    (function_definition name: (identifier) @name) @definition
    (class_definition name: (identifier) @name) @definition
    (module (expression_statement
      (assignment left: (identifier) @name) @definition))
    (class_definition body: (block (expression_statement
      (assignment left: (identifier) @name) @definition)))
    (type_alias_statement left: (type (identifier) @name)) @definition
    """,
    "[(import_statement) (import_from_statement)] @import",
)
_JAVASCRIPT = """
    (function_declaration name: (identifier) @name) @definition
    (generator_function_declaration name: (identifier) @name) @definition
    (method_definition name: [(property_identifier) (private_property_identifier)]
      @name) @definition
    (program (lexical_declaration
      (variable_declarator name: (identifier) @name) @definition))
    (program (variable_declaration
      (variable_declarator name: (identifier) @name) @definition))
    (program (export_statement (lexical_declaration
      (variable_declarator name: (identifier) @name) @definition)))
    """
_JAVASCRIPT_IMPORTS = """
    (import_statement source: (string) @source)
    (export_statement source: (string) @source)
    (call_expression function: [(import) (identifier)] @function
      arguments: (arguments . (string) @source))
    """
JAVASCRIPT = Language(
    "javascript",
    "tree_sitter_javascript",
    "language",
    f"""{_JAVASCRIPT}
    (class_declaration name: (identifier) @name) @definition
    (field_definition property: (property_identifier) @name) @definition
    """,
    _JAVASCRIPT_IMPORTS,
)
TYPESCRIPT = Language(
    "typescript",
    "tree_sitter_typescript",
    "language_typescript",
    f"""{_JAVASCRIPT}
    (class_declaration name: (type_identifier) @name) @definition
    (abstract_class_declaration name: (type_identifier) @name) @definition
    (public_field_definition name: (property_identifier) @name) @definition
    (abstract_method_signature name: (property_identifier) @name) @definition
    (function_signature name: (identifier) @name) @definition
    (interface_declaration name: (type_identifier) @name) @definition
    (method_signature name: (property_identifier) @name) @definition
    (type_alias_declaration name: (type_identifier) @name) @definition
    (enum_declaration name: (identifier) @name) @definition
    (internal_module name: (identifier) @name) @definition
    """,
    f"""{_JAVASCRIPT_IMPORTS}
    (import_statement (import_require_clause source: (string) @source))
    """,
)
TSX = TYPESCRIPT._replace(name="tsx", function="language_tsx")

_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), TYPESCRIPT),
    ".tsx": TSX,
}
LANGUAGES = tuple(dict.fromkeys(_BY_SUFFIX.values()))


def language_of(path: str) -> Language | None:
    """The language of a file, by its suffix; ``None`` if its files are not parsed."""
    return _BY_SUFFIX.get(path[path.rfind(".") :].lower())

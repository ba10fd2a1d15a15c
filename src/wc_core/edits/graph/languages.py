"""The languages whose files can be parsed: suffixes, grammars, and what to look for.

In a query, ``@definition`` is what defines something and ``@name`` its name.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple


class Language(NamedTuple):
    """A language: its name, the module of its grammar, the function of that module, and
    its queries. ``imports`` has captures that `wc_core.edits.graph.facts`
    understands."""

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

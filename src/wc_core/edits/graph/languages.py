"""The languages whose files can be parsed: suffixes, grammars, and what to look for.

In a query, ``@definition`` is what defines something and ``@name`` its name; ``@owner``
is a name that stands before it. ``@scope`` only gives its name to what is in it.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple


class Language(NamedTuple):
    """A language: its name, the module of its grammar, the function of that module, and
    its queries. ``imports`` has captures that `wc_core.edits.graph.imports`
    understands; ``words`` are the identifiers that can stand for a definition. If that
    is empty, every word counts, which is three times as fast: it is only needed if
    files use each other without an import."""

    name: str
    module: str
    function: str
    definitions: str
    imports: str
    words: str = ""


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
GO = Language(
    "go",
    "tree_sitter_go",
    "language",
    """
    (function_declaration name: (identifier) @name) @definition
    (method_declaration receiver: (parameter_list (parameter_declaration type: [
        (type_identifier) @owner
        (generic_type type: (type_identifier) @owner)
        (pointer_type [(type_identifier) @owner
          (generic_type type: (type_identifier) @owner)])
      ])) name: (field_identifier) @name) @definition
    (source_file (type_declaration
      [(type_spec name: (type_identifier) @name)
       (type_alias name: (type_identifier) @name)] @definition))
    (source_file (const_declaration
      (const_spec name: (identifier) @name) @definition))
    (source_file (var_declaration [
      (var_spec name: (identifier) @name) @definition
      (var_spec_list (var_spec name: (identifier) @name) @definition)]))
    """,
    "(import_spec path: (interpreted_string_literal) @source)",
    "[(identifier) (type_identifier) (field_identifier)] @word",
)
RUST = Language(
    "rust",
    "tree_sitter_rust",
    "language",
    """
    (function_item name: (identifier) @name) @definition
    (function_signature_item name: (identifier) @name) @definition
    (struct_item name: (type_identifier) @name) @definition
    (enum_item name: (type_identifier) @name) @definition
    (union_item name: (type_identifier) @name) @definition
    (trait_item name: (type_identifier) @name) @definition
    (type_item name: (type_identifier) @name) @definition
    (const_item name: (identifier) @name) @definition
    (static_item name: (identifier) @name) @definition
    (macro_definition name: (identifier) @name) @definition
    (mod_item name: (identifier) @name body: (_)) @definition
    (impl_item type: [(type_identifier) @name
      (generic_type type: (type_identifier) @name)]) @scope
    """,
    """
    (mod_item name: (identifier) @module !body)
    (use_declaration argument: (_) @use)
    (scoped_identifier) @path
    (scoped_type_identifier) @path
    """,
)
JAVA = Language(
    "java",
    "tree_sitter_java",
    "language",
    """
    (class_declaration name: (identifier) @name) @definition
    (interface_declaration name: (identifier) @name) @definition
    (enum_declaration name: (identifier) @name) @definition
    (record_declaration name: (identifier) @name) @definition
    (annotation_type_declaration name: (identifier) @name) @definition
    (method_declaration name: (identifier) @name) @definition
    (constructor_declaration name: (identifier) @name) @definition
    (field_declaration declarator:
      (variable_declarator name: (identifier) @name) @definition)
    (enum_constant name: (identifier) @name) @definition
    """,
    """
    (package_declaration (_) @package)
    (import_declaration) @import
    """,
    "[(identifier) (type_identifier)] @word",
)

_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), TYPESCRIPT),
    ".tsx": TSX,
    ".go": GO,
    ".rs": RUST,
    ".java": JAVA,
}
LANGUAGES = tuple(dict.fromkeys(_BY_SUFFIX.values()))


def language_of(path: str) -> Language | None:
    """The language of a file, by its suffix; ``None`` if its files are not parsed."""
    return _BY_SUFFIX.get(path[path.rfind(".") :].lower())

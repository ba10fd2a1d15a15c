"""The facts about a file: its symbols, its imports, and the words in it.

They depend only on the content of the file, and are cached by its blob id.
"""

from __future__ import annotations

import json
import os
import re
from types import MappingProxyType

from wc_core.base.values import NamedTuple
from wc_core.edits.graph.parsing import MAX_BYTES, grammar, language_of, node_text
from wc_core.edits.graph.symbols import of_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from wc_core.edits.graph.parsing import Language, SyntaxMatch

# Part of the key of cached facts. Increase it when the same file gives other facts.
VERSION = 2
_WORD = re.compile(r"[^\W\d]\w*")
# In a tsconfig.json: strings, which stay, and comments and trailing commas, which are
# removed.
_JSONC = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_ENTRY_KEYS = ("source", "types", "module", "main")
ALL = "*"
_QUOTES = "\"'`"


class FileFacts(NamedTuple):
    """The facts of one file.

    - ``symbols``: the full names of its definitions
    - ``words``: the words in it, which may stand for definitions of other files, with a
      space between two of them
    - ``project``: for a file that configures a project, see `project_of`
    """

    symbols: tuple[str, ...] = ()
    imports: tuple[Import, ...] = ()
    words: str = ""
    project: Mapping[str, Any] = MappingProxyType({})

    def to_row(self) -> list[Any]:
        """The facts as a list for JSON."""
        rows = [[item.module, *item.names] for item in self.imports]
        return [self.symbols, rows, self.words, dict(self.project)]

    @classmethod
    def from_row(cls, row: list[Any]) -> FileFacts:
        """The facts in a list that `to_row` made."""
        symbols, rows, words, project = row
        statements = tuple(Import(module, tuple(names)) for module, *names in rows)
        return cls(tuple(symbols), statements, words, project)


def kind_of(path: str) -> str:
    """How a file is parsed: the name of its language, or of the file itself if it
    configures a project; empty if it has no facts."""
    language = language_of(path)
    if language is not None:
        return language.name
    return os.path.basename(path) if is_project_file(path) else ""


def facts_of(path: str, source: bytes) -> FileFacts:
    """The facts of a file; none if it is very large."""
    if len(source) > MAX_BYTES:
        return FileFacts()
    language = language_of(path)
    if language is None:
        return FileFacts(project=project_of(path, source))
    return _parsed(language, source)


def _parsed(language: Language, source: bytes) -> FileFacts:
    parser = grammar(language)
    if parser is None:
        return FileFacts()
    root = parser.root(source)
    query = f"{language.definitions}{language.imports}"
    matches = list(parser.matches(query, root))
    return FileFacts(
        symbols=tuple(dict.fromkeys(item.name for item in of_matches(matches))),
        imports=tuple(dict.fromkeys(_statements(language, matches))),
        words=" ".join(sorted(set(_WORD.findall(source.decode(errors="replace"))))),
    )


def is_project_file(path: str) -> bool:
    """Whether a file configures a project."""
    return os.path.basename(path) in _READERS


def project_of(path: str, source: bytes) -> dict[str, Any]:
    """The settings of a project in one of its files; none if it cannot be read.

    ============================= ==================================================
    ``package.json``              ``name``, and ``entries``: the files it stands for
    ``tsconfig.json``, ``js…``    ``base`` and ``paths``: where names are looked up
    ============================= ==================================================
    """
    try:
        return _READERS[os.path.basename(path)](source.decode(errors="replace"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _package(text: str) -> dict[str, Any]:
    fields = json.loads(text)
    exports = fields.get("exports")
    if isinstance(exports, dict):
        exports = exports.get(".", exports)
    entries = [fields.get(key) for key in _ENTRY_KEYS]
    entries += _texts(exports)
    name = fields.get("name")
    return {
        "name": name if isinstance(name, str) else "",
        "entries": [entry for entry in entries if isinstance(entry, str)],
    }


def _texts(value: Any) -> list[str]:
    """The texts in a value, at any depth."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def _tsconfig(text: str) -> dict[str, Any]:
    fields = json.loads(_JSONC.sub(lambda match: match[1] or "", text))
    options = fields.get("compilerOptions") or {}
    paths = options.get("paths") or {}
    base = options.get("baseUrl")
    return {
        "base": base if isinstance(base, str) else "",
        "paths": {
            str(key): [item for item in value if isinstance(item, str)]
            for key, value in paths.items()
        },
    }


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "package.json": _package,
    "tsconfig.json": _tsconfig,
    "jsconfig.json": _tsconfig,
}


class Import(NamedTuple):
    """An import: the module as written, and the names imported from it.

    The module is ``..package.module`` in Python, and the quoted text in JavaScript.
    """

    module: str
    names: tuple[str, ...] = ()


def _statements(language: Language, matches: Iterable[SyntaxMatch]) -> Iterator[Import]:
    """The imports among the matches of a query."""
    return _python(matches) if language.name == "python" else _quoted(matches)


def _python(matches: Iterable[SyntaxMatch]) -> Iterator[Import]:
    for match in matches:
        node = match.node("import")
        if node is None:
            continue
        names = [_dotted(child) for child in node.children_by_field_name("name")]
        module = node.child_by_field_name("module_name")
        if module is None:
            yield from map(Import, names)
            continue
        if any(child.type == "wildcard_import" for child in node.children):
            names = [ALL]
        yield Import("".join(node_text(module).split()), tuple(names))


def _dotted(node: Any) -> str:
    """The name in an import, without its alias."""
    inner = node.child_by_field_name("name") if node.type == "aliased_import" else None
    return "".join(node_text(inner or node).split())


def _quoted(matches: Iterable[SyntaxMatch]) -> Iterator[Import]:
    for match in matches:
        source = match.text("source").strip(_QUOTES)
        if source and match.text("function") in {"", "import", "require"}:
            yield Import(source)

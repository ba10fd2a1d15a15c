"""The imports of a file, as they are written. `resolving` finds the files."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.edits.graph.parsing import node_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from wc_core.edits.graph.languages import Language
    from wc_core.edits.graph.parsing import SyntaxMatch

ALL = "*"
_QUOTES = "\"'`"


class Import(NamedTuple):
    """An import: the module as written, and the names imported from it.

    The module is ``..package.module`` in Python, and the quoted text in JavaScript.
    """

    module: str
    names: tuple[str, ...] = ()


def statements(language: Language, matches: Iterable[SyntaxMatch]) -> Iterator[Import]:
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

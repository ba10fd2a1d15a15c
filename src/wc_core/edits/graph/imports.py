"""The imports of a file, as they are written. `resolving` finds the files."""

from __future__ import annotations

import re

from wc_core.base.values import NamedTuple
from wc_core.edits.graph.parsing import node_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from wc_core.edits.graph.languages import Language
    from wc_core.edits.graph.parsing import SyntaxMatch

ALL = "*"
_QUOTES = "\"'`"
_RUST_PATH = re.compile(r"(?:crate|self|super|[a-z_]\w*)(?:::\w+)+")
_RUST_LIBRARY = ("std::", "core::", "alloc::")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
MODULE = "mod "


class Import(NamedTuple):
    """An import: the module as written, and the names imported from it.

    The module is ``..package.module`` in Python, the quoted text in JavaScript and Go,
    ``mod name`` or a path such as ``crate::auth::Login`` in Rust, and a full name in
    Java.
    """

    module: str
    names: tuple[str, ...] = ()


class Statements(NamedTuple):
    """The imports of a file, and the package that it declares."""

    imports: tuple[Import, ...] = ()
    package: str = ""


def statements(language: Language, matches: Sequence[SyntaxMatch]) -> Statements:
    """The imports among the matches of a query."""
    if language.name == "python":
        return Statements(tuple(_python(matches)))
    if language.name == "rust":
        return Statements(tuple(_rust(matches)))
    if language.name == "java":
        return _java(matches)
    return Statements(tuple(_quoted(matches)))


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


def _rust(matches: Iterable[SyntaxMatch]) -> Iterator[Import]:
    for match in matches:
        if match.node("module") is not None:
            yield Import(f"{MODULE}{match.text('module')}")
        elif match.node("use") is not None:
            yield from map(Import, _use_paths(_COMMENT.sub("", match.text("use"))))
        elif match.node("path") is not None:
            yield from _inline_path(match.node("path"))


def _inline_path(node: Any) -> Iterator[Import]:
    """The import in a path within the code, unless it is a part of a longer one."""
    text = node_text(node)
    is_inner = node.parent is not None and node.parent.type == node.type
    is_path = _RUST_PATH.fullmatch(text) and not text.startswith(_RUST_LIBRARY)
    if is_path and not is_inner:
        yield Import(text)


def _use_paths(text: str) -> Iterator[str]:
    """The paths in the argument of ``use``: ``a::{b, c}`` are ``a::b`` and ``a::c``."""
    head, brace, members = text.partition("{")
    if not brace:
        path = re.sub(r"\s+as\s+\w+\s*$", "", text.strip())
        yield "".join(path.split()).removesuffix("::self")
        return
    prefix = "".join(head.split())
    for part in _parts(members.rpartition("}")[0]):
        yield from _use_paths(f"{prefix}{part.strip()}")


def _parts(text: str) -> Iterator[str]:
    """The parts of a list, split at commas outside braces."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and not depth:
            yield text[start:position]
            start = position + 1
    if text[start:].strip():
        yield text[start:]


def _java(matches: Iterable[SyntaxMatch]) -> Statements:
    imports, package = [], ""
    for match in matches:
        package = package or "".join(match.text("package").split())
        if match.node("import") is not None:
            text = match.text("import").removeprefix("import").rstrip(";")
            name = re.sub(r"^\s*static\s", "", text)
            imports.append(Import("".join(name.split())))
    return Statements(tuple(imports), package)

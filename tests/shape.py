"""What tests/test_shape.py asks of the source: late imports, imports in a circle."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

from tests import changed
from tests.naming import syntax_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class LateImport(NamedTuple):
    """An import inside a function, and whether a comment says why."""

    path: Path
    line: int
    has_reason: bool


def functions(
    paths: Iterable[Path],
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method, those inside functions too."""
    for path in paths:
        for node in syntax_nodes(path):
            if isinstance(node, _FUNCTIONS):
                yield node


def late_imports(paths: Iterable[Path]) -> Iterator[LateImport]:
    """Every import inside a function.

    A reason is a comment on its line, or above the block of imports it is in.
    """
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        inside = {
            node
            for function in functions([path])
            for node in ast.walk(function)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        }
        # A function within a function is walked twice: count each line once.
        for line, end in sorted({(n.lineno, n.end_lineno or n.lineno) for n in inside}):
            yield LateImport(path, line, _has_reason(lines, line, end))


def _has_reason(lines: list[str], first: int, end: int) -> bool:
    if any("#" in line for line in lines[first - 1 : end]):
        return True
    above = first - 2
    while above >= 0 and lines[above].strip().startswith(("import ", "from ")):
        if "#" in lines[above]:
            return True
        above -= 1
    return above >= 0 and lines[above].strip().startswith("#")


def circle() -> list[str]:
    """Modules of which each imports the next, and the last the first, late and
    type-only imports included; none if there is no circle."""
    files = {name: file for name, file in changed.modules().items() if "src/" in file}
    graph = {
        name: {other for other in changed.imported(file) if other in files}
        for name, file in files.items()
        if not file.endswith("__init__.py")
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []

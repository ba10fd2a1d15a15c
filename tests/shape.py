"""Measures the shape of the source: sizes, complexity, names.

    python -m tests.shape [SRC]     print the figures as a table of markdown

docs/architecture.md quotes them. tests/test_shape.py keeps totals, which may only fall.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import changed
from tests.naming import (
    SOURCE,
    Binding,
    bindings,
    class_names,
    modules,
    syntax_nodes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What adds a path through a function; `and`, `or` and comprehensions are counted
# apart, as radon does.
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler)
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


def complexity(function: ast.AST) -> int:
    """The number of independent paths through a function (cyclomatic complexity)."""
    count = 1
    for node in ast.walk(function):
        if isinstance(node, _BRANCHES):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        elif isinstance(node, ast.match_case):
            count += 1
    return count


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


def percentile(values: Iterable[int], share: float) -> int:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def figures(root: Path = SOURCE) -> dict[str, str]:
    """What is measured, by what it is called in docs/architecture.md."""
    paths = [path for path in modules([root]) if path.stem != "__init__"]
    sizes: list[int] = []
    paths_through: list[int] = []
    named: list[str] = []
    names: list[Binding] = []
    classes: Counter[str] = Counter()
    for path in paths:  # one by one: their syntax is parsed once
        sizes.append(len(path.read_text(encoding="utf-8").splitlines()))
        every = list(functions([path]))
        paths_through += map(complexity, every)
        named += [function.name for function in every if function.name[:2] != "__"]
        names += bindings([path])
        classes.update(class_names(path))
    one_word = sum("_" not in name.strip("_") for name in named)
    shared = sum(count for count in classes.values() if count > 1)
    return {
        "modules": f"{len(paths)}",
        "lines of a module, median / p90": (
            f"{percentile(sizes, 0.5)} / {percentile(sizes, 0.9)}"
        ),
        "complexity of a function, p90 / max": (
            f"{percentile(paths_through, 0.9)} / {max(paths_through)}"
        ),
        "vague names": f"{sum(map(_points, names)) / len(names):.1%}",
        "one-word function names": f"{one_word / len(named):.0%}",
        "classes that share their name": f"{shared}",
    }


def _points(binding: Binding) -> bool:
    return binding.points


def main() -> None:
    """Print the figures of a source tree."""
    root = Path(sys.argv[1]) if sys.argv[1:] else SOURCE
    for name, value in figures(root).items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()

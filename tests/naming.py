"""Counts names in the source that say nothing about the thing they name.

    python -m tests.naming [PATH...]    list them, by file and line

A name *points* when it could stand for anything nearby: `one`, `found`, `said`. Such
names are counted wherever a name is bound: assignments, parameters, loop variables,
fields.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SOURCE = Path(__file__).resolve().parents[1] / "src"

POINTING = frozenset(
    {"another", "anybody", "asked", "both", "each", "every", "found", "given", "gone"}
    | {"had", "heard", "here", "known", "last", "left", "look", "looked", "made"}
    | {"mine", "more", "none", "one", "ones", "other", "others", "ours", "put", "rest"}
    | {"said", "same", "seen", "shown", "somebody", "such", "taken", "tells", "that"}
    | {"theirs", "them", "then", "there", "these", "they", "thing", "things", "this"}
    | {"those", "told", "wanted", "what", "where", "which", "who", "whoever", "whom"}
    | {"whose"}
)

# git's names for the three versions in a merge. A module that has all of them is about
# merging, and means these versions.
MERGE_SIDES = frozenset({"base", "ours", "theirs"})


class Binding(NamedTuple):
    """A place where a name gets a value, in a module about ``merging`` or not."""

    path: Path
    line: int
    name: str
    merging: bool = False

    @property
    def points(self) -> bool:
        if self.merging and self.name in MERGE_SIDES:
            return False
        return self.name.strip("_") in POINTING


def syntax_nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of the syntax tree of a module."""
    return _parsed(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)  # several measures of one module follow each other
def _parsed(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(text)))


def bindings(paths: Iterable[Path]) -> Iterator[Binding]:
    """Every assigned name, parameter, loop variable and field in Python files."""
    for path in paths:
        names = list(_names(syntax_nodes(path)))
        merging = MERGE_SIDES.issubset(name for _, name in names)
        for line, name in names:
            yield Binding(path, line, name, merging)


def _names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node.arg not in {"self", "cls"}:
            yield node.lineno, node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.lineno, node.name


def modules(roots: Iterable[Path] = (SOURCE,)) -> list[Path]:
    """The Python files at or below each root."""
    return sorted(
        path
        for root in roots
        for path in (root.rglob("*.py") if root.is_dir() else [root])
    )


def shared_classes(paths: Iterable[Path]) -> dict[str, int]:
    """The class names that more than one class has, with how many do."""
    counts = Counter(name for path in paths for name in class_names(path))
    return {name: count for name, count in counts.items() if count > 1}


def class_names(path: Path) -> list[str]:
    """The names of the classes in a module."""
    nodes = syntax_nodes(path)
    return [node.name for node in nodes if isinstance(node, ast.ClassDef)]


def main() -> None:
    """Print every pointing name and their share."""
    every = list(bindings(modules([Path(word) for word in sys.argv[1:]] or [SOURCE])))
    pointing = [binding for binding in every if binding.points]
    for binding in pointing:
        print(f"{binding.path}:{binding.line}: {binding.name}")
    print(f"{len(pointing)} of {len(every)}, {len(pointing) / len(every):.1%}")


if __name__ == "__main__":
    main()

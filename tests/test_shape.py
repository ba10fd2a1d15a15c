"""The size of the project: totals that may only fall, and the shape of the source.

`TOTALS` has them. A total that is above its number fails the test, and so does one that
is below it: lower the number in the same commit, so that what was gained is kept. To
raise one, give the reason in the body of the commit. What is counted:

- lines of src, lines of tests: all lines of the Python files. Only totals of lines may
  be below their number, by `SLACK` at most.
- lines of tests of the inside: those of files that import a module of ours. They may go
  with it; the others say what must stay true.
- modules: the Python files of ``src``.
- commands: the rows of `wc_cli.run.table`.
- options: the declared options of all commands, those from a base class for each
  command that has them; but those of a group, which all commands or all writers share
  and one page explains, once.
- settings, preferences: the keys of a repository, and of a person.
- variables: the names ``WATERCOOLER_…`` and ``_WC_…`` in ``src`` and ``bin``.
- paths of a store: what `Layout` offers, except `Layout.relative`.
- locks: those paths that end in ``lock``, or are described as "The lock of …".
- versioned formats: the constants whose name ends in ``VERSION``.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.naming import SOURCE, modules, syntax_nodes
from tests.shape import circle, late_imports
from wc_cli.run import table
from wc_core.base.layout import Layout
from wc_core.ledger.configuration import keys, preferences

if TYPE_CHECKING:
    from pathlib import Path

TOTALS = {
    "lines of src": 100_026,
    "lines of tests": 97_210,
    "lines of tests of the inside": 72_250,
    "modules": 644,
    "commands": 64,
    "options": 320,
    "settings": 20,
    "preferences": 9,
    "variables": 20,
    "paths of a store": 82,
    "locks": 18,
    "versioned formats": 20,
}
SLACK = 500


@cache
def totals() -> dict[str, int]:
    """What is counted now, by the names of `TOTALS`."""
    source, tests = modules(), modules([SOURCE.parent / "tests"])
    paths = {
        name: str(getattr(Layout(""), name))
        for name in [*vars(Layout)]
        if name[0] != "_" and name != "relative"
    }
    return {
        "lines of src": _lines(source),
        "lines of tests": _lines(tests),
        "lines of tests of the inside": _lines([*filter(_imports_the_inside, tests)]),
        "modules": len(source),
        "commands": len(table.COMMANDS),
        "options": _options(),
        "settings": len(keys.KEYS),
        "preferences": len(preferences.KEYS),
        "variables": len(_variables()),
        "paths of a store": len(paths),
        "locks": sum(
            name.endswith("lock") or "/locks/" in path for name, path in paths.items()
        ),
        "versioned formats": sum(map(_versions, source)),
    }


def _lines(paths: list[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _imports_the_inside(path: Path) -> bool:
    """Whether a test may die with a module. Others only use what people and programs
    use: commands, the server, the page, and files on disk."""
    text = path.read_text("utf-8")
    return any(name not in _DOORS for name in re.findall(_IMPORT, text, re.MULTILINE))


_IMPORT = r"^\s*(?:from|import) (wc_(?:core|cli|observe)[\w.]*)"
_DOORS = {"wc_cli.run.main", "wc_observe.main"}


def _options() -> int:
    declared = [
        command.options for command in map(table.load, table.COMMANDS) if command
    ]
    own = sum(bool(param.flags) for options in declared for param in options.own())
    groups = [group for options in declared for group in options.groups().values()]
    return own + len({id(param) for group in groups for param in group})


def _variables() -> set[bytes]:
    root = SOURCE.parent
    files = [*root.glob("bin/*"), *SOURCE.rglob("*")]
    texts = [
        path.read_bytes() for path in files if path.suffix != ".pyc" and path.is_file()
    ]
    return {
        name
        for text in texts
        for name in re.findall(rb"\b(?:WATERCOOLER|_WC)_[A-Z_]+\b", text)
    }


def _versions(path: Path) -> int:
    return sum(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.endswith("VERSION")
        for node in syntax_nodes(path)
    )


@pytest.mark.parametrize("name", TOTALS)
def test_totals_only_fall(name: str) -> None:
    total, limit = totals()[name], TOTALS[name]
    slack = SLACK if name.startswith("lines") else 0
    assert total <= limit, f"{total}: make it smaller, or say why in the commit's body"
    assert total >= limit - slack, f"lower the limit to {total}"


def test_late_imports_say_why() -> None:
    late = list(late_imports(modules()))
    silent = [f"{found.path}:{found.line}" for found in late if not found.has_reason]
    assert silent == [], "say what the late import saves, measured"


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle() == []


def test_the_reason_of_a_late_import_may_stand_beside_or_above(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(
        "import os\n"
        "def f():\n"
        "  import a  # 3 ms\n"
        "  import b\n"
        "  x = 1\n"
        "  # 5 ms together\n"
        "  import c\n"
        "  from d import e\n"
        "def g():\n"
        "  import h\n"
    )
    found = {late.line: late.has_reason for late in late_imports([path])}
    assert found == {3: True, 4: True, 7: True, 8: True, 10: False}

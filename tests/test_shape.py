"""The shape of the source may improve; it may not get worse unnoticed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.naming import SOURCE, modules
from tests.shape import circle, complexity, figures, late_imports, percentile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def measured() -> dict[str, str]:
    """The figures of the source; measuring takes seconds."""
    return figures()


def test_late_imports_are_few_and_say_why(measured: dict[str, str]) -> None:
    late = list(late_imports(modules()))
    silent = [f"{found.path}:{found.line}" for found in late if not found.has_reason]
    assert silent == [], "say what the late import saves, measured"
    assert float(measured["late imports per thousand lines"]) <= 3.0


def test_rooms_stay_small_enough_to_look_through(measured: dict[str, str]) -> None:
    assert int(measured["modules in the largest room"]) <= 20


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle() == []


@pytest.mark.parametrize("package", ["wc_core", "wc_cli", "wc_observe"])
def test_a_package_shows_few_names_at_its_top(package: str) -> None:
    names = {
        path.name
        for path in (SOURCE / package).iterdir()
        if path.is_file() or any(file.suffix != ".pyc" for file in path.rglob("*.*"))
    }
    shown = names - {"__init__.py", "__main__.py", "py.typed"}
    assert len(shown) <= 8, "put it in a wing: see docs/architecture.md"


def test_the_documentation_quotes_every_figure(measured: dict[str, str]) -> None:
    page = (SOURCE.parent / "docs/architecture.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line[:1] == "|"]
    quoted = {row[0].strip() for row in rows if len(row) == 3}
    assert quoted >= measured.keys()


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ("pass", 1),
        ("if a and b: pass", 3),
        ("for x in y:\n  while x: x -= 1", 3),
        ("return [x for x in y if x]", 3),
        ("try: pass\nexcept OSError: pass", 2),
        ("match a:\n  case 1: pass\n  case _: pass", 3),
    ],
)
def test_paths_through_a_function_are_counted(body: str, paths: int) -> None:
    lines = "\n".join(f"  {line}" for line in body.split("\n"))
    assert complexity(ast.parse(f"def f(a, b, y):\n{lines}")) == paths


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


def test_percentile() -> None:
    assert percentile([5, 1, 3], 0.5) == 3
    assert percentile([1], 0.9) == 1

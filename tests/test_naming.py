"""Names name the thing. The number of those that do not may only fall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.naming import SOURCE, Binding, bindings, modules, shared_classes

if TYPE_CHECKING:
    from pathlib import Path

ROOT = SOURCE.parent
# How many names below each folder point instead of naming. Lower a number whenever it
# has fallen; to raise one, give the reason in the body of the commit.
LIMITS = {"src": 191, "tests": 3109, "docs": 100}
SLACK = 50


@pytest.mark.parametrize("folder", LIMITS)
def test_few_names_point_instead_of_naming(folder: str) -> None:
    pointing = sum(binding.points for binding in bindings(modules([ROOT / folder])))
    limit = LIMITS[folder]
    assert pointing <= limit, f"python -m tests.naming {folder} lists them"
    assert pointing >= limit - SLACK, f"lower the limit to {pointing}"


def test_each_class_name_is_used_once() -> None:
    assert shared_classes(modules()) == {}


def test_what_points_is_found(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(
        "def told(topic, one):\n"
        "    for found in topic:\n"
        "        try:\n"
        "            rows = [said := found]\n"
        "        except OSError as problem:\n"
        "            _rest = rows\n"
        "class Row: ...\n"
        "class Row: ...\n"
    )
    every = {binding.name: binding.points for binding in bindings([path])}
    assert every == {
        "topic": False,
        "one": True,
        "found": True,
        "rows": False,
        "said": True,
        "problem": False,
        "_rest": True,
    }
    assert shared_classes([path]) == {"Row": 2}
    assert Binding(path, 1, "repository").points is False


def test_the_sides_of_a_merge_have_the_names_git_gives_them(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text("def merge(base, ours, theirs): ...\n")
    assert not any(binding.points for binding in bindings([path]))
    path.write_text("def compare(ours, theirs): ...\n")
    assert all(binding.points for binding in bindings([path]))

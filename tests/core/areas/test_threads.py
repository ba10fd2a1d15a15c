"""Which paths and branches belong to an area."""

from __future__ import annotations

import pytest

from wc_core.reading.areas.threads import areas_of

PATHS = [
    ("src/api/**", "src/api/a.py", True),
    ("src/api/**", "src/api/v1/a.py", True),
    ("src/api/**", "src/api", True),
    ("src/api/**", "src/apis/a.py", False),
    ("src/api", "src/api/v1/a.py", True),
    ("src/api/", "src/api/a.py", True),
    ("src/api", "src", False),
    ("**/tests", "src/api/tests/a.py", True),
    ("**/tests", "tests/a.py", True),
    ("**/*.py", "a.py", True),
    ("**/*.py", "src/a.pyc", False),
    ("src/*/a.py", "src/api/a.py", True),
    ("src/*/a.py", "src/api/v1/a.py", False),
    ("*.md", "docs/a.md", False),
    ("a?.md", "ab.md", True),
    ("**/a/**/b", "x/a/y/z/b/c", True),
    ("**/a/**/b", "x/b/y/a", False),
    ("branch:api/*", "api/x", False),
    ("**/" * 60 + "x", "a/" * 200 + "b", False),
]


@pytest.mark.parametrize(("pattern", "path", "fits"), PATHS)
def test_a_path_belongs_to_an_area(pattern: str, path: str, *, fits: bool) -> None:
    assert areas_of([path], "", {"x": (pattern,)}) == (("x",) if fits else ())


def test_a_branch_belongs_to_an_area() -> None:
    areas = {"api": ("branch:api/*", "src/api"), "ui": ("branch:ui*",)}
    assert areas_of([], "api/v1", areas) == ("api",)
    assert areas_of(["src/api/x"], "ui-2", areas) == ("api", "ui")
    assert areas_of([], "", {"all": ("branch:*",)}) == ()

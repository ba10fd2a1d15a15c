"""The same edges as ``ruff analyze graph`` finds in Python."""

from __future__ import annotations

import json
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import amounts
from wc_core.edits.graph import resolving
from wc_core.edits.graph.facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
RUFF = Path(sysconfig.get_path("scripts")) / "ruff"

# No name stands for two things, such as a module and a folder: there the two differ.
MODULES = ("m", "n")
NAMES = ("a", "b", "c", *MODULES)
FOLDERS = ("", "a", "a/b", "a/b/c", "src/c", "src/c/b", "src/c/b/a")


def by_ruff(top: Path) -> dict[str, set[str]]:
    """What each file imports, as ruff has it."""
    output = subprocess.run(
        [RUFF, "analyze", "graph", "--isolated", "."],
        cwd=top,
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    graph: dict[str, list[str]] = json.loads(output)
    return {path: set(targets) - {path} for path, targets in graph.items()}


def by_us(top: Path, paths: list[str]) -> dict[str, set[str]]:
    files = {path: facts_of(path, (top / path).read_bytes()) for path in paths}
    return {path: set(row) for path, row in resolving.uses(files).items()}


def test_our_own_source() -> None:
    top = ROOT / "src"
    paths = [str(path.relative_to(top)) for path in sorted(top.rglob("*.py"))]
    expected = by_ruff(top)
    assert len(expected) > 300
    assert by_us(top, paths) == expected


DOTTED = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(".".join)


@st.composite
def statements(draw: st.DrawFn, path: str) -> str:
    """An import. None is relative to what is above the outermost package, and none of
    all names is from a module that does not exist: both are errors in Python."""
    module = draw(DOTTED)
    depth = len(list(_inits(path)))
    if draw(st.booleans()):
        return f"import {module} as x"
    level = "." * draw(st.integers(0, depth))
    name = draw(st.sampled_from((*NAMES, "a, m as y")))
    module = module if not level or draw(st.booleans()) else ""
    return f"from {level}{module} import {name}"


@st.composite
def repositories(draw: st.DrawFn) -> dict[str, str]:
    paths = draw(
        st.lists(
            st.builds(
                lambda folder, name: f"{folder}/{name}.py" if folder else "m.py",
                st.sampled_from(FOLDERS),
                st.sampled_from((*MODULES, "__init__")),
            ),
            min_size=1,
            max_size=9,
            unique=True,
        )
    )
    return {
        path: "\n".join(draw(st.lists(statements(path), max_size=3)))
        for path in sorted({*paths, *(init for path in paths for init in _inits(path))})
    }


def _inits(path: str) -> Iterator[str]:
    """The files that make packages of the folders that a file is in. Outside of
    packages, ruff follows no relative imports."""
    folder = path.rpartition("/")[0]
    while folder not in {"", "src"}:
        yield f"{folder}/__init__.py"
        folder = folder.rpartition("/")[0]


@settings(max_examples=amounts.examples(25), deadline=None)
@given(repositories())
def test_packages_of_any_shape(sources: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for path, text in sources.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(f"{text}\n")
        assert by_us(top, sorted(sources)) == by_ruff(top)

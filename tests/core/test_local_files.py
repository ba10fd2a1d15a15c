"""Every file that a store has under ``.local`` is in the table of docs/store.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from tests.conftest import SOURCE, Repo
from wc_core.base.layout import Layout

PAGE = SOURCE.parent / "docs" / "store.md"
_ROOT = "/store"


def named_paths() -> list[str]:
    """The paths in the first column of the table, relative to ``.local``."""
    section = PAGE.read_text().partition("## Every file under `.local`\n")[2]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [path for row in rows for path in re.findall(r"`([^`]+)`", row)]


def is_named(path: str, named: list[str]) -> bool:
    """Whether the table has a path, or the folder of its own that it is in."""
    return any(
        path == name.rstrip("/") or (name.endswith("/") and path.startswith(name))
        for name in named
    )


def paths_of_layout() -> set[str]:
    """What every place and method of a layout returns of ``.local``."""
    layout = Layout(_ROOT)
    paths = set()
    for name in vars(Layout).keys() - {"relative"}:
        value = None if name.startswith("_") else getattr(layout, name)
        if inspect.ismethod(value):
            value = value(*["x"] * len(inspect.signature(value).parameters))
        if isinstance(value, str) and value.startswith(f"{_ROOT}/.local/"):
            paths.add(value.removeprefix(f"{_ROOT}/.local/"))
    return paths


def test_the_table_has_every_path_of_the_layout() -> None:
    named, paths = named_paths(), paths_of_layout()
    # The folder of the index is that of several rows.
    paths.discard("index")
    assert len(paths) > 50
    assert {"unsettled", "cache.db", "cursors/x"} <= paths
    assert [path for path in sorted(paths) if not is_named(path, named)] == []


def test_a_path_that_is_not_in_the_table_is_noticed() -> None:
    named = named_paths()
    for path in ("index/other", "line.new", "locksmith/x", "other"):
        assert not is_named(path, named)


@pytest.mark.processes
def test_the_table_has_what_commands_leave(repo: Repo) -> None:
    for words in (
        ("new", "login", "--title", "T", "--to", "Codex"),
        ("say", "login", "--title", "More", "--as", "Codex"),
        ("new", "api", "--title", "U"),
        ("link", "login", "blocked-by", "api"),
        ("rename", "api", "rest"),
        ("read", "login"),
        ("use", "login"),
        ("brief",),
        ("search", "more"),
        ("claim", "src/app.py"),
        ("doctor", "--repair"),
    ):
        repo.ok(*words)
    local = Path(repo.store, ".local")
    left = {str(path.relative_to(local)) for path in local.rglob("*") if path.is_file()}
    named = named_paths()
    assert any(path == "cache.db" for path in left)
    assert [path for path in sorted(left) if not is_named(path, named)] == []

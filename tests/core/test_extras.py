"""The command that adds an optional part depends on how wc was installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from wc_core.base import extras

if TYPE_CHECKING:
    from pathlib import Path


SOURCES: dict[str, dict[str, Any]] = {
    "wc-watercooler[graph]": {},
    "/my code/wc[graph]": {"url": "file:///my%20code/wc", "dir_info": {}},
    "wc-watercooler[graph] @ git+https://a.example/wc": {
        "url": "https://a.example/wc",
        "vcs_info": {"vcs": "git", "commit_id": "f" * 40},
    },
}


@pytest.mark.parametrize("package", SOURCES)
@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/h/.local/share/uv/tools/wc-watercooler", "uv tool install"),
        ("/h/.local/pipx/venvs/wc-watercooler", "pipx install --force"),
        ("/h/venv", "/h/venv/bin/python -m pip install"),
    ],
)
def test_an_installation(prefix: str, command: str, package: str) -> None:
    """The package need not be in an index: it may come from a checkout."""
    source = SOURCES[package]
    python = f"{prefix}/bin/python"
    found = extras.adding("graph", prefix=prefix, python=python, source=source)
    assert found == f"{command} '{package}'"


def test_a_checkout(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bootstrap").touch()
    found = extras.adding(
        "graph", prefix=str(tmp_path / ".venv"), python=sys.executable
    )
    assert found == f"{tmp_path}/bin/bootstrap --dev"


def test_where_this_wc_came_from() -> None:
    assert extras.origin()["url"].startswith("file:///")

"""The command that adds an optional part depends on how wc was installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from wc_core.base import extras

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/h/.local/share/uv/tools/wc-watercooler", "uv tool install"),
        ("/h/.local/pipx/venvs/wc-watercooler", "pipx install --force"),
        ("/h/venv", "/h/venv/bin/python -m pip install"),
    ],
)
def test_an_installation(prefix: str, command: str) -> None:
    python = f"{prefix}/bin/python"
    found = extras.adding("graph", prefix=prefix, python=python)
    assert found == f"{command} 'wc-watercooler[graph]'"


def test_a_checkout(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bootstrap").touch()
    found = extras.adding(
        "graph", prefix=str(tmp_path / ".venv"), python=sys.executable
    )
    assert found == f"{tmp_path}/bin/bootstrap --dev"

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.observe.stores import Store
from tests.observe.web.pages import Site

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "USER": "Pat",
        "GIT_CONFIG_NOSYSTEM": "1",
        # As in tests/conftest.py.
        "WATERCOOLER_MEANING": "off",
    }


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "work" / ".watercooler")


@pytest.fixture
def site(env: dict[str, str], store: Store) -> Site:
    return Site(store.root.parent, env)

"""The page that says which clients were tried."""

from __future__ import annotations

import json
import re

import pytest

from tests.clients.installing import AGENTS, HERE, LOCKED
from tests.conftest import SOURCE

PAGE = SOURCE.parent / "docs/observe.md"
TRIED = {
    **json.loads((HERE / LOCKED[0]).read_text())["dependencies"],
    **json.loads(AGENTS.read_text()),
}


@pytest.mark.parametrize("package", sorted(TRIED))
def test_the_documentation_has_the_version_that_is_tried(package: str) -> None:
    row = re.search(
        rf"^\|[^|]*`{package}`[^|]*\| ([^|]*) \|", PAGE.read_text(), re.MULTILINE
    )
    assert row is not None
    assert row[1] == TRIED[package]


def test_the_lock_says_nothing_of_where_its_maker_gets_packages() -> None:
    packages = json.loads((HERE / LOCKED[1]).read_text())["packages"]
    assert {one for one, has in packages.items() if "resolved" in has} == set()
    assert all("integrity" in has for name, has in packages.items() if name)

"""What is started in here is not measured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.measuring import paused

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _nothing_started_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of processes, each of which would take longer, run what
    tests/cli has run and measured."""
    for name in [one for one in os.environ if one.startswith("COV")]:
        monkeypatch.delenv(name)


@pytest.fixture
def unmeasured() -> Iterator[None]:
    """Nor is what this process does, over and over: that takes twice as long
    where it is measured, and other tests have measured it."""
    with paused():
        yield

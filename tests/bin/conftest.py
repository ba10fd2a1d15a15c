"""What is started in here is not measured."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of processes, each of which would take three times as long, run
    what tests/cli has run and measured."""
    for name in [one for one in os.environ if one.startswith("COV")]:
        monkeypatch.delenv(name)

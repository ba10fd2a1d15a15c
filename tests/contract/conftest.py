"""What runs in here is not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.measuring import unmeasured

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _unmeasured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Thousands of processes and calls, each of which would take two or three
    times as long, run what the other tests have run and measured."""
    with unmeasured(monkeypatch):
        yield

"""What runs in here is not measured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.measuring import paused

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _unmeasured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Scripts are not; what is of Python runs here as it does in tests/core,
    and takes twice as long where it is measured."""
    for name in [one for one in os.environ if one.startswith("COV")]:
        monkeypatch.delenv(name)
    with paused():
        yield

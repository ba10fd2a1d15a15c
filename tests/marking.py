"""Marks tests by their place and by what they need; `bin/test` chooses by that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

TESTS = Path(__file__).parent
# Folders whose tests have the marker of the same name.
FOLDERS = frozenset({"bin", "clients", "contract", "core"})
# The fixture of a home folder in which commands are run as processes.
MACHINE = "machine"
# A module that has one of these by that name runs programs.
RUNNING = frozenset({"Git", "Machine", "pty", "subprocess"})
LONG_ONLY = pytest.mark.skip(reason="only in the long runs: bin/test --long")


def mark(items: Iterable[Any], *, long: bool) -> None:
    """Give tests the markers of their folder, ``processes``, and for a test that
    is only in the long runs, unless this is one, a reason to skip it."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in FOLDERS:
            item.add_marker(folder)
        if MACHINE in item.fixturenames or RUNNING & vars(item.module).keys():
            item.add_marker("processes")
        if item.get_closest_marker("long") and not long:
            item.add_marker(LONG_ONLY)

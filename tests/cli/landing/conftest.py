"""Where the tests of landing begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.landing import story

if TYPE_CHECKING:
    from tests.conftest import Machine
    from tests.contract.inprocess import Here


@pytest.fixture
def machine() -> Machine:
    """A machine without a repository."""
    return story.empty_machine()


@pytest.fixture
def here(machine: Machine) -> Here:
    """The main worktree, with two files on main."""
    return story.begun(machine, story.begin)

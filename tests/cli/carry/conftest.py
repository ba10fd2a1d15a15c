"""A person's clone and the remote that it shares with sessions in the cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.carry.places import new_hub

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine, Repo


@pytest.fixture
def person(machine: Machine) -> Repo:
    """The person's clone."""
    return machine.repo()


@pytest.fixture
def hub(person: Repo, tmp_path: Path) -> Path:
    """The remote; it has a thread whose ball Claude Code has."""
    path = new_hub(person, tmp_path / "hub.git")
    person.ok("new", "login", "-m", "Use a passkey", "--to", "Claude Code", "--force")
    person.ok("sync")
    return path

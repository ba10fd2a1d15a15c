"""A receipt says what was done."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "slow", "-m", "Search is slow")
    repo.ok("tag", "slow", "old")
    return repo


@pytest.mark.parametrize(
    ("typed", "deed"),
    [
        ("say typo -m x", "new thread typo"),
        ("tag slow urgent -old", "tagged +urgent -old"),
        ("tag slow -old", "untagged old"),
        ("rename slow fast", "renamed slow → fast"),
        ("retract slow", "#0 retracted"),
        ("amend slow -m Fast", "#0 amended"),
        ("move slow elsewhere", "moved to elsewhere"),
        ("set-status slow BLOCKED", "BLOCKED"),
        ("take slow why --as Codex", "ball: Pat → Codex (Pat)"),
    ],
)
def test_a_receipt_says_what_was_done(repo: Here, typed: str, deed: str) -> None:
    words = shlex.split(typed)
    receipt = repo.ok(*words, "--key", "k").out
    assert deed in receipt.rstrip("\n").split(" · ")
    assert repo.ok(*words, "--key", "k").out == receipt
    assert "deed" not in repo.json(*words, "--key", "k")


def test_a_usual_receipt_is_short(repo: Here) -> None:
    receipt = repo.ok("say", "slow", "-m", "Still").out
    assert [fact.partition(" ")[0] for fact in receipt.split(" · ")] == [
        "saved",
        "ball:",
    ]

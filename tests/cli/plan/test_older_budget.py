"""A budget of an older wc, which nothing counts now: the thread goes on only when a
person says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_core.base.ulid import encode, timestamp_ms

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

CODEX = ("--as", "Codex")
STOP = "a budget of an older wc: #1"


def set_budget(repo: Repo, topic: str, tokens: int) -> None:
    """The entry that an older wc wrote."""
    log = repo.log(topic)
    last = json.loads(log.read_text().splitlines()[-1])
    entry = {
        "entry_id": encode((timestamp_ms(last["entry_id"]) + 1) << 80),
        "agent": last["agent"],
        "timestamp": last["timestamp"],
        "title": f"Budget: {tokens}",
        "action": "budget",
        "budget": tokens,
        "parents": [last["entry_id"]],
    }
    with log.open("a") as file:
        file.write(json.dumps(entry) + "\n")


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "api", "--title", "The api", *CODEX)
    set_budget(repo, "api", 200_000)
    return repo


def ready(repo: Here) -> list[str]:
    return [row["topic"] for row in repo.json("ready", *CODEX)["threads"]]


def test_a_budget_stops_a_thread_until_a_person_ends_that(repo: Here) -> None:
    assert ready(repo) == []
    assert STOP in repo.ok("ready", "api").out
    (row,) = repo.json("list", *CODEX)["threads"]
    assert row["waits_for"] == [STOP]
    error = repo.fails(4, "ready", "api", "--anyway", *CODEX)
    assert "only a person" in error
    repo.ok("say", "api", "-m", "Going on", *CODEX)
    repo.ok("done", "api", "-m", "Done", "--to", "Codex", *CODEX)
    assert STOP in repo.ok("ready", "api").out
    # One whose agent has it takes it first.
    assert "Take it first" in repo.fails(4, "ready", "api", "--anyway")
    repo.ok("take", "api", "--reason", "I decide")
    assert STOP in repo.ok("ready", "api").out
    repo.ok("ready", "api", "--anyway")
    assert STOP not in repo.ok("ready", "api").out
    assert [row["topic"] for row in repo.json("ready")["threads"]] == ["api"]
    # An older wc understands it, too.
    last = json.loads(repo.log("api").read_text().splitlines()[-1])
    assert (last["action"], last["budget"]) == ("ready", 0)
    assert "wc ready api" in repo.fails(4, "ready", "api", "--anyway")
    repo.fails(2, "ready", "--anyway")


def test_the_ball_of_another_person_is_theirs_to_free(repo: Here) -> None:
    repo.ok("handoff", "api", "--to", "Sam", "--force", *CODEX)
    assert "has the ball" in repo.fails(4, "ready", "api", "--anyway")


def test_another_status_ends_it_if_a_person_sets_it(repo: Here) -> None:
    repo.ok("set-status", "api", "IN_REVIEW", *CODEX)
    assert STOP in repo.ok("ready", "api").out
    repo.ok("take", "api", "--reason", "I decide")
    repo.ok("set-status", "api", "OPEN")
    assert STOP not in repo.ok("ready", "api").out


def test_a_budget_that_was_removed_stops_nothing(repo: Here) -> None:
    set_budget(repo, "api", 0)
    assert ready(repo) == ["api"]

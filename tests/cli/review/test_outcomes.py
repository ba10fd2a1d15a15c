"""``wc done --approve`` and ``--request-changes``, and where their outcome is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

AUTHOR = ("--as", "Claude Code")
CRITIC = ("--as", "Codex")


@pytest.fixture
def here(machine: Machine) -> Here:
    here = Here(machine, machine.repo().path)
    here.ok("new", "login", "--title", "T", "--to", "Claude Code", "--force")
    return here


def submit(here: Here) -> None:
    here.ok(
        *("say", "login", "--title", "Please review", "--status", "IN_REVIEW"),
        *("--to", "Codex", "--force", *AUTHOR),
    )


def test_requested_changes_send_the_ball_back(here: Here) -> None:
    submit(here)
    here.ok("done", "login", "--request-changes", "--title", "Not yet", *CRITIC)
    (row,) = here.json("list")["threads"]
    assert (row["status"], row["outcome"]) == ("OPEN", "changes_requested")
    assert (row["ball"], row["outcome_by"]) == ("Claude Code (Pat)", "Codex (Pat)")
    assert "OPEN, changes requested" in here.ok("list").out
    assert "changes requested by Codex" in here.ok("read", "login").out
    assert "changes requested" in here.ok("board").out
    thread = here.json("read", "login")
    assert thread["outcome"] == "changes_requested"
    entry = thread["entries"][-1]
    assert (entry["type"], entry["role"]) == ("Decision", "critic")
    assert entry["outcome"] == "changes_requested"
    # The next review has no outcome yet.
    submit(here)
    assert "outcome" not in here.json("list")["threads"][0]


def test_set_status_passes_the_ball_to_a_reviewer(here: Here) -> None:
    here.ok("set-status", "login", "IN_REVIEW", "--to", "Codex", *AUTHOR)
    (row,) = here.json("list")["threads"]
    assert (row["status"], row["ball"]) == ("IN_REVIEW", "Codex")
    here.ok("done", "login", "--request-changes", "--title", "Not yet", *CRITIC)
    assert here.json("list")["threads"][0]["ball"] == "Claude Code (Pat)"


def test_approval_needs_no_title_and_goes_to_who_asked(here: Here) -> None:
    submit(here)
    here.ok("done", "login", "--approve", *CRITIC)
    thread = here.json("read", "login")
    assert (thread["status"], thread["ball"]) == ("OPEN", "Pat")
    assert thread["entries"][-1]["title"] == "Approved"
    here.ok("done", "login", "--approve")
    thread = here.json("read", "login")
    assert (thread["status"], thread["outcome_by"]) == ("CLOSED", "Pat")


def test_the_page_has_the_outcome_and_reads_back(here: Here) -> None:
    submit(here)
    here.settled("say", "login", "--approve", *CRITIC)
    text = (here.store / "threads/login.md").read_text()
    assert "\nOutcome: approved\n" in text
    assert '"version":4' in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--approve", "--request-changes"), "--approve and --request-changes"),
        (("--approve", "--type", "Note"), "is a Decision, not a Note"),
        (("--request-changes", "--title", "x", "--status", "CLOSED"), "not closed"),
        (("--request-changes",), "No title was given"),
    ],
)
def test_what_cannot_be_an_outcome_is_refused(
    here: Here, words: tuple[str, ...], message: str
) -> None:
    submit(here)
    done = here.wc("done", "login", *words, *CRITIC, "--json")
    assert done.code == 2
    assert message in json.loads(done.err)["error"]["message"]
    assert len(here.json("read", "login")["entries"]) == 2


def test_a_review_begins_no_thread(here: Here) -> None:
    done = here.wc("say", "absent", "--approve", *CRITIC)
    assert done.code == 3
    assert len(here.json("list")["threads"]) == 1


def test_after_too_many_rounds_a_person_should_look(here: Here) -> None:
    (here.store / "config.toml").write_text("[ball]\nbounces = 2\n")
    words = ("done", "login", "--request-changes", "--title", "Not yet", *CRITIC)
    submit(here)
    assert "a person should look" not in here.ok(*words).err
    submit(here)
    assert "changes were requested 2 times between Codex" in here.ok(*words).err
    found = here.wc("doctor")
    assert "a person should look: wc handoff login" in found.out + found.err
    submit(here)
    here.ok("done", "login", "--approve", *CRITIC)
    assert "a person should look" not in here.wc("doctor").out

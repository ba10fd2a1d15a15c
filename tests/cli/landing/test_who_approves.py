"""Whose approval has a branch land: a person's, given here, about that commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.landing.story import begin, head, line_of, work
from tests.cli.landing.test_checks import ask_for
from wc_core.ledger.provenance import BRANCH, CARRIER
from wc_core.ledger.threads.jsontext import dumps

if TYPE_CHECKING:
    from tests.conftest import Machine
    from tests.contract.inprocess import Here

CLAUDE = {"CLAUDECODE": "1"}


@pytest.fixture
def here(machine: Machine) -> Here:
    return begin(machine)


def reviewed(here: Here, *words: str, env: dict[str, str] | None = None) -> None:
    """Codex works on login; somebody approves it."""
    work(here, "login", 3, approved=False)
    here.ok("say", "login", "--approve", "--to", "Pat", *words, env=env or {})


def came(here: Here, origin: str) -> None:
    """Have all entries of login be as if they had come in another way."""
    (here.private / "written/login").unlink()
    if origin == CARRIER:
        review = here.json("read", "login")["entries"][-1]["id"]
        row = dumps({"entry": review, "via": "codex/login"})
        (here.store / "harvested.jsonl").write_text(f"{row}\n")


def test_a_person_who_approves_here_is_enough(here: Here) -> None:
    reviewed(here)
    assert here.ok("land", "--all").out.startswith("login: landed")


@pytest.mark.parametrize("origin", [BRANCH, CARRIER])
def test_an_approval_that_came_is_none(here: Here, origin: str) -> None:
    reviewed(here)
    came(here, origin)
    before = head(here)
    assert here.ok("land", "--all").out == ""
    said = here.fails(4, "land", "login")
    assert "it was approved by Pat, and that came with the branch" in said
    assert "A person has to approve it: wc review login" in said
    assert head(here) == before
    assert "ready to land" not in here.ok("list").out
    # The same word, given here, is enough.
    here.ok("say", "login", "--approve", "--to", "Pat")
    here.ok("land", "login")


def test_a_preference_of_this_machine_names_who_else_approves(here: Here) -> None:
    reviewed(here)
    came(here, BRANCH)
    here.ok("config", "--global", "set", "land.by", "Kim")
    assert here.ok("land", "--all").out == ""
    here.ok("config", "--global", "set", "land.by", "Kim", "Pat")
    assert here.ok("land", "--all").out.startswith("login: landed")


def test_none_names_a_carrier(here: Here) -> None:
    reviewed(here)
    came(here, CARRIER)
    here.ok("config", "--global", "set", "land.by", "Pat")
    assert here.ok("land", "--all").out == ""
    here.fails(4, "land", "login")


def test_an_agent_that_speaks_as_the_person_approves_nothing(here: Here) -> None:
    reviewed(here, "--as", "Pat", env=CLAUDE)
    assert here.ok("land", "--all").out == ""
    said = here.fails(4, "land", "login", env=CLAUDE)
    assert "it was approved by Claude Code, as Pat, which no person has" in said


def test_a_person_who_lands_by_name_confirms_an_agents_review(here: Here) -> None:
    reviewed(here, "--as", "Gemini")
    tip = head(here, "login")
    assert here.ok("land", "--all").out == ""
    here.fails(4, "land", "login", env=CLAUDE)
    done = here.ok("land", "login")
    assert done.out.startswith("login: landed")
    assert f"landing it by name is your approval of {tip[:9]}" in done.err


@pytest.mark.parametrize("name", ["Codex", "Codex@other", "codex"])
def test_no_agent_approves_its_own_work(here: Here, name: str) -> None:
    reviewed(here, "--as", name)
    assert here.ok("land", "--all").out == ""
    assert "who worked on it" in here.fails(4, "land", "login")


def test_an_agent_lands_what_a_person_approved_and_no_other_commit(here: Here) -> None:
    reviewed(here)
    tip = head(here, "login")
    here.ok("handoff", "login", "--to", "Claude Code")
    said = here.fails(4, "land", "login", "--commit", tip, env=CLAUDE)
    assert "Only a person can name a commit" in said
    here.ok("land", "login", env=CLAUDE)
    assert line_of(here, 3) != "3"


def test_a_later_approval_from_elsewhere_takes_nothing_away(here: Here) -> None:
    reviewed(here)
    here.ok("say", "login", "--approve", "--as", "Gemini")
    assert here.ok("land", "--all").out.startswith("login: landed")


def test_a_request_for_changes_from_anywhere_stops_it(here: Here) -> None:
    reviewed(here)
    here.ok("say", "login", "--request-changes", "-m", "No", "--to", "Codex")
    came(here, BRANCH)
    assert here.ok("land", "--all").out == ""


@pytest.mark.parametrize("needs", ["nothing", "closed"])
def test_a_setting_that_came_with_a_push_approves_nothing(
    here: Here, needs: str
) -> None:
    work(here, "login", 3, approved=False)
    here.ok("config", "set", "land.needs", needs)
    if needs == "closed":
        here.ok("close", "login", "-m", "Done", "--reason", "x")
    before = head(here)
    assert here.ok("land", "--all").out == ""
    here.fails(4, "land", "login", env=CLAUDE)
    assert head(here) == before
    # For a person who names the thread, it is enough.
    here.ok("land", "login")


def test_an_agent_approves_no_check(here: Here) -> None:
    reviewed(here)
    ask_for(here, "true")
    here.ok("handoff", "login", "--to", "anyone")
    said = here.fails(4, "land", "login", "--yes", env=CLAUDE)
    assert "A person approves it" in said
    here.ok("land", "login", "--yes")


@pytest.mark.parametrize("origin", [BRANCH, CARRIER])
def test_a_check_runs_after_a_yes_whoever_asked_for_it(here: Here, origin: str) -> None:
    reviewed(here)
    came(here, origin)
    here.ok("say", "login", "--approve", "--to", "Pat")
    ask_for(here, "touch ran")
    assert "not approved on this machine" in here.fails(4, "land", "login")
    here.ok("land", "login", "--yes")


def test_an_approved_command_in_the_store_runs_nothing(here: Here) -> None:
    """A branch can contain `.local`; and a yes is about one place."""
    reviewed(here)
    ask_for(here, "true")
    here.fails(4, "land", "login")
    here.ok("land", "login", "--yes", "--dry-run")
    approved = here.private / "approved-commands"
    assert not approved.exists()
    for digest in (
        "b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b",  # true
        "0" * 64,
    ):
        (here.store / ".local/approved-commands").write_text(f"{digest}\n")
        here.fails(4, "land", "login")

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
def repo(machine: Machine) -> Here:
    return begin(machine)


def reviewed(repo: Here, *words: str, env: dict[str, str] | None = None) -> None:
    """Codex works on login; someone approves it."""
    work(repo, "login", 3, approved=False)
    repo.ok("say", "login", "--approve", "--to", "Pat", *words, env=env or {})


def came(repo: Here, origin: str) -> None:
    """Have all entries of login be as if they had come in another way."""
    (repo.private / "written/login").unlink()
    if origin == CARRIER:
        review = repo.json("read", "login")["entries"][-1]["id"]
        row = dumps({"entry": review, "via": "codex/login"})
        (repo.store / "harvested.jsonl").write_text(f"{row}\n")


def test_a_person_who_approves_here_is_enough(repo: Here) -> None:
    reviewed(repo)
    assert repo.ok("land", "--all").out.startswith("login: landed")


@pytest.mark.parametrize("origin", [BRANCH, CARRIER])
def test_an_approval_that_came_is_none(repo: Here, origin: str) -> None:
    reviewed(repo)
    came(repo, origin)
    before = head(repo)
    assert repo.ok("land", "--all").out == ""
    message = repo.fails(4, "land", "login")
    way = "came with the branch codex/login"
    way = way if origin == CARRIER else "is not recorded as done here"
    assert f"it was approved by Pat, which {way}" in message
    assert "A person has to approve it: wc review login" in message
    assert head(repo) == before
    assert "ready to land" not in repo.ok("list").out
    # The same word, given here, is enough.
    repo.ok("review", "login")
    repo.ok("say", "login", "--approve", "--to", "Pat")
    repo.ok("land", "login")


def test_a_preference_of_this_machine_names_who_else_approves(repo: Here) -> None:
    reviewed(repo)
    came(repo, BRANCH)
    repo.ok("config", "--global", "set", "land.by", "Kim")
    assert repo.ok("land", "--all").out == ""
    repo.ok("config", "--global", "set", "land.by", "Kim", "Pat")
    assert repo.ok("land", "--all").out.startswith("login: landed")


def test_none_names_a_carrier(repo: Here) -> None:
    reviewed(repo)
    came(repo, CARRIER)
    repo.ok("config", "--global", "set", "land.by", "Pat")
    assert repo.ok("land", "--all").out == ""
    repo.fails(4, "land", "login")


def test_an_agent_that_speaks_as_the_person_approves_nothing(repo: Here) -> None:
    reviewed(repo, "--as", "Pat", env=CLAUDE)
    assert repo.ok("land", "--all").out == ""
    message = repo.fails(4, "land", "login", env=CLAUDE)
    assert "it was approved by Claude Code, as Pat, which no person has" in message


def test_a_person_who_lands_by_name_confirms_an_agents_review(repo: Here) -> None:
    reviewed(repo, "--as", "Gemini")
    tip = head(repo, "login")
    assert repo.ok("land", "--all").out == ""
    repo.fails(4, "land", "login", env=CLAUDE)
    done = repo.ok("land", "login")
    assert done.out.startswith("login: landed")
    assert f"landing it by name is your approval of {tip[:9]}" in done.err


@pytest.mark.parametrize("name", ["Codex", "Codex@other", "codex"])
def test_no_agent_approves_its_own_work(repo: Here, name: str) -> None:
    reviewed(repo, "--as", name)
    assert repo.ok("land", "--all").out == ""
    assert "who worked on it" in repo.fails(4, "land", "login")


def test_an_agent_lands_what_a_person_approved_and_no_other_commit(repo: Here) -> None:
    reviewed(repo)
    tip = head(repo, "login")
    repo.ok("handoff", "login", "--to", "Claude Code")
    message = repo.fails(4, "land", "login", "--commit", tip, env=CLAUDE)
    assert "Only a person can name a commit" in message
    repo.ok("land", "login", env=CLAUDE)
    assert line_of(repo, 3) != "3"


def test_a_later_approval_from_elsewhere_takes_nothing_away(repo: Here) -> None:
    reviewed(repo)
    repo.ok("say", "login", "--approve", "--as", "Gemini")
    assert repo.ok("land", "--all").out.startswith("login: landed")


def test_a_request_for_changes_from_anywhere_stops_it(repo: Here) -> None:
    reviewed(repo)
    repo.ok("say", "login", "--request-changes", "-m", "No", "--to", "Codex")
    came(repo, BRANCH)
    assert repo.ok("land", "--all").out == ""


@pytest.mark.parametrize("needs", ["nothing", "closed"])
def test_a_setting_that_came_with_a_push_approves_nothing(
    repo: Here, needs: str
) -> None:
    work(repo, "login", 3, approved=False)
    repo.ok("config", "set", "land.needs", needs)
    if needs == "closed":
        repo.ok("close", "login", "-m", "Done", "--reason", "x")
    before = head(repo)
    assert repo.ok("land", "--all").out == ""
    repo.fails(4, "land", "login", env=CLAUDE)
    assert head(repo) == before
    # For a person who names the thread, it is enough.
    repo.ok("land", "login")


def test_an_agent_approves_no_check(repo: Here) -> None:
    reviewed(repo)
    ask_for(repo, "true")
    repo.ok("handoff", "login", "--to", "anyone")
    message = repo.fails(4, "land", "login", "--yes", env=CLAUDE)
    assert "A person approves it" in message
    repo.ok("land", "login", "--yes")


@pytest.mark.parametrize("origin", [BRANCH, CARRIER])
def test_a_check_runs_after_a_yes_whoever_asked_for_it(repo: Here, origin: str) -> None:
    reviewed(repo)
    came(repo, origin)
    repo.ok("review", "login")
    repo.ok("say", "login", "--approve", "--to", "Pat")
    ask_for(repo, "touch ran")
    assert "not approved on this machine" in repo.fails(4, "land", "login")
    repo.ok("land", "login", "--yes")


def test_an_approved_command_in_the_store_runs_nothing(repo: Here) -> None:
    """A branch can contain `.local`; and a yes is about one place."""
    reviewed(repo)
    ask_for(repo, "true")
    repo.fails(4, "land", "login")
    repo.ok("land", "login", "--yes", "--dry-run")
    approved = repo.private / "approved-commands"
    assert not approved.exists()
    for digest in (
        "b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b",  # true
        "0" * 64,
    ):
        (repo.store / ".local/approved-commands").write_text(f"{digest}\n")
        repo.fails(4, "land", "login")

"""An agent's own user, with which git is configured in the cloud, is no person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import Git
from wc_core.base.agents import AGENTS, agent_of_bot
from wc_core.ledger.git import repository
from wc_core.ledger.git.authorship import Person
from wc_core.ledger.threads.settings import Settings
from wc_core.people.identity.resolve import Asked, Evidence, Identity, identify
from wc_core.people.identity.userrecord import UserRecord

if TYPE_CHECKING:
    from pathlib import Path

CLOUD = {"CLAUDECODE": "1", "CLAUDE_CODE_REMOTE": "true"}
PEOPLE = (
    ("Claude Monet", "claude@example.org"),
    ("Claude", "claude@example.org"),
    ("Pat", "pat@users.noreply.github.com"),
    ("bot", "bot@example.org"),
    ("", ""),
)


def who(home: Path, name: str, email: str, env: dict[str, str]) -> Identity:
    """Who speaks on a branch of a clone, if git is configured for this user."""
    git = Git(home)
    top = home / "app"
    if not top.exists():
        git.repository(top)
        git(top, "switch", "-q", "-c", "claude/fix-1")
    git(top, "config", "user.name", name)
    git(top, "config", "user.email", email)
    full = {"HOME": str(home), "USER": "root", "GIT_CONFIG_NOSYSTEM": "1"} | env
    return identify(Asked(), full, repository.find(str(top)), Settings())


@pytest.mark.parametrize(("name", "email"), PEOPLE)
def test_people_are_not_taken_for_bots(name: str, email: str) -> None:
    assert agent_of_bot(name, email) == ""


def test_bots_are_known_by_their_address_or_their_mark() -> None:
    assert agent_of_bot("Anyone", "NoReply@Anthropic.com ") == "Claude Code"
    assert agent_of_bot("github-actions[bot]", "") == "github-actions[bot]"
    for agent in AGENTS:
        for address in agent.bots:
            assert address == address.lower()
            assert agent_of_bot("", address) == agent.name


def test_an_agent_in_the_cloud_has_a_branch_and_no_tag(tmp_path: Path) -> None:
    """The seat is the branch, so two sessions are two participants."""
    bot = ("Claude", "noreply@anthropic.com")
    found = who(tmp_path, *bot, CLOUD)
    assert found.author == "Claude Code@claude/fix-1"
    assert (found.behind, found.person) == ("", False)
    found = who(tmp_path, *bot, CLOUD | {"WATERCOOLER_USER": "Pat"})
    assert found.author == "Claude Code@claude/fix-1 (Pat)"
    # On an ordinary machine, the main worktree is no seat.
    assert who(tmp_path, *bot, {"CLAUDECODE": "1"}).author == "Claude Code"


def test_without_a_variable_the_bot_says_which_agent_it_is(tmp_path: Path) -> None:
    found = who(tmp_path, "Claude", "noreply@anthropic.com", {})
    assert (found.author, found.source) == ("Claude Code", "git's bot")
    found = who(tmp_path, "github-actions[bot]", "41898282@example.org", {})
    assert found.author == "github-actions[bot]"
    assert not found.person
    assert who(tmp_path, "Claude", "claude@example.org", {}).person


def test_a_record_of_a_bot_is_none(tmp_path: Path) -> None:
    """Where a client hides git's configuration, the bot on record is nobody's tag, and
    neither is the user of the system."""
    record = UserRecord(Person("Claude", "noreply@anthropic.com"))
    env = {"HOME": str(tmp_path), "USER": "root", "GIT_CONFIG_NOSYSTEM": "1"}
    found = identify(
        Asked("Codex"), env, None, Settings(), Evidence(recorded=lambda: record)
    )
    assert found.author == "Codex"

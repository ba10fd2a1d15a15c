"""Rules are kept by who writes, and never lose an entry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_core.ledger.configuration import keys
from wc_core.ledger.threads import model

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def test_the_words_of_rules_are_those_of_entries() -> None:
    assert keys.KINDS == model.KINDS


def violated(repo: Repo) -> list[tuple[str, str]]:
    """The threads that violate the rules, according to doctor, each with how."""
    rows = json.loads(repo.wc("doctor", "--json").out)["waiting"]
    return [(row["file"], row["message"]) for row in rows]


def test_without_rules_there_is_nothing_to_keep(repo: Repo) -> None:
    repo.ok("new", "old", "--title", "Before")
    assert violated(repo) == []
    assert "rules.balls = 0" in repo.ok("config", "list", "rules").out
    assert "takes one of: ball" in repo.fails(2, "config", "list", "nothing")
    assert "takes one of: ball" in repo.fails(2, "config", "list", "rules", "ball")


def test_a_rule_is_kept_by_who_writes(repo: Repo) -> None:
    repo.ok("new", "old", "--title", "Before")
    repo.ok("config", "set", "rules.title", "fix: *", "feat: *")
    repo.ok("config", "set", "rules.close_kinds", "decision")
    assert "rules.title" in repo.fails(2, "new", "auth", "--title", "Log in")
    assert "rules.title" in repo.fails(2, "say", "auth", "--title", "Log in")
    repo.ok("new", "auth", "--title", "fix: log in")
    assert "rules.close_kinds" in repo.fails(4, "done", "auth", "--title", "Done")
    assert "rules.close_kinds" in repo.fails(4, "set-status", "auth", "CLOSED")
    repo.ok("say", "auth", "--kind", "decision", "--title", "As it was")
    repo.ok("done", "auth", "--title", "Done")
    lines = repo.ok("config", "list", "rules").out.splitlines()
    assert [line.partition(" = ")[0] for line in lines] == [
        "rules.title",
        "rules.close_kinds",
        "rules.close_link",
        "rules.balls",
    ]
    assert repo.wc("doctor").code == 9
    assert violated(repo) == [("old", "rules.title: its title is 'Before'")]


def test_a_thread_that_was_closed_before_a_rule_is_named(repo: Repo) -> None:
    repo.ok("new", "old", "--title", "Before")
    repo.ok("close", "old")
    repo.ok("config", "set", "rules.close_link", "branch")
    message = "rules.close_link: closed without a branch"
    assert violated(repo) == [("old", message)]


def test_the_number_of_balls_is_limited(repo: Repo) -> None:
    repo.ok("config", "set", "rules.balls", "1")
    repo.ok("new", "a", "--title", "A", "--to", "Codex")
    error = repo.fails(4, "new", "b", "--title", "B", "--to", "codex")
    assert "rules.balls" in error
    assert "wc list --open --ball Codex" in error
    repo.ok("new", "b", "--title", "B")
    repo.fails(4, "handoff", "b", "--to", "Codex")
    repo.ok("config", "unset", "rules.balls")
    repo.ok("handoff", "b", "--to", "Codex")
    repo.ok("config", "set", "rules.balls", "1")
    message = "rules.balls: Codex holds 2 balls, at most 1: a, b"
    assert violated(repo) == [("a", message)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("roles", '["critic"]'),
        ("types", '["Plan"]'),
        ("close_roles", '"critic"'),
        ("close_types", "7"),
        ("thread_days", "1"),
        ("ball_days", "1"),
    ],
)
def test_a_rule_that_went_has_no_effect_and_is_named(
    repo: Repo, key: str, value: str
) -> None:
    repo.ok("new", "auth", "--title", "A")
    (repo.store / "config.toml").write_text(f"[rules]\n{key} = {value}\n")
    assert f"rules.{key} has no effect" in repo.ok("doctor").out
    repo.ok("done", "auth", "--title", "B")
    assert "no setting" in repo.fails(2, "config", "set", f"rules.{key}", "1")


def _clone(machine: Machine, name: str) -> Here:
    machine.git("clone", "-q", str(machine.root / "hub"), name, cwd=machine.root)
    return Here(machine, machine.root / name)


def test_a_rule_that_clones_disagree_about_loses_no_entry(
    machine: Machine, repo: Repo
) -> None:
    """One clone has a rule that the entries of the other do not keep."""
    machine.git("init", "-q", "--bare", str(machine.root / "hub"), cwd=machine.root)
    repo.git("remote", "add", "origin", str(machine.root / "hub"))
    repo.git("push", "-q", "origin", "main")
    repo.settled("new", "auth", "--title", "A")
    repo.ok("sync")
    other = _clone(machine, "b")
    other.ok("list")
    repo.ok("config", "set", "rules.title", "fix: *")
    repo.ok("config", "set", "rules.closers", "Nobody")
    repo.ok("sync")
    other.ok("say", "auth", "--title", "B")
    other.ok("done", "auth", "--title", "C")
    other.ok("new", "web", "--title", "D")
    other.ok("sync")
    repo.ok("sync")
    titles = [entry["title"] for entry in repo.entries("auth")]
    assert titles == ["A", "B", "C"]
    assert repo.entries("auth") == other.entries("auth")
    assert repo.json("read", "auth", "--peek")["status"] == "CLOSED"
    assert ("web", "rules.title: its title is 'D'") in violated(repo)
    third = _clone(machine, "c")
    assert third.ok("config", "get", "rules.title").out == "fix: *\n"
    # From then on, the rule is known there as well.
    assert "rules.title" in other.fails(2, "new", "more", "--title", "E")


def test_rules_that_cannot_be_read_are_not_taken_for_none(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "A")
    (repo.store / "config.toml").write_text("[rules]\ntitle = 1\n")
    assert "config.toml" in repo.wc("doctor").out
    repo.fails(6, "say", "auth", "--title", "B")
    assert len(repo.json("read", "auth", "--peek")["entries"]) == 1

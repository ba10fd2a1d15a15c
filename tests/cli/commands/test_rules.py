"""``wc rules``: rules are kept by who writes, and never lose an entry."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_core.ledger.configuration import keys
from wc_core.ledger.threads import model

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

_DAY = 24 * 3600


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def test_the_words_of_rules_are_those_of_entries() -> None:
    words = (keys.ROLES, keys.ENTRY_TYPES, keys.KINDS)
    assert words == (model.ROLES, model.ENTRY_TYPES, model.KINDS)


def test_without_rules_there_is_nothing_to_keep(repo: Repo) -> None:
    assert "has no rules" in repo.ok("rules").out
    assert repo.json("rules") == {"rules": []}
    assert repo.ok("rules", "check").out == "No thread violates the rules.\n"
    assert "wc rules check" in repo.fails(2, "rules", "set")


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
    lines = repo.ok("rules").out.splitlines()
    assert [line.partition(" = ")[0] for line in lines] == [
        "rules.title",
        "rules.close_kinds",
    ]
    done = repo.wc("rules", "check")
    assert done.code == 9
    assert done.out == "old: rules.title: its title is 'Before'\n"


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
    rows = json.loads(repo.wc("rules", "check", "--json").out)["violations"]
    assert rows == [
        {
            "rule": "rules.balls",
            "thread": "a",
            "message": "Codex holds 2 balls, at most 1: a, b",
        }
    ]


def test_ages_are_reported_and_not_enforced(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.ok("config", "set", "rules.thread_days", "3")
    repo.ok("config", "set", "rules.ball_days", "2")
    repo.ok("new", "auth", "--title", "A", "--to", "Codex")
    assert not repo.wc("rules", "check").code
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 5 * _DAY)
    monkeypatch.setattr(time, "time_ns", lambda: int((now + 5 * _DAY) * 1e9))
    done = repo.wc("rules", "check")
    assert done.code == 9
    assert "rules.thread_days: open for 5 days, at most 3" in done.out
    assert "rules.ball_days: its ball is with Codex for 5 days" in done.out
    problems = repo.wc("problems").out
    assert "rules.thread_days" in problems
    assert "rules.ball_days" in problems
    repo.ok("ack", "auth")


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
    repo.ok("config", "set", "rules.roles", "critic")
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
    violations = json.loads(repo.wc("rules", "check", "--json").out)["violations"]
    assert ("web", "rules.title") in {
        (row["thread"], row["rule"]) for row in violations
    }
    third = _clone(machine, "c")
    assert {row["key"] for row in third.json("rules")["rules"]} == {
        "rules.title",
        "rules.roles",
        "rules.closers",
    }
    fourth = _clone(machine, "d")
    assert fourth.ok("config", "get", "rules.title").out == "fix: *\n"
    # From then on, the rule is known there as well.
    assert "rules.title" in other.fails(2, "new", "more", "--title", "E")


def test_rules_that_cannot_be_read_are_not_taken_for_none(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "A")
    (repo.store / "config.toml").write_text("[rules]\nroles = 1\n")
    assert "config.toml" in repo.fails(6, "rules")
    assert "config.toml" in repo.fails(6, "rules", "check")
    repo.fails(6, "say", "auth", "--title", "B")
    assert len(repo.json("read", "auth", "--peek")["entries"]) == 1

"""Entries with a kind, by hand: what they leave alone, and where they are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_cli.posting import post
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads.proposals import Draft
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "login", "--title", "Log in", "--to", "Codex")
    return repo


def log_lines(repo: Here) -> list[bytes]:
    log = repo.store / "graph/baseline/threads/login/entries.jsonl"
    return log.read_bytes().splitlines()


@pytest.mark.parametrize("words", [("say",), ("ack",), ("say", "--type", "Plan")])
@pytest.mark.parametrize("author", ["Codex", "Gemini"])
def test_an_entry_with_a_kind_moves_no_ball(
    repo: Here, words: tuple[str, ...], author: str
) -> None:
    command, *more = words
    what = ("--kind", "WARNING", "--severity", "High", "--title", "SHA-1 is broken")
    repo.ok(command, "login", *what, *more, "--as", author)
    thread = repo.json("read", "login")
    entry = thread["entries"][-1]
    assert thread["ball"] == "Codex"
    assert (entry["kind"], entry["severity"]) == ("warning", "high")
    assert entry["action"] == "ack"
    assert "ball" not in entry


def test_a_kind_fits_a_closed_thread_and_no_new_one(repo: Here) -> None:
    repo.ok("set-status", "login", "CLOSED", *CODEX)
    repo.ok("say", "login", "--kind", "research", "--title", "Why it broke", *CODEX)
    assert repo.json("read", "login")["status"] == "CLOSED"
    done = repo.wc("say", "logout", "--kind", "note", "--title", "T", *CODEX)
    assert done.code == 3
    assert "wc new logout" in done.err or "wc list" in done.err


def test_the_type_of_a_decision_is_what_earlier_versions_show(repo: Here) -> None:
    for more in ((), ("--type", "Plan")):
        what = ("--kind", "decision", "--title", "Argon2")
        repo.ok("say", "login", *what, *more, *CODEX)
    entries = repo.json("read", "login")["entries"]
    assert [entry["type"] for entry in entries] == ["Note", "Decision", "Plan"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--to", "Gemini"), "wc handoff login --to Gemini"),
        (("--status", "IN_REVIEW"), "wc set-status login IN_REVIEW"),
        (("--reopen",), "wc set-status login OPEN"),
        (("--new",), "wc new login"),
    ],
)
def test_what_moves_the_ball_is_refused_with_the_command_that_does(
    repo: Here, words: tuple[str, ...], hint: str
) -> None:
    before = log_lines(repo)
    what = ("--kind", "decision", "--title", "Argon2")
    done = repo.wc("say", "login", *what, *words, *CODEX)
    assert done.code == 2
    assert hint in done.err
    assert log_lines(repo) == before


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--kind", "hunch"), "Use note, decision, warning"),
        (("--kind", "warning", "--severity", "9"), "Use low, medium, high, critical"),
        (("--severity", "high"), "--kind warning --severity high"),
    ],
)
def test_unknown_words_and_a_severity_alone_are_refused(
    repo: Here, words: tuple[str, ...], hint: str
) -> None:
    done = repo.wc("say", "login", "--title", "T", *words, *CODEX)
    assert done.code == 2
    assert hint in done.err


def test_the_api_has_the_same_rules(repo: Here) -> None:
    asked = Asked(name="Codex")
    draft = Draft("login", "say", "T", kind="Decision", severity="LOW")
    post(draft, asked, folder=str(repo.path), env=repo.machine.env)
    entry = repo.json("read", "login")["entries"][-1]
    assert (entry["kind"], entry["severity"]) == ("decision", "low")
    for wrong in (draft._replace(action="done"), draft._replace(to="Gemini")):
        with pytest.raises(InvalidInputError):
            post(wrong, asked, folder=str(repo.path), env=repo.machine.env)


def test_a_kind_of_a_later_version_is_kept_and_shown(repo: Here) -> None:
    repo.ok("say", "login", "--kind", "pivot", "--title", "No passwords", *CODEX)
    log = repo.store / "graph/baseline/threads/login/entries.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"kind":"pivot"', b'"kind":"hunch"'))
    repo.ok("ack", "login", *GEMINI)
    assert " · hunch · " in repo.ok("read", "login").out
    assert "hunch" in repo.ok("updates").out
    assert json.loads(log_lines(repo)[1])["kind"] == "hunch"


def test_every_view_of_an_entry_says_its_kind(repo: Here) -> None:
    what = ("--kind", "warning", "--severity", "high", "--title", "SHA-1 is broken")
    repo.ok("say", "login", *what, "--sync", *CODEX)
    read = repo.ok("read", "login", "--raw").out
    assert " · warning (high) · " in read
    assert "Note · warning" not in read
    assert "Codex (Pat): warning (high): SHA-1 is broken" in repo.ok("updates").out
    assert "warning (high)" in repo.ok("search", "broken").out
    assert "· warning (high)" in repo.ok("read", "login", "--commits").out
    page: Path = repo.store / "threads/login.md"
    assert "\nTitle: SHA-1 is broken\nKind: warning\nSeverity: high\n" in (
        page.read_text(encoding="utf-8")
    )

"""What was said last: the last entry in which its author says something, wherever it is
quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX = ("--as", "Codex")
UPKEEP = (
    ("tag", "login", "+later"),
    ("set-status", "login", "BLOCKED"),
    ("rename", "login", "signin"),
    ("ack", "login"),
    ("handoff", "login", "--to", "Codex"),
)


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    words = ("--title", "Which browser?", "--body", "Chrome is fast. Is it enough?")
    repo.ok("new", "login", "--title", "Log in", "--body", "With a passkey.")
    repo.ok("say", "login", *words, *CODEX)
    for upkeep in UPKEEP:
        repo.ok(*upkeep)
    repo.ok("set-status", "login", "OPEN")
    return repo


def test_a_brief_quotes_what_was_said(repo: Here) -> None:
    done = repo.ok("brief", *CODEX)
    assert "Which browser? · Chrome is fast. Is it enough?" in done.out
    (thread,) = repo.json("brief", *CODEX)["offered"]["threads"]
    last = repo.json("read", "login")["entries"][1]
    assert (thread["last"]["id"], thread["last"]["author"]) == (
        *(last["id"], "Codex (Pat)"),
    )


def test_a_list_with_summaries_quotes_what_was_said(repo: Here) -> None:
    repo.ok("say", "login", "--title", "No, both", *CODEX)
    repo.ok("tag", "login", "+soon")
    out = repo.ok("list", "--summaries").out
    assert "Codex (Pat): No, both" in out


def test_updates_show_upkeep_together(repo: Here) -> None:
    repo.ok("say", "login", "--title", "And now?", *CODEX)
    repo.ok("tag", "login", "+soon", *CODEX)
    lines = repo.ok("updates", "--since", "1d").out.splitlines()
    said = [line.partition("Z ")[2] for line in lines]
    assert said[:2] == [
        "signin #0 Pat: Log in → Pat",
        "signin #1 Codex (Pat): Which browser?",
    ]
    assert said[2].startswith("signin #2-#7 Pat: Tags: +later; Status: BLOCKED; ")
    assert said[2].endswith(" → Codex")
    assert said[3:] == [
        "signin #8 Codex (Pat): And now? → Pat",
        "signin #9 Codex (Pat): Tags: +soon",
    ]
    assert len(repo.json("updates", "--since", "1d")["entries"]) == 10


def test_the_note_of_a_handoff_is_said(repo: Here) -> None:
    repo.ok("handoff", "login", "--to", "Pat", "-m", "The tests are red.", *CODEX)
    repo.ok("set-status", "login", "IN_REVIEW")
    out = repo.ok("list", "--summaries").out
    assert "Codex (Pat): The tests are red." in out

"""What was decided: the filters by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def repo(machine: Machine) -> Here:
    """Two threads with remarks of several kinds, and with decisions that were amended,
    retracted, and written with the type alone."""
    repo = Here(machine, machine.repo().path)
    for topic in ("login", "logout"):
        repo.ok("new", topic, "--title", "Old words", *CODEX)

    def add(topic: str, title: str, *more: str) -> None:
        repo.ok("say", topic, "--title", title, *more, *CODEX)

    add("login", "Argon2", "--kind", "decision", "--severity", "low")
    add("login", "By type", "--type", "Decision")
    add("login", "Bcrypt", "--kind", "decision")
    repo.ok("retract", "login", *CODEX)
    add("logout", "Everywhere", "--kind", "decision")
    repo.ok("amend", "logout", "--title", "Here only", *CODEX)
    add("logout", "A leak", "--kind", "warning", "--severity", "critical")
    add("logout", "A drip", "--kind", "warning", "--severity", "medium")
    return repo


def titles(repo: Here, *words: str) -> list[str]:
    fields = repo.json(*words)
    entries = fields.get("hits", fields.get("entries"))
    return [entry["title"] for entry in entries]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("search", "--kind", "decision"), ["Here only", "By type", "Argon2"]),
        (("search", "--kind", "decision", "--limit", "1"), ["Here only"]),
        (("search", "--kind", "decision", "--since", "2100-01-01"), []),
        (("search", "--kind", "decision", "argon"), ["Argon2"]),
        (("search", "--kind", "warning"), ["A drip", "A leak"]),
        (("search", "--severity", "high"), ["A leak"]),
        (("search", "--severity", "low"), ["A drip", "A leak", "Argon2"]),
        (("search", "--severity", "low", "--kind", "decision"), ["Argon2"]),
        (("search", "--kind", "pivot"), []),
        (("read", "login", "--kind", "Decision"), ["Argon2", "By type", "(retracted)"]),
        (("read", "logout", "--kind", "warning", "--from", "3"), ["A leak", "A drip"]),
    ],
)
def test_entries_can_be_filtered_by_kind(
    repo: Here, words: tuple[str, ...], expected: list[str]
) -> None:
    assert titles(repo, *words) == expected


@pytest.mark.parametrize(
    "words",
    [
        ("search", "--kind", "hunch"),
        ("search", "--severity", "9", "leak"),
        ("read", "login", "--kind", "hunch"),
    ],
)
def test_unknown_words_are_refused(repo: Here, words: tuple[str, ...]) -> None:
    done = repo.wc(*words)
    assert done.code == 2
    assert "Use " in done.err


def test_reading_one_kind_marks_nothing_as_read(repo: Here) -> None:
    repo.ok("read", "login", "--kind", "decision", *GEMINI)
    assert "new)" in repo.ok("list", *GEMINI).out

"""What was decided: `wc decisions`, and the filters by kind."""

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
    entries = fields.get("decisions", fields.get("hits", fields.get("entries")))
    return [entry["title"] for entry in entries]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ["Here only", "By type", "Argon2"]),
        (("login",), ["By type", "Argon2"]),
        (("--limit", "1"), ["Here only"]),
        (("--since", "1h"), ["Here only", "By type", "Argon2"]),
        (("--since", "2100-01-01"), []),
    ],
)
def test_the_latest_decision_comes_first(
    repo: Here, words: tuple[str, ...], expected: list[str]
) -> None:
    assert titles(repo, "decisions", *words) == expected


def test_decisions_as_text(repo: Here) -> None:
    done = repo.ok("decisions", "--limit", "2")
    assert done.out.splitlines()[0].startswith("logout #1 Here only Codex (Pat) · ")
    assert "amended" in done.out.splitlines()[0]
    assert done.err == "1 more: wc decisions\n"
    (last,) = repo.json("decisions", "login", "--limit", "1")["decisions"]
    assert (last["topic"], last["idx"], last["type"]) == ("login", 2, "Decision")
    assert repo.json("decisions", "login", "--limit", "1")["more"] == 1
    assert "wc say TOPIC --kind decision" in repo.ok("decisions", "--since", "0s").err


def test_an_unknown_thread_or_time_is_refused(repo: Here) -> None:
    assert repo.wc("decisions", "nothing").code == 3
    assert repo.wc("decisions", "--since", "soon").code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("search", "--kind", "decision"), ["Here only", "By type", "Argon2"]),
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

"""``wc budget``, and what happens when it is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.cost.test_recording import Session
from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine


@pytest.fixture
def session(machine: Machine, tmp_path: Path) -> Session:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "auth", "--title", "T", "--to", "Claude Code", "--force")
    session = Session(repo, tmp_path)
    session.hook("session-start")
    return session


def thread(session: Session) -> Any:
    return session.repo.json("read", "auth")


def test_a_person_gets_the_ball_once_when_it_is_spent(session: Session) -> None:
    repo = session.repo
    repo.ok("budget", "auth", "0.1k")
    session.turn("m1", 50)
    assert repo.ok("budget", "auth").out == "auth has spent 51 tokens here of 100\n"
    assert thread(session)["ball"] == "Claude Code"
    session.turn("m2", 60)
    assert thread(session)["ball"] == "Pat"
    entry = thread(session)["entries"][-1]
    assert entry["title"] == "The budget is spent: 112 of 100 tokens"
    assert entry["author"] == "Claude Code (Pat)"
    assert (entry["action"], entry["reason"]) == ("handoff", "the budget is spent")
    count = len(thread(session)["entries"])
    # The person lets it go on: the same budget is said once.
    repo.ok("say", "auth", "--title", "Go on", "--to", "Claude Code")
    session.turn("m3", 60)
    assert len(thread(session)["entries"]) == count + 1
    repo.ok("budget", "auth", "150")
    session.turn("m4", 1)
    assert thread(session)["ball"] == "Pat"


def test_without_a_budget_nothing_is_written(session: Session) -> None:
    session.repo.ok("budget", "auth", "10")
    session.repo.ok("budget", "auth", "--remove")
    session.turn("m1", 50)
    assert thread(session)["ball"] == "Claude Code"
    assert session.repo.json("budget", "auth")["budget"] is None
    shown = session.repo.ok("budget", "auth").out
    assert shown == "auth has spent 51 tokens here and has no budget\n"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("auth", "200x"), 2, "'200x' is not a number of tokens"),
        (("auth", "0"), 2, "not a number of tokens"),
        (("auth", "-5"), 2, ""),
        (("auth", "1.2.3k"), 2, "not a number of tokens"),
        (("auth", "9999999m"), 2, "not a number of tokens"),
        (("auth", "k"), 2, "not a number of tokens"),
        (("auth", "5", "--remove"), 2, "Use one of them"),
        (("auth", "--remove"), 4, "has no budget"),
        (("nowhere", "5"), 3, "nowhere"),
    ],
)
def test_what_is_refused(
    session: Session, words: tuple[str, ...], code: int, text: str
) -> None:
    assert text in session.repo.fails(code, "budget", *words)
    assert len(thread(session)["entries"]) == 1

"""Checklists, by hand: what is added, checked off and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_cli.ledger.plan import checklists as drafts
from wc_core.base.errors import ConflictError
from wc_core.ledger.planning import checklists
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "api", "--title", "The api", *CODEX)
    repo.ok("checklist", "api", "add", "one", "two", "three", *CODEX)
    return repo


def items(repo: Here) -> list[tuple[int, str, bool]]:
    shown = repo.json("checklist", "api")["items"]
    return [(item["number"], item["text"], item["done"]) for item in shown]


def test_items_are_added_checked_off_and_removed(repo: Here) -> None:
    done = repo.ok("check-off", "api", "1", "3", *GEMINI)
    assert done.out.splitlines()[-1] == "2/3 · Done: one; three"
    assert items(repo) == [(1, "one", True), (2, "two", False), (3, "three", True)]
    repo.ok("checklist", "api", "remove", "1", *CODEX)
    repo.ok("check-off", "api", "#2", "--undo", *CODEX)
    assert items(repo) == [(1, "two", False), (2, "three", False)]
    assert repo.ok("checklist", "api").out == "1. [ ] two\n2. [ ] three\n"


def test_the_ball_stays_whoever_checks_off(repo: Here) -> None:
    repo.ok("check-off", "api", "1", *GEMINI)
    assert repo.json("read", "api")["ball"] == "Codex (Pat)"


def test_progress_is_shown_everywhere(repo: Here) -> None:
    repo.ok("check-off", "api", "2", *CODEX)
    assert "OPEN 1/3" in repo.ok("list").out
    assert repo.json("list")["threads"][0]["checklist"] == {"done": 1, "total": 3}
    head = repo.ok("read", "api").out
    assert "checklist 1/3:\n  1. [ ] one\n  2. [x] two\n" in head
    fields: dict[str, Any] = repo.json("read", "api")
    assert fields["checklist"]["total"] == 3
    assert fields["entries"][1]["items_added"] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("checklist", "nowhere"), 3, "nowhere"),
        (("checklist", "api", "add"), 2, "can only be shown, extended or shortened"),
        (("checklist", "api", "drop", "1"), 2, "wc checklist api remove 2"),
        (("checklist", "api", "add", " "), 2, "item of a checklist"),
        (("checklist", "api", "add", "a\nb"), 2, "item of a checklist"),
        (("checklist", "api", "remove", "4"), 4, "its items are 1 to 3"),
        (("check-off", "api", "0"), 4, "has no item 0"),
        (("check-off", "api", "x"), 2, "is not the number of an item"),
        (("check-off", "api", "1", "--undo"), 4, "not checked off"),
    ],
)
def test_what_is_refused(
    repo: Here, words: tuple[str, ...], code: int, text: str
) -> None:
    before = repo.json("read", "api")["entries"]
    assert text in repo.fails(code, *words, *CODEX)
    assert repo.json("read", "api")["entries"] == before


def test_many_threads_get_items_or_none_does(repo: Here) -> None:
    reader = StoreReader(str(repo.store))
    too_many = ["step"] * checklists.MAX_ITEMS
    with pytest.raises(ConflictError, match="it can have"):
        drafts.additions(reader, {"api": too_many})
    (draft,) = drafts.additions(reader, {"api": ["four"]})
    assert (draft.topic, draft.items_added) == ("api", ("four",))

"""Corrections: which count, what they leave of a text, and who may write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.core.strategies import (
    AGENTS,
    chain,
    entry,
    entry_id,
    linear_logs,
    relaxed,
)
from wc_core.ledger.threads import folding, revisions

if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry

PAT, CLAUDE, SAM = AGENTS


def amend(step: int, of: int, agent: str = PAT, **fields: str) -> Entry:
    known = {"action": "amend", "supersedes": entry_id(of)}
    return entry(step, agent, **(known | {"body": f"body {step}"} | fields))


def retract(step: int, of: int, agent: str = PAT) -> Entry:
    return entry(step, agent, action="retract", supersedes=entry_id(of))


def texts(*log: Entry) -> list[tuple[int, str]]:
    return [(item.idx, item.entry.title) for item in revisions.revisions(chain(*log))]


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ((entry(0), entry(1)), [(0, "title 0"), (1, "title 1")]),
        ((entry(0), amend(1, 0)), [(0, "title 1")]),
        ((entry(0), amend(1, 0), amend(2, 0)), [(0, "title 2")]),
        ((entry(0), retract(1, 0)), [(0, "(retracted)")]),
        ((entry(0), retract(1, 0), amend(2, 0)), [(0, "title 2")]),
        ((entry(0), amend(1, 0), retract(2, 0)), [(0, "(retracted)")]),
        # Positions do not shift.
        ((entry(0), amend(1, 0), entry(2)), [(0, "title 1"), (2, "title 2")]),
        # What does not count is an entry like any other.
        ((entry(0), amend(1, 0, CLAUDE)), [(0, "title 0"), (1, "title 1")]),
        ((entry(0), retract(1, 0, CLAUDE)), [(0, "title 0"), (1, "title 1")]),
        ((entry(0), amend(1, 7)), [(0, "title 0"), (1, "title 1")]),
        ((amend(0, 1), entry(1)), [(0, "title 0"), (1, "title 1")]),
        # A correction always names the original.
        ((entry(0), amend(1, 0), amend(2, 1)), [(0, "title 1"), (2, "title 2")]),
        ((entry(0, action="tag"), amend(1, 0)), [(0, "title 0"), (1, "title 1")]),
        # Another action that names an entry replaces nothing.
        (
            (entry(0), entry(1, action="say", supersedes=entry_id(0))),
            [(0, "title 0"), (1, "title 1")],
        ),
    ],
)
def test_which_corrections_count(
    log: tuple[Entry, ...], expected: list[tuple[int, str]]
) -> None:
    assert texts(*log) == expected


def test_spellings_of_an_author_are_one() -> None:
    assert texts(entry(0, PAT), amend(1, 0, "codex ( PAT )")) == [(0, "title 1")]


def test_an_author_who_is_not_known_corrects_nothing() -> None:
    assert len(texts(entry(0, ""), amend(1, 0, ""))) == 2


def test_an_amendment_replaces_the_text_and_nothing_else() -> None:
    original = entry(0, status="OPEN", role="critic", reason="why", file_refs=("a.py",))
    log = chain(original, amend(1, 0, summary="short"))
    (item,) = revisions.revisions(log)
    assert item.entry == log[0]._replace(
        title="title 1", body="body 1", summary="short"
    )
    assert (item.corrections, item.retracted) == ((entry_id(1),), False)


def test_a_retraction_leaves_no_text() -> None:
    original = entry(
        0, status="OPEN", body="secret", summary="secret", file_refs=("secret.py",)
    )
    (item,) = revisions.revisions(chain(original, retract(1, 0)))
    assert item.retracted
    assert "secret" not in repr(item)
    assert item.entry.status == "OPEN"


def test_the_history_has_every_text_in_its_place() -> None:
    log = chain(entry(0), amend(1, 0), retract(2, 0))
    history = revisions.history(log)
    assert [item.entry for item in history] == log
    assert history[0].corrections == (entry_id(1), entry_id(2))
    assert history[0].retracted


@relaxed
@given(linear_logs())
def test_the_title_of_the_thread_is_that_of_its_first_entry(log: list[Entry]) -> None:
    if log:
        first = revisions.revisions(log)[0].entry
        assert folding.fold("t", log).title == first.title


@relaxed
@given(linear_logs())
def test_no_entry_is_lost(log: list[Entry]) -> None:
    shown = revisions.revisions(log)
    assert [item.idx for item in shown] == sorted(
        log.index(item) for item in log if not _is_hidden(item, shown)
    )


def _is_hidden(item: Entry, shown: list[revisions.Revision]) -> bool:
    return any(item.id in visible.corrections for visible in shown)

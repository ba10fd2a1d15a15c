"""What the outcome of a review does to a thread."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.strategies import AGENTS, chain, entry, entry_id
from wc_core.base.names import parse
from wc_core.ledger.threads.folding import fold
from wc_core.ledger.threads.model import (
    APPROVED,
    CHANGES_REQUESTED,
    CLOSED,
    FREE,
    IN_REVIEW,
    NO_REVIEW,
    OPEN,
    Ball,
    Pass,
    Review,
    State,
)
from wc_core.ledger.threads.moves import Move, decide
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.settings import Settings

AUTHOR, CRITIC, ASKER = "Claude Code (pat)", "Codex (pat)", "Pat"
# The author was asked by a person, and has passed the ball to the critic.
SUBMITTED = State(
    "t",
    "T",
    IN_REVIEW,
    CRITIC,
    entry_count=3,
    asker=ASKER,
    passes=(Pass(AUTHOR, ASKER), Pass(CRITIC, AUTHOR)),
)


def draft(action: str, outcome: str, **fields: Any) -> Draft:
    return Draft("t", action, "title", outcome=outcome, **fields)


@pytest.mark.parametrize(
    ("state", "action", "outcome", "fields", "move"),
    [
        (SUBMITTED, "done", APPROVED, {}, Move(Ball(ASKER), OPEN)),
        (SUBMITTED, "say", APPROVED, {}, Move(Ball(AUTHOR), OPEN)),
        (SUBMITTED, "done", CHANGES_REQUESTED, {}, Move(Ball(AUTHOR), OPEN)),
        (SUBMITTED, "say", CHANGES_REQUESTED, {}, Move(Ball(AUTHOR), OPEN)),
        (
            SUBMITTED,
            "done",
            CHANGES_REQUESTED,
            {"to": "Cursor", "status": "BLOCKED"},
            Move(Ball("Cursor"), "BLOCKED"),
        ),
        # The critic asked for the work: approval ends it, changes do not.
        (SUBMITTED._replace(asker=CRITIC), "done", APPROVED, {}, Move(FREE, CLOSED)),
        (
            SUBMITTED._replace(asker=CRITIC),
            "done",
            CHANGES_REQUESTED,
            {},
            Move(Ball(AUTHOR), OPEN),
        ),
        # Only a review ends.
        (
            SUBMITTED._replace(status="BLOCKED"),
            "say",
            CHANGES_REQUESTED,
            {},
            Move(Ball(AUTHOR)),
        ),
    ],
)
def test_an_outcome_decides_who_is_next(
    state: State, action: str, outcome: str, fields: dict[str, Any], move: Move
) -> None:
    decided = decide(state, draft(action, outcome, **fields), parse(CRITIC), Settings())
    assert decided._replace(notes=()) == move
    # What needs changes is not done: nothing reminds of `wc done`.
    assert outcome == APPROVED or not decided.notes


# --- what a thread keeps ------------------------------------------------------

ME, YOU, _ = AGENTS


def folded(*outcomes_or_fields: str | dict[str, Any]) -> State:
    """A thread in which ME gives each outcome to YOU, or in which YOU write fields."""
    drafts = [
        entry(step, ME, outcome=item, ball=Ball(YOU))
        if isinstance(item, str)
        else entry(step, **({"agent": YOU, "ball": Ball(ME)} | item))
        for step, item in enumerate(outcomes_or_fields)
    ]
    return fold("t", chain(*drafts))


def test_the_latest_outcome_counts_and_rounds_are_counted_until_approval() -> None:
    assert folded({}).review == NO_REVIEW
    more = CHANGES_REQUESTED
    assert folded(more, {}, more).review == Review(more, ME, YOU, entry_id(2), 2)
    assert folded(more, {}, APPROVED).review == Review(
        APPROVED, ME, YOU, entry_id(2), 0
    )
    assert folded(more, APPROVED, more).review.rounds == 1
    # The other way round it is between the same two, with a third it is not.
    back = {"outcome": more}
    assert folded(more, back).review == Review(more, YOU, ME, entry_id(1), 2)
    other = {"outcome": more, "ball": Ball("Sam")}
    assert folded(more, other).review.rounds == 1
    # A word of a newer version changes nothing.
    assert folded(more, {"outcome": "maybe"}).review.id == entry_id(0)


def test_the_next_review_has_no_outcome_yet() -> None:
    state = folded(CHANGES_REQUESTED, {"status": IN_REVIEW})
    assert (state.review.text, state.review.rounds) == ("", 1)
    state = folded(
        CHANGES_REQUESTED, {"status": IN_REVIEW}, {"status": OPEN}, CHANGES_REQUESTED
    )
    assert state.review.text == f"changes requested by {ME}"
    assert state.review.rounds == 2
    reopened = folded(APPROVED, {"status": CLOSED}, {"status": OPEN})
    assert reopened.review == NO_REVIEW
    assert folded(APPROVED, {"status": CLOSED}).review.outcome == APPROVED


def test_a_retracted_outcome_is_none() -> None:
    retract = {"action": "retract", "supersedes": entry_id(0), "ball": None}
    assert folded(APPROVED, retract | {"agent": ME}).review == NO_REVIEW
    assert folded(APPROVED, retract | {"agent": YOU}).review.outcome == APPROVED

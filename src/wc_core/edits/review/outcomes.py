"""The rules for an entry that has the outcome of a review."""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import quoted
from wc_core.ledger.threads.model import CHANGES_REQUESTED, CLOSED, outcome_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.settings import Settings

DECISION_TYPE, CRITIC = "Decision", "critic"
_REVIEWING = frozenset({"say", "done"})


def as_review(draft: Draft) -> Draft:
    """The draft in its final form: a decision, by a critic unless a role is given. A
    draft without an outcome is returned unchanged.

    Raises InvalidInputError if something in the draft contradicts its outcome.
    """
    if not draft.outcome:
        return draft
    topic, words = quoted(draft.topic), outcome_text(draft.outcome)
    if draft.action not in _REVIEWING:
        raise InvalidInputError(
            f"{draft.action} takes no outcome of a review.",
            f"Give it with: wc done {topic}, or: wc say {topic}",
        )
    if draft.type not in {"", DECISION_TYPE}:
        raise wrong_type_error(draft.type)
    if draft.kind:
        raise InvalidInputError(
            f"An entry of kind {draft.kind} moves no ball, so it cannot be the outcome "
            "of a review.",
            "Write two entries, one without --kind.",
        )
    if draft.outcome == CHANGES_REQUESTED and draft.status == CLOSED:
        raise InvalidInputError(
            f"A thread with {words} is not closed.", "Leave out --status CLOSED."
        )
    return draft._replace(type=DECISION_TYPE, role=draft.role or CRITIC)


def wrong_type_error(entry_type: str) -> InvalidInputError:
    """The error for an outcome in an entry of another type than Decision."""
    return InvalidInputError(
        f"The outcome of a review is a Decision, not a {entry_type}.",
        "Leave out --type, or write: --type Decision",
    )


def has_too_many_rounds(state: State, settings: Settings) -> bool:
    """Whether changes were requested so often that a person should look: as often as
    the ball may go back and forth."""
    return state.review.rounds >= settings.bounces


def rounds_text(state: State) -> str:
    """How often changes were requested between the same two, and what to do."""
    review = state.review
    return (
        f"changes were requested {review.rounds} times between {review.by} and "
        f"{review.of or 'anyone'}, and nothing was approved; a person should look: "
        f"wc handoff {state.topic} --to NAME"
    )

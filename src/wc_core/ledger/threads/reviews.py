"""Outcomes of reviews: what an entry says about the work, and what a thread keeps about
the latest one."""

from __future__ import annotations

from wc_core.base.values import NamedTuple

OUTCOMES = ("approved", "changes_requested")
APPROVED, CHANGES_REQUESTED = OUTCOMES


class Review(NamedTuple):
    """The latest outcome of a review: ``by`` wrote it, in the entry ``id``, about the
    work of ``of``, who had the ball then.

    ``outcome`` is empty while the next review is in progress. ``rounds`` counts how
    often changes were requested between these two since the last approval.
    """

    outcome: str = ""
    by: str = ""
    of: str = ""
    id: str = ""
    rounds: int = 0

    @property
    def text(self) -> str:
        """The outcome in words, with its author; empty if there is none."""
        words = outcome_text(self.outcome)
        return f"{words} by {self.by}" if words else ""

    def to_json(self) -> dict[str, str]:
        """The outcome and its author, as in the list shape; empty if there is none."""
        if not self.outcome:
            return {}
        return {"outcome": self.outcome, "outcome_by": self.by}


NO_REVIEW = Review()


def outcome_text(outcome: str) -> str:
    """An outcome in words: ``changes requested``."""
    return outcome.replace("_", " ")


def reviewed(review: Review, outcome: str, by: str, of: str, entry_id: str) -> Review:
    """The review after an entry with an outcome. An unknown outcome changes nothing: a
    newer version may have written it."""
    if outcome == APPROVED:
        return Review(outcome, by, of, entry_id)
    if outcome != CHANGES_REQUESTED:
        return review
    is_same_pair = {review.by, review.of} == {by, of}
    rounds = review.rounds + 1 if is_same_pair else 1
    return Review(outcome, by, of, entry_id, rounds)

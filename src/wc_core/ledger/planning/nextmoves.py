"""What waits for whom: the one rule that prompt, lists, boards, inbox, briefs,
notifications and waiting sessions share."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import APPROVED, CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wc_core.ledger.threads.model import State

QUESTION, BALL = "question", "ball"
# Of a closed thread: its approved branch has not landed, or lacks a person's approval.
LAND, APPROVE = "land", "approve"


class NextMove(NamedTuple):
    """A move that is due: an answer to a ``question``, any move of who has the
    ``ball``, or to ``land`` or ``approve`` a branch. It waits for ``participant`` since
    the entry ``since``; ``by`` asks, or has approved what is to be approved again."""

    kind: str
    participant: str
    since: str = ""
    by: str = ""


def next_moves(
    state: State, waits: Sequence[str] = (), landing: NextMove | None = None
) -> tuple[NextMove, ...]:
    """Returns the moves that a thread waits for, most urgent first. ``waits`` are the
    threads, and the gates of an older version, that it waits for itself: until then its
    ball is nobody's move, but its questions can be answered. ``landing`` is the move
    that its approval waits for, as far as git is concerned
    (`wc_core.ledger.planning.unlanded`)."""
    if state.status == CLOSED:
        is_due = landing is not None and landing.since == state.review.id
        over = state.landing.is_over or state.review.outcome != APPROVED
        return (landing,) if landing is not None and is_due and not over else ()
    moves = [
        NextMove(QUESTION, question.asked, question.id, question.asker)
        for question in state.questions
    ]
    if state.ball and state.ball.strip() and not waits:
        moves.append(NextMove(BALL, state.ball, state.since))
    return tuple(moves)


def moves_for(
    holds: Callable[[str], bool],
    state: State,
    waits: Sequence[str] = (),
    landing: NextMove | None = None,
) -> list[NextMove]:
    """Returns those moves that wait for a participant, or are offered to them:
    ``holds`` is their `wc_core.people.identity.viewer.Viewer.holds`."""
    moves = next_moves(state, waits, landing)
    return [move for move in moves if holds(move.participant)]


def askers(moves: Iterable[NextMove]) -> tuple[str, ...]:
    """Returns who asks, without repetition."""
    return tuple(dict.fromkeys(move.by for move in moves if move.kind == QUESTION))


def asked_text(names: Sequence[str]) -> str:
    """Returns that these participants ask the viewer something, in words; empty if
    nobody does. The verb comes first: what is cut off is the end."""
    if not names:
        return ""
    verb = "asks" if len(names) == 1 else "ask"
    return f"{verb} you: {' and '.join(names)}"

"""What waits for whom: the one rule that prompt, lists, boards, inbox, briefs,
notifications and waiting sessions share."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wc_core.ledger.threads.model import State

QUESTION, BALL = "question", "ball"


class NextMove(NamedTuple):
    """A move that is due: an answer to a ``question``, or any move of who has the
    ``ball``. It waits for ``participant`` since the entry ``since``; ``by`` asks, and
    is empty for a ball."""

    kind: str
    participant: str
    since: str = ""
    by: str = ""


def next_moves(state: State, waits: Sequence[str] = ()) -> tuple[NextMove, ...]:
    """Returns the moves that a thread waits for, most urgent first. ``waits`` are the
    threads and gates that it waits for itself: until then its ball is nobody's move,
    but its questions can be answered."""
    if state.status == CLOSED:
        return ()
    moves = [
        NextMove(QUESTION, question.asked, question.id, question.asker)
        for question in state.questions
    ]
    if state.ball and state.ball.strip() and not waits:
        moves.append(NextMove(BALL, state.ball, state.since))
    return tuple(moves)


def moves_for(
    holds: Callable[[str], bool], state: State, waits: Sequence[str] = ()
) -> list[NextMove]:
    """Returns those moves that wait for a participant, or are offered to them:
    ``holds`` is their `wc_core.people.identity.viewer.Viewer.holds`."""
    return [move for move in next_moves(state, waits) if holds(move.participant)]


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

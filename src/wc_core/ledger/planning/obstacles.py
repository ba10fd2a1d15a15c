"""Why a thread is not ready, or its branch cannot land: the reasons in the thread
itself. Lists need no others unless some thread has a link."""

from __future__ import annotations

from wc_core.base.names import FREE, MINE, OFFERED
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED, holder_text

WAITS, PARTS, GATE = "WAITS", "PARTS", "GATE"
STATUS, BALL = "STATUS", "BALL"


class Obstacle(NamedTuple):
    """Why a thread is not ready, or its branch cannot land.

    - ``code``: ``WAITS`` for another thread, or for its ``PARTS``; a ``GATE`` of an
      older version (`wc_core.ledger.planning.older`); its
      ``STATUS``; its ``BALL`` is with someone else; or, for its branch, one of
      `wc_core.ledger.planning.landing`
    - ``topic``: the thread that is waited for, as it is stored; empty for the others
    - ``through``: the thread whose link or gate it is: itself, or one that it is part
      of
    - ``words``: the thread or the gate that is waited for, for display; or the branch
      with the latest work
    """

    code: str
    text: str
    topic: str = ""
    through: str = ""
    words: str = ""


def own_obstacles(status: str, ball: str | None, ownership: str) -> list[Obstacle]:
    """Why a thread is not ready for the viewer, apart from what it waits for."""
    obstacles = []
    if status == CLOSED:
        return [Obstacle(STATUS, "it is closed")]
    if status == BLOCKED:
        obstacles.append(Obstacle(STATUS, "its status is BLOCKED"))
    if ownership not in {MINE, OFFERED, FREE}:
        obstacles.append(Obstacle(BALL, f"{holder_text(ball)} has the ball"))
    return obstacles

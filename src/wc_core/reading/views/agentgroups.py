"""Threads by the agent that has the ball, as on the boards of the terminal and the
page: those that wait for me, free balls, those that wait for another thread, then one
group for each agent or person, in any seat and with any tag, and last the unreadable
threads.

The groups of agents are in the order of their first threads, so if the threads begin
with the latest move, so do the groups.
"""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.names import fold
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_core.reading.views.rows import UNREADABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.base.names import Directory
    from wc_core.reading.views.rows import ThreadRow

# The kinds of groups, in their order.
KINDS = ("mine", "free", "waiting", "agent", "damaged", "closed")
MINE, FREE, WAITING, AGENT, DAMAGED, CLOSED_THREADS = KINDS
# A thread that did not move for so long is folded away.
_WEEKS_MS = 14 * 24 * 3600 * 1000


class Group(NamedTuple):
    """Threads of one kind. ``agent`` is empty unless the balls belong to an agent or a
    person."""

    kind: str
    agent: str
    rows: list[ThreadRow]

    @property
    def key(self) -> str:
        """What identifies the group, however the agent's name is spelled."""
        return f"{self.kind} {fold(self.agent)}".strip()


def agent_groups(rows: Iterable[ThreadRow], directory: Directory) -> list[Group]:
    """Returns the threads in groups. Only the first group, mine, may be empty."""
    groups: dict[tuple[str, str], Group] = {(MINE, ""): Group(MINE, "", [])}
    agents: dict[str, str] = {}
    for row in rows:
        kind, agent = _kind(row), ""
        if kind == AGENT and row.ball is not None:
            if row.ball not in agents:
                agents[row.ball] = directory.canonical(names.parse(row.ball)).agent
            agent = agents[row.ball]
        key = (kind, fold(agent))
        groups.setdefault(key, Group(kind, agent, [])).rows.append(row)
    # Sorting is stable: agents stay in the order of their first threads.
    return sorted(groups.values(), key=lambda group: KINDS.index(group.kind))


def folded_topics(rows: Iterable[ThreadRow], now_ms: int) -> frozenset[str]:
    """Returns the open threads that have not moved for weeks, which boards fold away:
    none if no other has moved either. One that asks the viewer something is never
    folded."""
    is_quiet = {
        row.topic: _is_quiet(row, now_ms) for row in rows if row.status != CLOSED
    }
    if all(is_quiet.values()):
        return frozenset()
    return frozenset(topic for topic, quiet in is_quiet.items() if quiet)


def _is_quiet(row: ThreadRow, now_ms: int) -> bool:
    moved = row.moved_ms(now_ms)
    if moved is None or row.asked_by or row.status == UNREADABLE:
        return False
    return now_ms - moved >= _WEEKS_MS


def folded_text(count: int) -> str:
    """Returns how many threads are folded away, in words."""
    return f"{count} not moved for weeks"


def _kind(row: ThreadRow) -> str:
    if row.is_due:
        return MINE
    if row.status == CLOSED:
        return CLOSED_THREADS
    if row.waits:
        return WAITING
    if row.status == UNREADABLE:
        return DAMAGED
    return FREE if row.ball is None else AGENT

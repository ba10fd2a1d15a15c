"""The columns of the board: open threads by the agent that has the ball."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core import names
from wc_core.names import fold
from wc_core.threads.model import CLOSED
from wc_core.values import NamedTuple
from wc_core.views.rows import has_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.names import Directory
    from wc_core.views.rows import ThreadRow


class HolderColumn(NamedTuple):
    """The open threads of one agent or person, whatever the seat and the tag (``None``:
    the ball is free), latest move first.

    ``mine`` marks the column of the viewer, with every ball they may play."""

    holder: str | None
    rows: list[ThreadRow]
    mine: bool = False
    waiting: bool = False


def columns(rows: Iterable[ThreadRow], directory: Directory) -> list[HolderColumn]:
    """Returns the open threads by agent: mine, then free balls, then those that wait
    for another thread, then all others.

    Within a column, and among the others, the latest move comes first."""
    mine = HolderColumn(None, [], mine=True)
    free = HolderColumn(None, [])
    waiting = HolderColumn(None, [], waiting=True)
    others: dict[str, HolderColumn] = {}
    agents: dict[str, str] = {}
    for row in rows:
        if row.status == CLOSED:
            continue
        if row.waits:
            waiting.rows.append(row)
        elif row.have_ball:
            mine.rows.append(row)
        elif row.ball is None:
            free.rows.append(row)
        else:
            if row.ball not in agents:
                agents[row.ball] = directory.canonical(names.parse(row.ball)).agent
            agent = agents[row.ball]
            column = others.setdefault(fold(agent), HolderColumn(agent, []))
            column.rows.append(row)
    rare = [column for column in (free, waiting) if column.rows]
    return [mine, *rare, *others.values()]


def rows_with_words(rows: list[ThreadRow], words: str) -> list[ThreadRow]:
    """Returns the rows that have every word in their topic, title or holder, and every
    ``+tag`` among their tags."""
    if not words.strip():
        return rows
    return [row for row in rows if has_words(row, words)]

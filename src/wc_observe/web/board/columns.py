"""The columns of the board: open threads by the agent that has the ball."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.values import NamedTuple
from wc_core.reading.views import agentgroups
from wc_core.reading.views.rows import has_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.base.names import Directory
    from wc_core.reading.views.rows import ThreadRow


class HolderColumn(NamedTuple):
    """The open threads of one agent or person, in any seat and with any tag (``None``:
    the ball is free), latest move first.

    ``mine`` marks the viewer's column, with every ball they may play; ``waiting`` the
    column of threads that wait for another one; ``damaged`` that of unreadable threads.
    """

    holder: str | None
    rows: list[ThreadRow]
    mine: bool = False
    waiting: bool = False
    damaged: bool = False


def columns(rows: Iterable[ThreadRow], directory: Directory) -> list[HolderColumn]:
    """Returns the open threads by agent, in the order of `agentgroups`: mine first.

    Within a column, and among the other columns, the latest move comes first.
    """
    return [
        HolderColumn(
            group.agent or None,
            group.rows,
            mine=group.kind == agentgroups.MINE,
            waiting=group.kind == agentgroups.WAITING,
            damaged=group.kind == agentgroups.DAMAGED,
        )
        for group in agentgroups.agent_groups(rows, directory)
        if group.kind != agentgroups.CLOSED_THREADS
    ]


def rows_with_words(rows: list[ThreadRow], words: str) -> list[ThreadRow]:
    """Returns the rows with every word in their topic, title or holder, and every
    ``+tag`` among their tags."""
    if not words.strip():
        return rows
    return [row for row in rows if has_words(row, words)]

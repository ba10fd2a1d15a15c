"""Worktrees as terminal text: a line for each, with details below it."""

from __future__ import annotations

from wc_cli.run.terminal.labels import name_text
from wc_cli.run.terminal.style import terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.base.text import one_line
from wc_core.base.times import ago, seconds_between
from wc_core.ledger.threads.model import holder_text
from wc_core.reading.views import worktrees
from wc_core.reading.views.worktrees import BAD, OLD, URGENT, Wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_cli.run.terminal.style import Style
    from wc_core.edits.notes.reading import Note
    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.worktrees import Neighbour, WorktreeQuery

_MAX_FILES = 3
_BOLD, _DIM = "1", "2"
_CODES = {URGENT: "1;33", BAD: "31", OLD: _DIM}


def worktrees_text(
    neighbours: Iterable[Neighbour], query: WorktreeQuery, style: Style
) -> str:
    """Return every worktree, with the current one marked ``>``."""
    limit, lines = terminal_width(), []
    words = Wording(one_line, one_line, _thread, _conflict, "wc list")
    for tree in neighbours:
        code = _BOLD if tree.here else _DIM if tree.worktree.defect else ""
        head = worktrees.heading(tree, query, words)
        lines.append((f"{'>' if tree.here else ' '} {head}", code))
        for text, mark in worktrees.details(tree, query, words):
            lines.append((f"    {text}", _CODES.get(mark, "")))
    fitting = (
        (cut_to_width(text, limit) if limit else text, code) for text, code in lines
    )
    return "\n".join(style(text, code) if code else text for text, code in fitting)


def _thread(row: ThreadRow) -> str:
    name = name_text(holder_text(row.ball), row.own_tag)
    holder = "you" if row.have_ball else one_line(name)
    status = one_line(row.waits_text) or one_line(row.status_text)
    return f"{one_line(row.name)}: {status}, ball: {holder}"


def _conflict(conflict: Conflict) -> str:
    return one_line(f"⚠ conflicts {conflict.sentence(_MAX_FILES)}")


def dated_note(note: Note, now_ms: int) -> str:
    """Return a note with its author and age."""
    when = ago(seconds_between(note.at_ms, now_ms))
    return f"{note.agent}: {note.sentence()}, {when}"

"""Worktrees as terminal text: a line for each, with details below it."""

from __future__ import annotations

from wc_cli.run.terminal.labels import name_text
from wc_cli.run.terminal.style import terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import ago, seconds_between
from wc_core.ledger.threads.model import holder_text
from wc_core.reading.views.worktrees import MAX_THREADS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.run.terminal.style import Style
    from wc_core.edits.notes.reading import Note
    from wc_core.people.activity.livestate import Activity, StateAge
    from wc_core.people.activity.loops import Loop
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.worktrees import Neighbour, WorktreeQuery

_BOLD, _DIM, _URGENT, _BAD = "1", "2", "1;33", "31"
_LABEL = 6
_MAX_FILES = 3


def worktrees_text(
    neighbours: Iterable[Neighbour], query: WorktreeQuery, style: Style
) -> str:
    """Return every worktree, with the current one marked ``>``."""
    limit = terminal_width()
    lines = []
    for neighbour in neighbours:
        for text, code in (_head(neighbour, query), *_below(neighbour, query)):
            fitting = cut_to_width(text, limit) if limit else text
            lines.append(style(fitting, code) if code else fitting)
    return "\n".join(lines)


def _head(neighbour: Neighbour, query: WorktreeQuery) -> tuple[str, str]:
    """Return the line of a worktree, and its colour."""
    tree = neighbour.worktree
    facts = [neighbour.name]
    if tree.branch and tree.branch != tree.name:
        facts.append(f"branch {one_line(tree.branch)}")
    elif not tree.branch and tree.commit:
        facts.append(f"at {tree.commit[:12]}")
    if tree.refs:
        facts.append(f"its branch is in a {tree.refs}")
    if tree.main:
        facts.append("main worktree")
    if tree.path:
        facts.append(query.display_path(tree.path))
    if tree.defect:
        facts.append(tree.defect)
    if tree.locked is not None:
        facts.append(one_line(f"locked: {tree.locked}" if tree.locked else "locked"))
    facts.append(ago(neighbour.age))
    mark = ">" if neighbour.here else " "
    code = _BOLD if neighbour.here else _DIM if tree.defect else ""
    return f"{mark} {' · '.join(facts)}", code


def _below(neighbour: Neighbour, query: WorktreeQuery) -> Iterator[tuple[str, str]]:
    """Yield the known details of a worktree, a line for each."""
    if neighbour.loop is not None:
        yield _line("loop", _loop(neighbour.loop)), _loop_code(neighbour.loop)
    for conflict in neighbour.conflicts:
        yield _line("⚠", f"conflicts {conflict.sentence(_MAX_FILES)}"), _URGENT
    for note in neighbour.notes:
        yield _line("note", dated_note(note, query.now_ms)), ""
    if neighbour.activity is not None:
        stale = neighbour.activity.state_age.stale
        yield _line("at", _activity(neighbour.activity)), _DIM if stale else ""
    for row in neighbour.threads[:MAX_THREADS]:
        yield _line("ball", _ball(row)), _URGENT if row.is_due else ""
    hidden = len(neighbour.threads) - MAX_THREADS
    if hidden > 0:
        yield _line("", f"and {counted(hidden, 'thread')} more: wc list"), _DIM


def _line(label: str, text: str) -> str:
    return f"    {label:<{_LABEL}}{text}"


def _loop(loop: Loop) -> str:
    why = loop.stall_reason or loop.task
    position = f"{loop.turn} {loop.summary}".strip()
    return f"{position}, {_when(loop.state_age)}" + (f": {why}" if why else "")


def _loop_code(loop: Loop) -> str:
    if loop.waits_for_human:
        return _URGENT
    return _BAD if loop.orphaned else _DIM if loop.state_age.stale else ""


def _activity(activity: Activity) -> str:
    parts = [f"{activity.skill} {activity.skill_args}".strip(), activity.broadcast]
    if activity.file_count:
        parts.append(counted(activity.file_count, "file"))
    summary = "; ".join(part for part in parts if part) or "something"
    return f"{summary}, {_when(activity.state_age)}"


def _when(age: StateAge) -> str:
    """Return how old the information is, and why there is nothing newer."""
    old = "old: " if age.stale else ""
    text = f"{old}{ago(age.age)}"
    return f"{text} (the file {age.problem})" if age.last_good else text


def _ball(row: ThreadRow) -> str:
    name = name_text(holder_text(row.ball), row.own_tag)
    holder = "you" if row.have_ball else one_line(name)
    status = one_line(row.waits_text) or one_line(row.status_text)
    status = "" if status == "OPEN" else f", {status}"
    return f"{one_line(row.name)} → {holder}{status}"


def dated_note(note: Note, now_ms: int) -> str:
    """Return a note with its author and age."""
    when = ago(seconds_between(note.at_ms, now_ms))
    return f"{note.agent}: {note.sentence()}, {when}"

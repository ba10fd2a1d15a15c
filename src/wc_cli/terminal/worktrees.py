"""Worktrees as terminal text: a line for each, and what is known below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.terminal.render import cut, terminal_width
from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads.moves import holder_text
from wc_core.times import ago, seconds_between
from wc_core.views.worktrees import MAX_THREADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.terminal.render import Style
    from wc_core.activity.livestate import Activity, StateAge
    from wc_core.activity.loops import Loop
    from wc_core.activity.presence import Note
    from wc_core.views.rows import ThreadRow
    from wc_core.views.worktrees import Neighbour, WorktreeQuery

_BOLD, _DIM, _URGENT, _BAD = "1", "2", "1;33", "31"
_LABEL = 6


def worktrees(found: Iterable[Neighbour], look: WorktreeQuery, style: Style) -> str:
    """Every worktree, the one we are in marked with ``>``."""
    limit = terminal_width()
    lines = []
    for one in found:
        for text, code in (_head(one, look), *_below(one, look)):
            fitting = cut(text, limit) if limit else text
            lines.append(style(fitting, code) if code else fitting)
    return "\n".join(lines)


def _head(one: Neighbour, look: WorktreeQuery) -> tuple[str, str]:
    """The line of a worktree, and its colour."""
    tree = one.worktree
    facts = [one.name]
    if tree.branch and tree.branch != tree.name:
        facts.append(f"branch {one_line(tree.branch)}")
    elif not tree.branch and tree.commit:
        facts.append(f"at {tree.commit[:12]}")
    if tree.refs:
        facts.append(f"its branch is in a {tree.refs}")
    if tree.main:
        facts.append("main worktree")
    if tree.path:
        facts.append(look.display_path(tree.path))
    if tree.gone:
        facts.append(tree.gone)
    if tree.locked is not None:
        facts.append(one_line(f"locked: {tree.locked}" if tree.locked else "locked"))
    facts.append(ago(one.age))
    mark = ">" if one.here else " "
    code = _BOLD if one.here else _DIM if tree.gone else ""
    return f"{mark} {' · '.join(facts)}", code


def _below(one: Neighbour, look: WorktreeQuery) -> Iterator[tuple[str, str]]:
    """What is known of a worktree, a line each."""
    if one.loop is not None:
        yield _line("loop", _loop(one.loop)), _loop_code(one.loop)
    for note in one.notes:
        yield _line("note", dated_note(note, look.now_ms)), ""
    if one.activity is not None:
        stale = one.activity.seen.stale
        yield _line("at", _activity(one.activity)), _DIM if stale else ""
    for row in one.threads[:MAX_THREADS]:
        yield _line("ball", _ball(row)), _URGENT if row.have_ball else ""
    more = len(one.threads) - MAX_THREADS
    if more > 0:
        yield _line("", f"and {counted(more, 'thread')} more: wc list"), _DIM


def _line(label: str, text: str) -> str:
    return f"    {label:<{_LABEL}}{text}"


def _loop(loop: Loop) -> str:
    why = loop.stall_reason or loop.task
    told = f"{loop.turn} {loop.says}".strip()
    return f"{told}, {_when(loop.seen)}" + (f": {why}" if why else "")


def _loop_code(loop: Loop) -> str:
    if loop.waits_for_human:
        return _URGENT
    return _BAD if loop.orphaned else _DIM if loop.seen.stale else ""


def _activity(activity: Activity) -> str:
    parts = [f"{activity.skill} {activity.skill_args}".strip(), activity.broadcast]
    if activity.file_count:
        parts.append(counted(activity.file_count, "file"))
    said = "; ".join(part for part in parts if part) or "something"
    return f"{said}, {_when(activity.seen)}"


def _when(seen: StateAge) -> str:
    """How old it is, and why that is not newer."""
    old = "old: " if seen.stale else ""
    text = f"{old}{ago(seen.age)}"
    return f"{text} (the file {seen.problem})" if seen.last_good else text


def _ball(row: ThreadRow) -> str:
    holder = "you" if row.have_ball else one_line(holder_text(row.ball))
    status = "" if row.status == "OPEN" else f", {one_line(row.status)}"
    return f"{one_line(row.topic)} → {holder}{status}"


def note(one: Note) -> str:
    """What somebody says they are doing."""
    return f"{one.status}: {one.text}" if one.text else one.status


def dated_note(one: Note, now_ms: int) -> str:
    """Who says so, and when."""
    when = ago(seconds_between(one.at_ms, now_ms))
    return f"{one.agent} {note(one)}, {when}"

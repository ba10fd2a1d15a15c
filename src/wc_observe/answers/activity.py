"""What everyone says they are doing, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.layout import Layout
from wc_core.base.times import ago, seconds_between
from wc_core.reading.views.activity import MAX_ROWS, activity_view
from wc_observe.answers.claims import target_of
from wc_observe.answers.quoting import clean_json, title, word
from wc_observe.callers.open_store import open_store

if TYPE_CHECKING:
    from wc_core.reading.views.activity import ActivityRow, ActivityView
    from wc_observe.callers.calls import Call
    from wc_observe.callers.open_store import OpenStore

_MAX_PATHS = 8
_PATH = 200


def activity_answer(
    call: Call, path: str, whose: str
) -> tuple[OpenStore, ActivityView]:
    """The caller's store and everyone's notes: all of them, or those that concern a
    path from the top of the worktree. Raises InvalidInputError if that is not such a
    path."""
    opened = open_store(call)
    view = activity_view(Layout(opened.place.root), opened.viewer, call.now_ms())
    if path:
        view = view.about([target_of(opened.place.repository, path)])
    return opened, view if whose == "all" else view.of_mine(mine=whose == "mine")


def activity_json(opened: OpenStore, view: ActivityView) -> dict[str, Any]:
    """Every note, as JSON."""
    return dict(clean_json({"store": opened.label} | view.to_json()))


def activity_markdown(view: ActivityView) -> str:
    """A line for each note."""
    lines = [_line(view, row) for row in view.rows[:MAX_ROWS]]
    if len(view.rows) > MAX_ROWS:
        lines.append(f"- {len(view.rows) - MAX_ROWS} more")
    return "\n".join(lines or ["No notes."]) + "\n"


def _line(view: ActivityView, row: ActivityRow) -> str:
    note = row.note
    scope = ", ".join(word(path, _PATH) for path in note.scope[:_MAX_PATHS])
    hidden = len(note.scope) - _MAX_PATHS
    facts = [
        f"{word(note.agent, 250)}{' (you)' if row.mine else ''}",
        word(note.status),
        ago(seconds_between(note.at_ms, view.now_ms)),
        f"worktree {word(note.worktree)}",
        *([f"branch {word(note.branch)}"] if note.branch else []),
        *([f"thread {word(note.thread)}"] if note.thread else []),
        *(
            [f"scope {scope}{f' and {hidden} more' if hidden > 0 else ''}"]
            * bool(scope)
        ),
        *([f"intent {title(note.intent)}"] if note.intent else []),
        *([title(note.text)] if note.text else []),
        *([f"another clone, {view.age_of_others}"] if row.elsewhere else []),
    ]
    return f"- {' · '.join(facts)}"

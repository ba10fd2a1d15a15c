"""What everyone says they are doing, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.layout import Layout
from wc_core.base.times import ago, seconds_between
from wc_core.reading.views.notes import MAX_ROWS, notes_view
from wc_observe.answers.claims import target_of
from wc_observe.answers.quoting import clean_json, title, word
from wc_observe.callers.open_store import open_store

if TYPE_CHECKING:
    from wc_core.reading.views.notes import NoteRow, NotesView
    from wc_observe.callers.calls import Call
    from wc_observe.callers.open_store import OpenStore

_MAX_PATHS = 8
_PATH = 200


def notes_answer(call: Call, path: str, whose: str) -> tuple[OpenStore, NotesView]:
    """The caller's store and everyone's notes: all of them, or those that concern a
    path from the top of the worktree. Raises InvalidInputError if that is not such a
    path."""
    opened = open_store(call)
    view = notes_view(Layout(opened.place.root), opened.viewer, call.now_ms())
    if path:
        view = view.about(target_of(opened.place.repository, path))
    return opened, view if whose == "all" else view.of_mine(mine=whose == "mine")


def notes_json(opened: OpenStore, view: NotesView) -> dict[str, Any]:
    """Every note, as JSON."""
    return dict(clean_json({"store": opened.label} | view.to_json()))


def notes_markdown(view: NotesView) -> str:
    """A line for each note."""
    lines = [_line(view, row) for row in view.rows[:MAX_ROWS]]
    if len(view.rows) > MAX_ROWS:
        lines.append(f"- {len(view.rows) - MAX_ROWS} more")
    return "\n".join(lines or ["No notes."]) + "\n"


def _line(view: NotesView, row: NoteRow) -> str:
    note = row.note
    scope = ", ".join(word(path, _PATH) for path in note.scope[:_MAX_PATHS])
    hidden = len(note.scope) - _MAX_PATHS
    facts = [
        f"{word(note.agent, 250)}{' (you)' if row.mine else ''}",
        ago(seconds_between(note.at_ms, view.now_ms)),
        f"worktree {word(note.worktree)}",
        *([f"branch {word(note.branch)}"] if note.branch else []),
        *(
            [f"scope {scope}{f' and {hidden} more' if hidden > 0 else ''}"]
            * bool(scope)
        ),
        *([f"intent {title(note.intent)}"] if note.intent else []),
        *([title(note.text)] if note.text else []),
        *(["another clone"] if row.elsewhere else []),
    ]
    return f"- {' · '.join(facts)}"

"""Everyone's activity as terminal text, one line each."""

from __future__ import annotations

from wc_core.text import one_line
from wc_core.times import ago, seconds_between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.terminal.style import Style
    from wc_core.views.activity import ActivityRow, ActivityView

_BOLD = "1"
_MAX_PATHS = 8


def activity_text(view: ActivityView, style: Style) -> str:
    """Return a line for each note. Lines about other clones end with the age of the
    information."""
    return "\n".join(
        style(_row(view, row), _BOLD) if row.mine else _row(view, row)
        for row in view.rows
    )


def _row(view: ActivityView, row: ActivityRow) -> str:
    note = row.note
    doing = note.sentence(_MAX_PATHS)
    facts = [
        note.agent,
        f"{note.status}: {doing}" if doing else note.status,
        ago(seconds_between(note.at_ms, view.now_ms)),
        f"in {note.worktree}",
        *([f"on {note.branch}"] if note.branch else []),
        *([f"thread {note.thread}"] if note.thread else []),
        *([f"another clone, {view.age_of_others}"] if row.elsewhere else []),
    ]
    return one_line(" · ".join(facts))

"""``wc worktrees`` shows what happens in each worktree."""

from __future__ import annotations

from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import Options, command
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal.labels import name_text
from wc_cli.run.terminal.style import output_style, terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import holder_text
from wc_core.people.activity import StateFiles
from wc_core.reading.views import worktrees as views
from wc_core.reading.views.worktrees import BAD, OLD, URGENT, Wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.worktrees import WorktreeView

_NO_WORKTREES = "There is no git repository here, and nobody has left a note."
_MAX_FILES = 3
_BOLD, _DIM = "1", "2"
_CODES = {URGENT: "1;33", BAD: "31", OLD: _DIM}


class WorktreesOptions(Options):
    """Show each worktree: who has the ball, which loop runs, who is working."""


@command(WorktreesOptions)
def worktrees(context: Context, options: WorktreesOptions) -> None:
    """Show the worktrees."""
    with contextlib.suppress(WcError):  # the view reports the same problem
        context.remember()
    view = views.worktree_view(
        (context.cwd, context.env, now_ms()),
        StateFiles(),
        lambda: context.place,
        lambda: (context.overview.rows(), context.store),
    )
    if view.problem:
        remark(f"threads left out: {view.problem}")
    if options.json:
        say_json(view.to_json())
        return
    say(_text(view, output_style(context.env)))
    if not view.neighbours:
        remark(_NO_WORKTREES)


def _text(view: WorktreeView, style: Style) -> str:
    """Every worktree, with the current one marked ``>``."""
    limit, lines = terminal_width(), []
    words = Wording(one_line, one_line, _thread, _conflict, "wc list")
    for tree in view.neighbours:
        code = _BOLD if tree.here else _DIM if tree.worktree.defect else ""
        head = views.heading(tree, view.query, words)
        lines.append((f"{'>' if tree.here else ' '} {head}", code))
        for text, mark in views.details(tree, view.query, words):
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

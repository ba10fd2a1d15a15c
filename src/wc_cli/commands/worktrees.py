"""``wc worktrees`` shows what happens in each worktree."""

from __future__ import annotations

from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import Options, command
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import worktrees as worktree_rendering
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.people.activity.statefile import StateFiles
from wc_core.reading.views import worktrees as worktree_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_NO_WORKTREES = "There is no git repository here, and nobody has left a note."


class WorktreesOptions(Options):
    """Show each worktree: who has the ball, which loop runs, who is working."""


@command(WorktreesOptions)
def worktrees(context: Context, options: WorktreesOptions) -> None:
    """Show the worktrees."""
    with contextlib.suppress(WcError):  # the view reports the same problem
        context.remember()
    view = worktree_views.worktree_view(
        (context.cwd, context.env, now_ms()),
        lambda: context.place,
        lambda: (context.overview, context.store),
        StateFiles(),
    )
    if view.problem:
        remark(f"threads left out: {view.problem}")
    if options.json:
        say_json(view.to_json())
        return
    style = output_style(context.env)
    say(worktree_rendering.worktrees_text(view.neighbours, view.query, style))
    if not view.neighbours:
        remark(_NO_WORKTREES)

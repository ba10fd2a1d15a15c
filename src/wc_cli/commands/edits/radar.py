"""``wc radar``: which worktrees change the same files, and what will conflict."""

from __future__ import annotations

import time

from wc_cli.edits.radar.computing import RadarSource
from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import Options, argument, command, flag, number
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import radar as radar_rendering
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import FindingsError, InvalidInputError
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.edits.radar.model import HOT, REGISTRY
from wc_core.reading.views.conflicts import RadarView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.edits.radar.model import Radar

_EVERY = 3


class RadarOptions(Options):
    """Show what each worktree changes, and what will conflict. Uncommitted changes
    count; nothing is touched. With a branch, compare only this worktree with it: exits
    9 if they would conflict."""

    branch: str = argument("BRANCH", "A branch, worktree or agent.", default="")
    remote: bool = flag("--remote", help="Include branches fetched from others.")
    watch: bool = flag("--watch", help="Show it again on every change, until ^C.")
    background: bool = flag(
        "--background", help="Compute it in the background, without output."
    )
    every: int = number(
        "--every", "With --watch: compare every N seconds.", default=_EVERY
    )


@command(RadarOptions)
def radar(context: Context, options: RadarOptions) -> None:
    """Compare all worktrees, or this one with a branch."""
    if not options.every:
        raise InvalidInputError(
            "--every takes at least 1 second.", "Use --every 1 or more."
        )
    source = _source(context)
    if options.branch:
        _compare(context, options, source)
        return
    if options.background:
        _start(context, source)
        return
    view = _view(context, source.compute(remote=options.remote))
    _print_radar(context, options, view)
    while options.watch:
        time.sleep(options.every)
        fresh = _view(context, source.compute(remote=options.remote))
        if fresh.radar._replace(at_ms=view.radar.at_ms) != view.radar:
            view = fresh
            _print_radar(context, options, view)


def _start(context: Context, source: RadarSource) -> None:
    """Start computing the radar in another process, if the settings allow that."""
    repository, layout = source.repository, source.layout
    if layout is not None and context.settings.sync == "background":
        spawn.start_radar(layout, repository.top or repository.common, context.env)


def _print_radar(context: Context, options: RadarOptions, view: RadarView) -> None:
    if options.json:
        say_json(view.to_json())
        return
    style = output_style(context.env)
    say(radar_rendering.radar_text(view, style))
    if not view.pairs:
        remark(view.radar.quiet_text)


def _compare(context: Context, options: RadarOptions, source: RadarSource) -> None:
    """Compare this worktree with a branch."""
    if options.watch or options.background:
        raise InvalidInputError(
            "--watch and --background compare all worktrees.", "Leave out the branch."
        )
    top = source.repository.top
    if not top:
        raise InvalidInputError(
            "This is not a worktree of a git repository.", "Run it in a worktree."
        )
    view = _view(context, source.compare(top, options.branch))
    files = [
        file
        for pair in view.radar.pairs
        for file in (*pair.of_kind(HOT), *pair.of_kind(REGISTRY))
    ]
    if options.json:
        say_json(view.to_json())
    else:
        style = output_style(context.env)
        say(radar_rendering.pairs_text(view, style))
    if files:
        raise FindingsError(
            f"{counted(len(files), 'file')} would conflict.",
            "Agree on who changes what, or merge the other branch now.",
        )
    if not options.json:
        others = (side.name for side in view.radar.sides if side.path != top)
        remark(f"Nothing would conflict with {one_line(next(others, ''))}.")


def _source(context: Context) -> RadarSource:
    """The worktrees to compare. Raises InvalidInputError outside git."""
    repository = context.place.repository
    if repository is None:
        raise InvalidInputError(
            "Only the worktrees of a git repository can be compared.",
            "Run it in a worktree.",
        )
    layout = Layout(context.place.root) if context.place.exists else None
    return RadarSource(repository, layout, context.env)


def _view(context: Context, radar: Radar) -> RadarView:
    repository = context.place.repository
    top = repository.top if repository is not None else ""
    return RadarView(radar, top, context.env, now_ms())

"""``wc radar``: which worktrees change the same files, and what will conflict."""

from __future__ import annotations

import time

from wc_cli.edits.radar.computing import RadarSource
from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import Options, argument, command, flag, number
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal.style import output_style, terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.base.errors import FindingsError, InvalidInputError
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.edits.radar.model import HOT, REGISTRY, SOFT
from wc_core.reading.views.conflicts import RadarView, file_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.edits.radar.model import Pair, Radar, SharedFile, Side

_EVERY = 3
_BOLD, _DIM, _HOT = "1", "2", "1;31"
_MAX_FILES = 12
_LABEL = 9
_COLORS = {HOT: _HOT, REGISTRY: "33", SOFT: ""}


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
    say(radar_text(view, style))
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
        say(pairs_text(view, style))
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


def radar_text(view: RadarView, style: Style) -> str:
    """Return all worktrees, with the current one marked ``>``, and all pairs."""
    sides = [line for side in view.radar.sides for line in _side_lines(view, side)]
    return _fitting([*sides, *_pairs_lines(view), *_approved_lines(view)], style)


def pairs_text(view: RadarView, style: Style) -> str:
    """Return the pairs without the worktrees; empty if no pair shares a file."""
    return _fitting(list(_pairs_lines(view)), style)


def _fitting(lines: list[tuple[str, str]], style: Style) -> str:
    limit = terminal_width()
    return "\n".join(
        style(cut_to_width(text, limit) if limit else text, code)
        if code
        else (cut_to_width(text, limit) if limit else text)
        for text, code in lines
    )


def _side_lines(view: RadarView, side: Side) -> Iterator[tuple[str, str]]:
    own = view.own_side
    is_here = own is not None and view.radar.sides[own] is side
    facts = [one_line(side.name)]
    if side.agent:
        facts.append(one_line(side.agent))
    if side.branch and side.branch != side.name:
        facts.append(f"branch {one_line(side.branch)}")
    if not side.problem:
        facts.append(counted(side.file_count, "file"))
    if side.path:
        facts.append(view.display_path(side))
    if side.left_out:
        facts.append(f"{side.left_out} left out: secret, large or unreadable")
    if side.problem:
        facts.append(one_line(side.problem))
    code = _BOLD if is_here else _DIM if side.problem else ""
    yield f"{'>' if is_here else ' '} {' · '.join(facts)}", code
    visible = side.files[:_MAX_FILES]
    if visible:
        hidden = side.file_count - len(visible)
        suffix = f" and {hidden} more" if hidden else ""
        yield f"    {', '.join(map(one_line, visible))}{suffix}", _DIM


def _pairs_lines(view: RadarView) -> Iterator[tuple[str, str]]:
    for pair in view.pairs:
        yield _head(view, pair), _BOLD
        if pair.problem:
            yield f"    not compared: {one_line(pair.problem)}", _DIM
        yield from _file_lines(pair.files)


def _approved_lines(view: RadarView) -> Iterator[tuple[str, str]]:
    """The approved branches that no longer merge into the base branch."""
    for approved in view.radar.outdated:
        facts = [one_line(approved.name)]
        if approved.branch != approved.name:
            facts.append(f"branch {one_line(approved.branch)}")
        facts.append(f"approved, but no longer merges into {one_line(view.radar.base)}")
        yield " · ".join(facts), _BOLD
        yield from _file_lines(approved.files)


def _file_lines(files: Sequence[SharedFile]) -> Iterator[tuple[str, str]]:
    for kind in (HOT, REGISTRY, SOFT):
        alike = [file for file in files if file.kind == kind]
        for file in alike[:_MAX_FILES]:
            yield f"    {kind:<{_LABEL}}{file_text(file)}", _COLORS[kind]
        if len(alike) > _MAX_FILES:
            yield f"    {'':<{_LABEL}}and {len(alike) - _MAX_FILES} more", _DIM


def _head(view: RadarView, pair: Pair) -> str:
    sides = (view.radar.sides[pair.first], view.radar.sides[pair.second])
    return " + ".join(one_line(side.name) for side in sides)

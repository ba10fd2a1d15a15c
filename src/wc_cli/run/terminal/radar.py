"""The radar as terminal text: the worktrees, then the pairs that share files."""

from __future__ import annotations

from wc_cli.run.terminal.style import terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.edits.radar.model import HOT, REGISTRY, SOFT
from wc_core.reading.views.conflicts import file_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.run.terminal.style import Style
    from wc_core.edits.radar.model import Pair, SharedFile, Side
    from wc_core.reading.views.conflicts import RadarView

_BOLD, _DIM, _HOT = "1", "2", "1;31"
_MAX_FILES = 12
_LABEL = 9
_COLORS = {HOT: _HOT, REGISTRY: "33", SOFT: ""}


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

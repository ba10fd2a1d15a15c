"""Reports of the radar as terminal text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.phrases import counted
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.terminal.render import Style
    from wc_core.radar.report import Overlap, Pair, Report, Tree

_BOLD, _DIM, _HOT, _SOFT = "1", "2", "1;31", "33"
_MAX_FILES = 8
_MAX_NAMED = 3


def radar_text(report: Report, current: str, style: Style) -> str:
    """Returns the trees, the one with the root ``here`` marked, then the pairs that
    change the same files, those that conflict first."""
    lines = [_tree_line(tree, current, style) for tree in report.trees]
    pairs = sorted(report.pairs, key=lambda pair: not pair.hot)
    for pair in pairs:
        lines += ["", *pair_lines(pair, style)]
    return "\n".join(lines)


def pair_lines(pair: Pair, style: Style) -> Iterator[str]:
    """Yields a pair, and the files that both change."""
    word = "conflict" if pair.hot else "change the same files, which merge"
    head = f"{one_line(pair.first)} and {one_line(pair.second)} {word}"
    yield style(head, _HOT if pair.hot else _SOFT)
    yield from _limited(_file_lines(pair.overlaps, style))


def _file_lines(overlaps: Iterable[Overlap], style: Style) -> Iterator[str]:
    for overlap in overlaps:
        facts = [one_line(overlap.path)]
        if overlap.conflicts and (overlap.hint or overlap.symbols):
            facts.append(overlap.hint or " · ".join(overlap.symbols))
        line = f"  {'⚠' if overlap.conflicts else ' '} {': '.join(facts)}"
        yield line if overlap.conflicts else style(line, _DIM)


def _limited(lines: Iterable[str]) -> Iterator[str]:
    every = list(lines)
    yield from every[:_MAX_FILES]
    hidden = len(every) - _MAX_FILES
    if hidden > 0:
        yield f"    and {counted(hidden, 'more file')}"


def _tree_line(tree: Tree, current: str, style: Style) -> str:
    is_here = bool(current) and tree.path == current
    facts = [one_line(tree.name)]
    if tree.branch and tree.branch != tree.name:
        facts.append(f"branch {one_line(tree.branch)}")
    names = ", ".join(one_line(path) for path in tree.files[:_MAX_NAMED])
    hidden = len(tree.files) - _MAX_NAMED
    rest = f", and {hidden} more" if hidden > 0 else ""
    facts.append(f"{names}{rest}" if tree.files else "nothing changed")
    line = f"{'>' if is_here else ' '} {' · '.join(facts)}"
    return style(line, _BOLD) if is_here else line

"""The lines of the board about worktrees: their conflicts, and their loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.views.worktrees import Neighbour

_FILES = 2
_URGENT, _CALM = "bold yellow", "dim"


def worktree_lines(neighbours: Iterable[Neighbour]) -> Text:
    """A line for each pair of worktrees that will conflict, then for each loop that is
    running or waits for a human."""
    trees = list(neighbours)
    text = Text(no_wrap=True, overflow="ellipsis")
    for line, style in (*_conflict_lines(trees), *_loop_lines(trees)):
        text.append("\n " if text.plain else " ")
        text.append(line, style)
    return text


def _conflict_lines(trees: Iterable[Neighbour]) -> Iterator[tuple[str, str]]:
    named: set[str] = set()
    for tree in trees:
        named.add(tree.worktree.path)
        for conflict in tree.conflicts:
            if conflict.opposite.path not in named:
                text = f"⚠ {tree.name} conflicts {conflict.sentence(_FILES)}"
                yield one_line(text), _URGENT


def _loop_lines(trees: Iterable[Neighbour]) -> Iterator[tuple[str, str]]:
    for tree in trees:
        loop = tree.loop
        if loop is not None and not loop.state_age.stale:
            line = one_line(f"{tree.name}: loop {loop.turn} {loop.summary}")
            yield line, _URGENT if loop.waits_for_human else _CALM

"""Notes the names that worktrees have as seats, see `wc_core.ledger.git.seats`."""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.lean import contextlib
from wc_core.base.names import fold
from wc_core.ledger.git import seats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.git.repository import Repository


def note(tree: Repository, name: str) -> None:
    """Note the current name of a worktree, which takes it over from any other."""
    names = seats.kept_names(tree)
    if not name or names[-1:] == [name]:
        return
    for neighbour in seats.trees(tree):
        kept = seats.kept_names(neighbour)
        if neighbour.gitdir != tree.gitdir and fold(name) in map(fold, kept):
            _write(neighbour, _without(kept, name))
    _write(tree, [*_without(names, name), name][-seats.MOST :])


def note_all(repository: Repository) -> None:
    """Note the current name of each linked worktree."""
    for tree in seats.trees(repository):
        note(tree, seats.current_name(tree))


def _without(names: list[str], name: str) -> list[str]:
    return [kept for kept in names if fold(kept) != fold(name)]


def _write(tree: Repository, names: list[str]) -> None:
    """Write the names of a worktree. They may be another user's, or just removed."""
    with contextlib.suppress(OSError):
        data = os.fsencode("".join(f"{name}\n" for name in names))
        durable.replace_beside(seats.path_of(tree), data)

"""The names of the seats of a repository: its worktrees, whatever branch they have.

A seat is named after its branch, for example, but belongs to the worktree. So git's
folder for a worktree has the file ``watercooler-seats`` with the names that it has had,
one on each line, the latest last. No push writes there, and the file goes with the
worktree. A name that several have had is that of the worktree that has it now, or else
that had it last.
"""

from __future__ import annotations

import os

from wc_core.base.files import read_plain
from wc_core.base.layout import BRANCH
from wc_core.base.lean import contextlib
from wc_core.base.names import fold, is_fit, unbracketed
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.git.repository import Repository

MOST = 50
_MAX_BYTES = 1 << 15
_OWN = {repositories.LOCK_REASON, repositories.CHECK_REASON}


def path_of(tree: Repository) -> str:
    """The file with the names that a worktree has had."""
    return f"{tree.gitdir}/watercooler-seats"


def kept_names(tree: Repository) -> list[str]:
    """The names in the file of a worktree, the latest last; none if it cannot be
    read."""
    data = b""
    with contextlib.suppress(OSError):
        data = read_plain(path_of(tree), limit=_MAX_BYTES) or b""
    names = data.decode(errors="replace").split("\n")
    return [name for name in names if name and is_fit(name)]


def current_name(tree: Repository) -> str:
    """The name of the seat of a linked worktree; empty if nothing fits into a name."""
    for name in (tree.change_id, tree.working_branch, tree.worktree_id):
        if name and is_fit(name):
            return unbracketed(name)
    return ""


def mark(tree: Repository) -> tuple[str, ...]:
    """What changes with the names of a worktree's seat."""
    return (tree.working_branch, *kept_names(tree))


def trees(repository: Repository) -> list[Repository]:
    """The linked worktrees in which someone can work, as seen from each."""
    usable = []
    for tree in repositories.linked_worktrees(repository):
        lock = repositories.lock_reason(tree.gitdir)
        is_there = lock is not None or os.path.isdir(tree.top)
        if is_there and lock not in _OWN and tree.working_branch != BRANCH:
            usable.append(tree)
    return usable


def former_names(tree: Repository) -> tuple[str, ...]:
    """The other names that a worktree has had, without those that others have now."""
    names = dict.fromkeys(kept_names(tree))
    names.pop(current_name(tree), None)
    if not names:
        return ()  # most worktrees: no other one is read
    neighbours = (item for item in trees(tree) if item.gitdir != tree.gitdir)
    current_names = {fold(current_name(neighbour)) for neighbour in neighbours}
    return tuple(name for name in names if fold(name) not in current_names)


def all_names(repository: Repository) -> dict[str, tuple[str, ...]]:
    """The names of each seat, that in use first, by git's folder for its worktree."""
    current = {tree: current_name(tree) for tree in trees(repository)}
    folded = set(map(fold, current.values()))
    return {
        tree.gitdir: (name, *(n for n in kept_names(tree) if fold(n) not in folded))
        for tree, name in current.items()
    }

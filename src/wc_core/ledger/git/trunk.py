"""The base branch of a repository: the one from which the others start, and on which
they land."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.git.repository import Repository

# The base branch of a clone that has none of its own.
REMOTE_HEAD = "origin/HEAD"
_TRUNKS = ("main", "master", "trunk", "develop")


class BaseBranch(NamedTuple):
    """The branch from which the others start, and its commit; empty if there is
    none."""

    name: str = ""
    commit: str = ""


def find_base(repository: Repository, main_branch: str) -> BaseBranch:
    """The base branch of a repository: ``main`` or one of its usual names, local or
    fetched, otherwise ``main_branch``, the branch of the main worktree."""
    for name in (*_TRUNKS, main_branch):
        commit = repositories.resolve(repository, f"refs/heads/{name}") if name else ""
        if commit:
            return BaseBranch(name, commit)
    commit = repositories.resolve(repository, f"refs/remotes/{REMOTE_HEAD}")
    return BaseBranch(REMOTE_HEAD, commit) if commit else BaseBranch()

"""Finds the way by which entries can leave a clone: the branch of the code that is
checked out, or an outbox where there is no remote.

A carrier never goes to a branch that others share, and never in between the steps of a
git operation.
"""

from __future__ import annotations

import os
import time

from wc_core.base.errors import ConflictError
from wc_core.base.files import age_of
from wc_core.base.layout import BRANCH
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import modes
from wc_core.ledger.git import remotes, repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_core.ledger.git.repository import Repository

# Branches that others share, whatever the settings say.
_SHARED = frozenset({"main", "master", "trunk", "develop", "development", BRANCH})
# What git has in a worktree's git directory in between the steps of an operation.
_OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "sequencer": "cherry-pick or revert",
    "BISECT_LOG": "bisect",
}
# A running git holds its lock for less time; one that is older was left behind.
_ABANDONED_SECONDS = 5.0
_POLL_SECONDS = 0.05


class Road(NamedTuple):
    """The way out of a clone: a code ``branch``, pushed to ``remote``; or an outbox in
    the work tree, if there is no ``remote``."""

    branch: str
    remote: str


def find(code: Repository, env: Mapping[str, str], patterns: Sequence[str]) -> Road:
    """The way out of the worktree ``code``; ``patterns`` match the branches of agents.

    Raises ConflictError if there is none now.
    """
    if not code.top:
        raise ConflictError(
            "There is no work tree here whose branch could carry entries.",
            "Run it in a worktree of the code.",
        )
    branch = code.branch
    names = remotes.names(code, env)
    if not names:
        return Road(branch, "")
    remote = "origin" if "origin" in names else names[0]
    if operation := _operation(code):
        raise ConflictError(
            f"A {operation} is in progress in {one_line(code.top)}.",
            "Your entries are safe here. Finish it, then: wc sync --carry",
        )
    if not branch:
        raise ConflictError(
            "No branch is checked out that could carry entries.",
            "Make one for your work, then: wc sync --carry",
        )
    if branch == BRANCH or is_shared(code, remote, branch, patterns):
        raise ConflictError(
            f"The branch {one_line(branch)} is shared, so it carries no entries.",
            "Make one for your work (git switch -c claude/…), then: wc sync --carry",
        )
    return Road(branch, remote)


def is_shared(
    code: Repository, remote: str, branch: str, patterns: Sequence[str]
) -> bool:
    """Whether a branch is one that others work on: by its name, or because it is the
    remote's default branch and none of the agents' ones."""
    if branch in _SHARED:
        return True
    return branch == default_branch(code, remote) and not modes.is_agents(
        branch, patterns
    )


def default_branch(code: Repository, remote: str) -> str:
    """The default branch of a remote, if the clone has it; otherwise empty."""
    prefix = f"refs/remotes/{remote}/"
    target = repository.target_of(code, f"{prefix}HEAD")
    return target.removeprefix(prefix) if target.startswith(prefix) else ""


def _operation(code: Repository) -> str:
    """The git operation that a worktree is in the middle of; usually empty."""
    return next(
        (
            name
            for file, name in _OPERATIONS.items()
            if os.path.lexists(f"{code.gitdir}/{file}")
        ),
        "",
    )


def await_git(code: Repository, seconds: float) -> None:
    """Wait until no git command is changing the worktree. Raises ConflictError if one
    still is after that many seconds."""
    lock = f"{code.gitdir}/index.lock"
    deadline = time.monotonic() + seconds
    while age_of(lock) < _ABANDONED_SECONDS:
        if time.monotonic() >= deadline:
            raise ConflictError(
                f"A git command is at work in {one_line(code.top)}.",
                "Your entries are safe here. Afterwards: wc sync --carry "
                f"(if none is: rm {quoted(lock)})",
            )
        time.sleep(_POLL_SECONDS)

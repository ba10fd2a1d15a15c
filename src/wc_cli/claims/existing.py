"""Whether a path exists already, in any worktree or in any branch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_cli.branch.git import GitError
from wc_core.claims.ids import TOP
from wc_core.errors import StorageError
from wc_core.git.worktrees import worktrees
from wc_core.layout import BRANCH

if TYPE_CHECKING:
    from wc_cli.claims.registry import Registry
    from wc_core.claims.ids import ClaimId

_BRANCHES = ("refs/heads/", "refs/remotes/")


def place_of(registry: Registry, target: ClaimId) -> str:
    """Where the path of a target exists: a worktree or a branch; empty if nowhere."""
    if target.path == TOP:
        return "every worktree"
    for worktree in worktrees(registry.repository, registry.env):
        path = os.path.join(worktree.path, target.path)
        if worktree.path and os.path.lexists(path):
            return f"the worktree {worktree.name}"
    try:
        return _branch_with(registry, target.path)
    except GitError as error:
        raise StorageError(f"The branches cannot be read: {error}.") from error


def _branch_with(registry: Registry, path: str) -> str:
    """The first branch, local or fetched, whose commit has a path."""
    git = registry.git
    words = ("for-each-ref", "--format=%(refname)", *_BRANCHES)
    names = os.fsdecode(git.run(*words)).splitlines()
    names = [name for name in names if not name.endswith(f"/{BRANCH}")]
    if "\n" in path or not names:
        return ""
    feed = "".join(f"{name}:{path}\n" for name in names)
    output = git.run("cat-file", "--batch-check=%(objecttype)", feed=os.fsencode(feed))
    for name, line in zip(names, output.splitlines(), strict=True):
        if line in {b"blob", b"tree", b"commit"}:
            return f"the branch {name.partition('/')[2].partition('/')[2]}"
    return ""

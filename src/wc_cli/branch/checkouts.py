"""Checking out the branch of the store: made, or adopted from whoever wrote it.

The repository of the code is left alone: its index, work tree, stash and
branches.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from wc_cli.branch import trees
from wc_cli.branch.git import Git, GitError
from wc_cli.store import durable, locks
from wc_core.errors import ConflictError, NotFoundError, StorageError
from wc_core.files import names_in
from wc_core.git import discovery, remotes, repository
from wc_core.layout import ATTRIBUTES, BRANCH, IGNORED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.discovery import Place
    from wc_core.git.repository import Repository

_LOCK_SECONDS = 60

# The first commit of a store is the same everywhere, so that two clones that
# each start one from nothing still share their history's root.
_ROOT_DATE = "1767225600 +0000"
_ROOT_IDENT = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (
        ("NAME", "Watercooler"),
        ("EMAIL", "watercooler@localhost"),
        ("DATE", _ROOT_DATE),
    )
}


def ensure_checkout(place: Place, cwd: str, env: Mapping[str, str]) -> str:
    """Check out the store's branch of a repository, made or adopted; its root.

    The branch is taken as it is, local or already fetched, whoever wrote it.
    Nothing is asked of the network. Raises StorageError with git's reason.
    """
    where = place.repository
    if where is None:
        raise NotFoundError("This is not a git repository.", "Run wc in one.")
    durable.make_folder(os.path.dirname(place.root))
    lock = locks.acquire(f"{place.root}.lock", "wc init", _LOCK_SECONDS)
    try:
        again = repository.checkouts_of(where, BRANCH)
        if any(one.trusted and one.finished for one in again):
            return discovery.find(cwd, env).root
        unfinished = {one.path for one in again if not one.finished}
        for path in {place.root, *unfinished}:
            _set_unfinished_aside(path, known=path in unfinished)
        recorded = [os.path.realpath(path) for path, _ in repository.worktrees(where)]
        git = Git(where.common, env, bare=True, handle=lock)
        try:
            _ensure_branch(git, where, env)
            missing = bool(again) or place.root in recorded
            _add_worktree(git, place.root, missing=missing)
        except GitError as error:
            raise StorageError(
                f"The store could not be checked out: {error}.",
                "Run the same command again when that is mended; see also: wc doctor",
            ) from error
    finally:
        os.close(lock)
    return place.root


def _set_unfinished_aside(path: str, *, known: bool) -> None:
    """Move away a checkout whose making was interrupted; nobody else is at it,
    for we hold the lock. One that git does not know yet is empty: a folder
    with anything in it may be somebody's store."""
    if not os.path.isdir(path):
        return
    if known or names_in(path) == [".git"]:
        os.rename(path, f"{path}.unfinished-{time.time_ns()}")


def _ensure_branch(git: Git, where: Repository, env: Mapping[str, str]) -> None:
    if repository.resolve(where, f"refs/heads/{BRANCH}"):
        return
    commit = _fetched(where, env)
    if commit and not trees.is_store(git, commit):
        raise ConflictError(
            f"The branch {BRANCH} that was fetched is not a store.",
            "Rename it where it is from, or use another repository: "
            "WATERCOOLER_GIT_REPO",
        )
    commit = commit or _root_commit(git)
    git.run("update-ref", f"refs/heads/{BRANCH}", commit, "")


def _fetched(where: Repository, env: Mapping[str, str]) -> str:
    """The commit of the branch as it was fetched; empty where it was not."""
    remote = remotes.find(where, env)
    if remote is not None:
        return repository.resolve(where, remote.tracking)
    for name in repository.remote_branches(where, BRANCH):
        return repository.resolve(where, f"refs/remotes/{name}/{BRANCH}")
    return ""


def _root_commit(git: Git) -> str:
    lines = []
    for name, text in ((".gitattributes", ATTRIBUTES), (".gitignore", IGNORED)):
        blob = git.line("hash-object", "-w", "--stdin", feed=f"{text}\n".encode())
        lines.append(f"100644 blob {blob}\t{name}\n")
    tree = git.line("mktree", feed="".join(lines).encode())
    message = b"Start the store of threads\n"
    return git.line("commit-tree", tree, feed=message, env=_ROOT_IDENT)


def _add_worktree(git: Git, root: str, *, missing: bool) -> None:
    # Forced twice: git keeps the record of a checkout that is gone, locked.
    force = ["-f", "-f"] if missing else []
    git.run("worktree", "add", *force, "--quiet", root, BRANCH)
    git.run("worktree", "lock", "--reason", repository.LOCK_REASON, root)

"""What a person does with git in the folder of a store.

The folder is a checkout like any other, so people merge, pull, reset and
rebase in it. While their git is at work nothing is committed; what they leave
half-done is finished once they have been away for a while.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch import commits
from wc_cli.branch.git import GitError
from wc_cli.store import durable
from wc_core.files import read_plain
from wc_core.git import repository
from wc_core.layout import BRANCH
from wc_core.text import one_line

if TYPE_CHECKING:
    from wc_cli.branch.commits import How
    from wc_cli.branch.git import Git
    from wc_core.git.repository import Repository

# Seconds after which nobody is thought to be at it any more.
_A_WHILE = 5.0
_NAP = 0.05
# What git itself removes when a merge, a revert or a cherry-pick is over.
_BEGUN = {
    "MERGE_HEAD": "merges",
    "REVERT_HEAD": "reverts",
    "CHERRY_PICK_HEAD": "picks commits",
}
_BESIDE = ("MERGE_RR", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "AUTO_MERGE")


class Visit(NamedTuple):
    """What is in the way of a commit: ``hold`` says it in words, and is empty
    where nothing is; ``left`` says that somebody began something and left."""

    hold: str = ""
    left: bool = False


def visit(root: str, patience: float = 0.0) -> Visit:
    """What somebody's git does in the store at ``root``, waiting at most
    ``patience`` seconds for a git that runs; one that takes longer may have
    crashed."""
    where = repository.find(root)
    if where is None or where.top != os.path.realpath(root):
        return Visit()
    if where.branch != BRANCH:
        linked = where.linked and repository.has_branch(where, BRANCH)
        rebased = repository.rebased_branch(where.gitdir) == BRANCH
        return Visit(commits.why_away(where) if linked or rebased else "")
    deadline = time.monotonic() + patience
    lock = f"{where.gitdir}/index.lock"
    while _age(lock) < _A_WHILE and time.monotonic() < deadline:
        time.sleep(_NAP)
    begun = [one for one in _BEGUN if os.path.isfile(f"{where.gitdir}/{one}")]
    for name in begun:
        if min(_age(lock), _age(f"{where.gitdir}/{name}")) < _A_WHILE:
            what = f"somebody {_BEGUN[name]} in {one_line(root)}"
            return Visit(f"{what}; the next wc command finishes it unless they do")
    return Visit(left=bool(begun))


def _age(path: str) -> float:
    """Seconds since a file was written; infinite where there is none."""
    try:
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return float("inf")


def finish(git: Git, where: Repository, how: How) -> None:
    """Finish what somebody began and left: join the branch with what they
    merge, and forget about the rest. Raises GitError."""
    import shutil  # hardly ever

    from wc_cli.merge.join import Joining, join

    for theirs in _merged(where):
        now = repository.resolve(where, f"refs/heads/{BRANCH}")
        join(git, now, Joining(theirs, "a merge that was left"), how)
    for name in (*_BEGUN, *_BESIDE):
        durable.remove(f"{where.gitdir}/{name}")
    shutil.rmtree(f"{where.gitdir}/sequencer", ignore_errors=True)


def _merged(where: Repository) -> list[str]:
    try:
        return (read_plain(f"{where.gitdir}/MERGE_HEAD") or b"").decode().split()
    except (OSError, UnicodeDecodeError) as error:
        raise GitError(f"MERGE_HEAD cannot be read: {error}") from error


def changed(git: Git) -> dict[str, bool]:
    """The paths at which folder, index and branch are not the same, and
    whether git left a conflict there; files that the branch does not know are
    left out. Raises GitError."""
    words = ("--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")
    out = git.run("status", *words, "--ignore-submodules=all")
    return {os.fsdecode(one[3:]): _is_conflict(one) for one in out.split(b"\0") if one}


def _is_conflict(line: bytes) -> bool:
    return b"U" in line[:2] or line[:2] in {b"AA", b"DD"}

"""A user's git operations in the folder of a store.

The folder is an ordinary checkout, so people merge, pull, reset and rebase in it. While
such a command runs, wc commits nothing. wc completes a merge that was left unfinished
for some seconds.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.branch import commits
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.merge.joining import Joining
from wc_cli.ledger.store import durable
from wc_core.base.files import age_of, read_plain
from wc_core.base.layout import BRANCH
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.branch.commits import CommitOptions
    from wc_cli.ledger.branch.git import Git
    from wc_core.ledger.git.repository import Repository

# A lock or an operation older than this counts as abandoned.
_ABANDONED_SECONDS = 5.0
_POLL_SECONDS = 0.05
# Files that git itself removes at the end of a merge, a revert or a cherry-pick.
_OPERATIONS = {
    "MERGE_HEAD": "merge",
    "REVERT_HEAD": "revert",
    "CHERRY_PICK_HEAD": "cherry-pick",
}
_OPERATION_FILES = ("MERGE_RR", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "AUTO_MERGE")


class UserOperation(NamedTuple):
    """A user's git operation in the store: ``obstacle`` is the reason why wc must not
    commit now, empty if it may; ``abandoned``: an operation was begun and left
    unfinished."""

    obstacle: str = ""
    abandoned: bool = False


def current_operation(
    checkout: Repository | None, root: str, patience: float = 0.0
) -> UserOperation:
    """The operation of a user's git in the store at ``root``.

    Waits at most ``patience`` seconds for a running git command; one that takes longer
    may have crashed.
    """
    if checkout is None or checkout.top != os.path.realpath(root):
        return UserOperation()
    if checkout.branch != BRANCH:
        return UserOperation(_other_branch(checkout))
    _await_index(checkout, patience)
    begun = [
        name for name in _OPERATIONS if os.path.isfile(f"{checkout.gitdir}/{name}")
    ]
    if name := next((name for name in begun if _is_recent(checkout, name)), ""):
        action = f"a {_OPERATIONS[name]} is in progress in {one_line(root)}"
        return UserOperation(
            f"{action}; the next wc command completes it if the user does not"
        )
    return UserOperation(abandoned=bool(begun))


def _other_branch(checkout: Repository) -> str:
    """The reason why nothing is committed if a checkout of the store has another
    branch; empty for a checkout that is not the store's."""
    linked = checkout.linked and repository.has_branch(checkout, BRANCH)
    rebased = repository.rebased_branch(checkout.gitdir) == BRANCH
    return commits.why_away(checkout) if linked or rebased else ""


def _await_index(checkout: Repository, patience: float) -> None:
    """Wait for the lock of the index."""
    deadline = time.monotonic() + patience
    lock = f"{checkout.gitdir}/index.lock"
    while age_of(lock) < _ABANDONED_SECONDS and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _is_recent(checkout: Repository, operation: str) -> bool:
    """Return whether someone may still be working on an operation."""
    files = (f"{checkout.gitdir}/index.lock", f"{checkout.gitdir}/{operation}")
    return min(map(age_of, files)) < _ABANDONED_SECONDS


def complete(git: Git, checkout: Repository, options: CommitOptions) -> None:
    """Complete an abandoned operation: join the branch with the commits being merged,
    and discard other operations. Raises GitError."""
    import shutil  # 3 ms, only after an abandoned operation

    from wc_cli.ledger.merge.join import join  # 2 ms, as above

    for commit in _merged_commits(checkout):
        tip = repository.resolve(checkout, f"refs/heads/{BRANCH}")
        join(git, tip, Joining(commit, "a merge that was left"), options)
    for name in (*_OPERATIONS, *_OPERATION_FILES):
        durable.remove(f"{checkout.gitdir}/{name}")
    shutil.rmtree(f"{checkout.gitdir}/sequencer", ignore_errors=True)


def _merged_commits(checkout: Repository) -> list[str]:
    try:
        return (read_plain(f"{checkout.gitdir}/MERGE_HEAD") or b"").decode().split()
    except (OSError, UnicodeDecodeError) as error:
        raise GitError(f"MERGE_HEAD cannot be read: {error}") from error


def changed_paths(git: Git) -> dict[str, bool]:
    """The paths at which folder, index and branch differ, and whether git left a
    conflict there; without untracked files. Raises GitError."""
    words = ("--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")
    out = git.run("status", *words, "--ignore-submodules=all")
    return {
        os.fsdecode(line[3:]): _is_conflict(line) for line in out.split(b"\0") if line
    }


def _is_conflict(line: bytes) -> bool:
    return b"U" in line[:2] or line[:2] in {b"AA", b"DD"}

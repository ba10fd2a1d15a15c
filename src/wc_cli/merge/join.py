"""Joining the branch of the store with another commit: a commit with both as
its parents, or a step forward where nothing of ours is missing there.

No work tree and no index take part, so there is nothing to conflict and
nothing left half-done: the branch moves at one moment, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch import commits, trees
from wc_cli.merge import plan as mergeplan
from wc_core.phrases import counted

if TYPE_CHECKING:
    from wc_cli.branch.commits import CommitOptions
    from wc_cli.branch.git import Git

_MAX_NAMED = 5


class Joining(NamedTuple):
    """A commit that the branch is to be joined with, where it is from, and the
    packs that it came in."""

    theirs: str
    whence: str
    packs: tuple[str, ...] = ()


class Joined(NamedTuple):
    """What became of it: whether two histories became one, and the files of
    ours that the other side's version took the place of."""

    merged: bool = False
    outvoted: tuple[str, ...] = ()


def join(git: Git, ours: str, wanted: Joining, options: CommitOptions) -> Joined:
    """Join the branch, which is at ``ours``, with another commit; ``options`` is
    how a commit is made, if there is to be one.

    Raises GitError, the branch being where it was.
    """
    ahead, behind = commits.ahead_behind(git, ours, wanted.theirs)
    if not behind:
        return Joined()
    if not ahead:
        commits.move_branch(git, ours, wanted.theirs)
        return Joined()
    base = trees.merge_base(git, ours, wanted.theirs)
    plan = mergeplan.plan(git, base, ours, wanted.theirs)
    message = _message(plan, wanted.whence)
    changes = [
        commits.CommitChange(one.path, one.data, one.blob, one.mode)
        for one in plan.changes
    ]
    commits.commit(git, changes, message, (ours, wanted.theirs), options)
    return Joined(merged=True, outvoted=plan.outvoted)


def _message(plan: mergeplan.MergePlan, whence: str) -> str:
    """What the merge brings; its entries are named by their own commits."""
    count = sum(len(entries) for entries in plan.gained.values())
    topics = list(plan.gained)
    named = ", ".join(topics[:_MAX_NAMED])
    more = ", …" if len(topics) > _MAX_NAMED else ""
    what = counted(count, "entry", "entries") if count else "the history"
    return f"Merge {what} from {whence}{f' ({named}{more})' if topics else ''}\n"

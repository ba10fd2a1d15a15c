"""Joins the store's branch with another commit: by a merge commit, or by a fast-forward
if that commit has everything of ours.

It uses no work tree and no index, so there are no conflicts and no half-done merges:
the branch moves atomically or not at all.
"""

from __future__ import annotations

from wc_cli.ledger.branch import commits, trees
from wc_cli.ledger.merge.joining import Joined
from wc_cli.ledger.merge.plan import plan_merge
from wc_core.base.phrases import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.branch.commits import CommitOptions
    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.merge.joining import Joining
    from wc_cli.ledger.merge.plan import MergePlan

_MAX_NAMED = 5


def join(git: Git, own_tip: str, joining: Joining, options: CommitOptions) -> Joined:
    """Join the branch, which is at ``own_tip``, with another commit. ``options`` are
    for the merge commit, if one is needed.

    Raises GitError; the branch has not moved then.
    """
    ahead, behind = commits.ahead_behind(git, own_tip, joining.commit)
    if not behind:
        return Joined()
    if not ahead:
        commits.move_branch(git, own_tip, joining.commit)
        return Joined()
    base = trees.merge_base(git, own_tip, joining.commit)
    plan = plan_merge(git, base, own_tip, joining.commit)
    message = _merge_message(plan, joining.origin)
    changes = [
        commits.CommitChange(change.path, change.data, change.blob, change.mode)
        for change in plan.changes
    ]
    commits.commit(git, changes, message, (own_tip, joining.commit), options)
    return Joined(merged=True, outvoted=plan.outvoted)


def _merge_message(plan: MergePlan, origin: str) -> str:
    """The message of a merge: the number of entries that it brings, and their threads.
    The entries' own commits have their ids."""
    count = sum(len(entries) for entries in plan.gained.values())
    topics = list(plan.gained)
    named = ", ".join(topics[:_MAX_NAMED])
    ellipsis = ", …" if len(topics) > _MAX_NAMED else ""
    subject = counted(count, "entry", "entries") if count else "the history"
    threads = f" ({named}{ellipsis})" if topics else ""
    return f"Merge {subject} from {origin}{threads}\n"

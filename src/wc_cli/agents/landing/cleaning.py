"""Removes the worktree and the branch of a thread that has landed."""

from __future__ import annotations

import os

from wc_cli.agents.landing.returning import SHORT
from wc_cli.agents.runs.places import changed_text, uncommitted
from wc_cli.edits.landing.publishing import BasePlace
from wc_cli.ledger.branch.git import GitError
from wc_core.base.errors import ConflictError
from wc_core.base.lean import contextlib
from wc_core.base.phrases import shown_path
from wc_core.base.text import one_line
from wc_core.edits.review.points import approved_branch
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.agents.landing.choosing import LandingChooser
    from wc_cli.run.context import Context
    from wc_core.ledger.git.worktrees import Worktree


class Cleaner:
    """Removes what is no longer needed of threads that have landed."""

    def __init__(self, chooser: LandingChooser) -> None:
        self.chooser = chooser
        self.context: Context = chooser.context
        self.base: BasePlace = chooser.base

    def clean(self, topic: str) -> list[str]:
        """Remove the worktree and the branch of a thread that has landed. Returns what
        was done, in words. Raises ConflictError if anything would be lost."""
        thread = self.context.reader.thread(topic)
        state, landing = thread.state, thread.state.landing
        branch = approved_branch(thread, landing.onto)
        base = BasePlace(self.chooser.repository, self.context.env, landing.onto)
        if not landing.commit or state.status != CLOSED:
            raise ConflictError(
                f"{state.name} has not landed.", f"Land it: wc land {state.name}"
            )
        tip = self.chooser.branches.tip(branch)
        if tip and tip != landing.tip:
            raise ConflictError(
                f"{one_line(branch)} has commits that have not landed.",
                f"Reopen the thread: wc say {state.name} --reopen -m '…'",
            )
        if tip and not self.base.is_kept(landing.commit, landing.onto, if_absent=False):
            raise ConflictError(
                f"{one_line(landing.onto)} no longer has "
                f"{landing.commit[:SHORT]}, as which {state.name} landed.",
                f"Land it again: wc land {state.name}. If nobody needs it: "
                f"git branch -D {one_line(branch)}",
            )
        done = []
        trees = [tree for tree in base.trees if branch in {tree.branch, tree.rebased}]
        for tree in trees:
            self._check_removable(tree, branch)
        for tree in trees:
            with self._cannot_remove(tree.path):
                base.git().run("worktree", "remove", "--", tree.path)
            place = one_line(shown_path(tree.path, self.context.env))
            done.append(f"removed the worktree {place}")
        if tip:
            with self._cannot_remove(branch):
                ref = f"refs/heads/{branch}"
                base.git().run("update-ref", "-d", ref, tip)
            with contextlib.suppress(GitError):  # it may have no settings
                base.git().run("config", "--remove-section", f"branch.{branch}")
            done.append(f"deleted the branch {one_line(branch)}")
        return done

    @contextlib.contextmanager
    def _cannot_remove(self, name: str) -> Iterator[None]:
        try:
            yield
        except GitError as error:
            raise ConflictError(
                f"git did not remove {one_line(name)}: {one_line(str(error))}.",
                "See what is there: git worktree list",
            ) from error

    def _check_removable(self, tree: Worktree, branch: str) -> None:
        path, place = tree.path, one_line(tree.path)
        if tree.rebased == branch:
            raise ConflictError(
                f"{one_line(branch)} is being rebased in {place}.",
                "Finish that first: git rebase --continue, or --abort",
            )
        if tree.defect:
            raise ConflictError(
                f"Its worktree is {place}, but {tree.defect}.",
                "Tell git: git worktree prune, or: git worktree repair",
            )
        if tree.main:
            raise ConflictError(
                f"Its branch is checked out in the main worktree, {place}.",
                f"Check out another one there: git -C {place} switch "
                f"{one_line(self.base.name)}",
            )
        if os.path.commonpath((os.path.realpath(self.context.cwd), path)) == path:
            raise ConflictError(
                f"You are in its worktree, {place}.", "Run it from another folder."
            )
        changed = uncommitted(self.base.git(path), path)
        if changed:
            raise ConflictError(
                f"{place} has uncommitted changes: {changed_text(changed)}.",
                "Commit them, or remove it by hand: git worktree remove --force",
            )

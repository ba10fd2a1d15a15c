"""Keeping the folder of a store and its branch together.

The folder is written live, the branch gets commits of ours, and either may be
changed by somebody's git. Whoever settles brings both together first, and notes
where they are when it is done.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from wc_cli.branch import commits, packs
from wc_cli.branch.git import GitError, GitKilledError
from wc_cli.settle import applier as applying
from wc_cli.settle import usergit
from wc_cli.store import applied, durable
from wc_cli.store.applied import Applied
from wc_core.errors import WcError
from wc_core.git import repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.branch.git import Git
    from wc_cli.merge.join import Joined, Joining
    from wc_cli.store.upkeep import Upkeep
    from wc_core.git.repository import Repository


class Follower:
    """One store's folder and branch; the caller holds the git lock.

    ``at`` is where the branch was when the folder last took in what it has.
    """

    def __init__(self, upkeep: Upkeep, git: Git, env: Mapping[str, str]) -> None:
        self.upkeep = upkeep
        self.git = git
        self.env = env
        self.layout = upkeep.layout
        self.at = ""

    def recover(self) -> None:
        """Finish what was begun by a git of ours that was killed."""
        try:
            since_ns = os.stat(self.layout.committing).st_mtime_ns
        except FileNotFoundError:
            return
        where = repository.find(self.layout.root)
        if where is not None:
            commits.remove_left_locks(where, since_ns)
            commits.remove_reports(where)
        durable.remove(self.layout.committing, self.layout.root)

    def finish(self) -> str:
        """Finish what somebody's git left half-done; why it could not be."""
        try:
            where, _ = commits.tip(self.layout.root)
            with self.noted():
                usergit.finish(self.git, where, self.how(where))
        except (GitError, WcError, OSError, ValueError) as error:
            return f"a merge that was left is not finished: {error}"
        return ""

    def catch_up(self) -> dict[str, str]:
        """Take in what the branch has got without us: a merge of ours that was
        interrupted, or what a person did there with git. What could not be,
        by thread. Raises GitError, WcError."""
        where, self.at = commits.tip(self.layout.root)
        had, seen = applied.load(self.layout)
        index = applied.index_ns(where)
        visited = bool(had) and index != seen
        applier = applying.Applier(self.upkeep, self.git)
        problems: dict[str, str] = {}
        if had not in {"", self.at}:
            problems |= applier.run(had, self.at)
        if visited:
            problems |= applier.give_back(self.at, usergit.changed(self.git))
        if visited or had not in {"", self.at}:
            index = self._refresh(where, index)
        if not problems:
            self._note(Applied(self.at, index))
        return problems

    def give_back_spared(self, topic: str) -> None:
        """Give a log what was not committed yet, and its marker has."""
        applying.Applier(self.upkeep, self.git).give_back_spared(topic)

    @property
    def in_step(self) -> bool:
        """Whether it is noted that the folder has all that the branch has."""
        return applied.load(self.layout).commit == self.at

    def committed(self, where: Repository, parent: str, made: str) -> str:
        """Tidy up after the commit ``made`` on ``parent``, or with ``parent``
        itself where none was needed, and note it; what of that could not be
        done, in words."""
        had, index = applied.load(self.layout)
        problem = ""
        try:
            index = self._refresh(where, index)
            packs.tidy(self.git, where)
        except GitError as error:
            # The commit is made; that it is all tidy is not a part of it.
            problem = f"committed, but not tidy: {error}"
        _, self.at = commits.tip(self.layout.root)
        # What somebody else put there at this moment is not in the folder yet.
        if had == parent and self.at == made:
            self._note(Applied(made, index))
        return problem

    def _note(self, found: Applied) -> None:
        """Note that the folder has what a commit has, as of that index."""
        if found != applied.load(self.layout):
            applied.note(self.layout, found)

    def _refresh(self, where: Repository, index: int) -> int:
        """Make the index agree with the branch, and say when it was written;
        unless it is another one than that of ``index``: then somebody's git
        was here, which is looked into first, the next time."""
        if applied.index_ns(where) != index:
            return index
        commits.refresh_index(self.git, where)
        return applied.index_ns(where)

    def join(self, joining: Joining) -> Joined:
        """Join the branch with another commit. Raises GitError."""
        from wc_cli.merge.join import join  # most have nothing to join

        where, ours = commits.tip(self.layout.root)
        with self.noted():
            packs.take_over(where, joining.packs)
            return join(self.git, ours, joining, self.how(where))

    def how(self, where: Repository) -> commits.How:
        """How a commit is to be made."""
        return packs.how(where, self.env, sign=self.upkeep.rules.sign)

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note that git is at work, for whoever comes after us if it, or we
        with it, are killed."""
        durable.touch(self.layout.committing, self.layout.root)
        try:
            yield
        except GitKilledError:
            raise
        except GitError:
            where = repository.find(self.layout.root)
            if where is not None:
                commits.remove_reports(where)
            durable.remove(self.layout.committing, self.layout.root)
            raise
        durable.remove(self.layout.committing, self.layout.root)

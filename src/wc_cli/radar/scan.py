"""A scan of the radar: all trees, and all pairs of them."""

from __future__ import annotations

import contextlib
import os
import time
from itertools import combinations, islice
from typing import TYPE_CHECKING

from wc_cli.branch.git import Git, GitError
from wc_cli.radar.overlaps import Comparer
from wc_cli.radar.snapshots import SnapshotMaker, TreeSnapshot
from wc_cli.store.localfiles import LocalFiles
from wc_core.errors import WcError
from wc_core.git.worktrees import worktrees
from wc_core.layout import BRANCH
from wc_core.radar import report
from wc_core.radar.report import Pair, Report, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.git.repository import Repository
    from wc_core.git.worktrees import Worktree
    from wc_core.layout import Layout

# The latest branches of others; each is compared with every worktree.
_MAX_REMOTE = 20


class Radar:
    """The radar of ``repository``. The last report is kept in the store at
    ``layout``."""

    def __init__(
        self, repository: Repository, layout: Layout, env: Mapping[str, str]
    ) -> None:
        self.repository = repository
        self.layout = layout
        self.env = env
        self.git = Git(repository.common, env, bare=True)
        self.previous = report.load(layout)
        self.problems: list[str] = []

    def scan(self, *, remote: bool = False) -> Report:
        """Look at all worktrees, and with ``remote`` at the branches that were fetched.

        The report is kept, unless ``remote`` is set or the store was never written to.
        Raises GitError.
        """
        comparer = Comparer(self.git)
        trees = list(self._worktrees())
        if remote and trees:
            trees += self._remote_branches(trees)
        trees = [self._with_files(comparer, tree, trees[0].head) for tree in trees]
        pairs = filter(None, (self._pair(comparer, *pair) for pair in _pairs(trees)))
        result = Report(
            int(time.time() * 1000), tuple(trees), tuple(pairs), tuple(self.problems)
        )
        if not remote and os.path.isdir(self.layout.unsettled):
            # A store that is read-only must not make looking fail.
            with contextlib.suppress(WcError, OSError):
                LocalFiles(self.layout).write("radar.json", report.render(result))
        return result

    def _worktrees(self) -> Iterator[Tree]:
        """The worktrees, the main one first."""
        maker = SnapshotMaker(self.env)
        for worktree in worktrees(self.repository, self.env):
            if worktree.defect or not worktree.commit:
                continue
            try:
                snapshot = maker.take(worktree, self._previous_snapshot(worktree))
            except (GitError, WcError, OSError) as error:
                self.problems.append(f"{worktree.name}: {error}")
            else:
                yield Tree(
                    worktree.name,
                    worktree.path,
                    worktree.branch or worktree.rebased,
                    worktree.commit,
                    snapshot.commit,
                    snapshot.key,
                    left_out=snapshot.left_out,
                )

    def _previous_snapshot(self, worktree: Worktree) -> TreeSnapshot | None:
        """The last snapshot of a worktree, if git still has it."""
        tree = self.previous.tree_at(worktree.path)
        if tree is None:
            return None
        try:
            self.git.run("cat-file", "-e", f"{tree.commit}^{{commit}}")
        except GitError:
            return None
        return TreeSnapshot(tree.commit, tree.key, tree.left_out)

    def _remote_branches(self, trees: list[Tree]) -> Iterator[Tree]:
        """The latest fetched branches that have commits of their own, except those that
        are checked out here."""
        checked_out = {BRANCH, "HEAD", *(tree.branch for tree in trees)}
        words = ("for-each-ref", "--sort=-committerdate", "--no-merged", trees[0].head)
        form = "--format=%(objectname) %(refname:lstrip=2)"
        lines = self.git.line(*words, form, "refs/remotes/").splitlines()
        refs = (line.split(" ", 1) for line in lines)
        others = (
            Tree(name, "", name.partition("/")[2], commit, commit, commit)
            for commit, name in refs
            if name.partition("/")[2] not in checked_out
        )
        return islice(others, _MAX_REMOTE)

    def _with_files(self, comparer: Comparer, tree: Tree, origin: str) -> Tree:
        """The tree with the files that it changes since it left ``origin``."""
        base = comparer.base(origin, tree.head) or tree.head
        unchanged = self._unchanged(tree)
        if unchanged is not None and unchanged.base == base:
            return tree._replace(base=base, files=unchanged.files)
        files = {*comparer.changed(base, tree.commit), *tree.left_out}
        return tree._replace(base=base, files=tuple(sorted(files)))

    def _pair(self, comparer: Comparer, first: Tree, second: Tree) -> Pair | None:
        """What two trees change both; ``None`` if nothing."""
        commits = (first.commit, second.commit)
        if self._unchanged(first) and self._unchanged(second):
            unchanged_pairs = (
                pair for pair in self.previous.pairs if pair.commits == commits
            )
            return next(unchanged_pairs, None)
        overlaps = comparer.overlaps(*commits)
        return Pair(first.name, second.name, commits, overlaps) if overlaps else None

    def _unchanged(self, tree: Tree) -> Tree | None:
        """The tree in the last report, if nothing has changed in it since."""
        unchanged = self.previous.tree_at(tree.path)
        same = (
            unchanged is not None
            and unchanged[:5] == tree[:5]
            and unchanged.key == tree.key
        )
        return unchanged if same else None


def _pairs(trees: list[Tree]) -> Iterator[tuple[Tree, Tree]]:
    """The pairs with a worktree in them: branches of others are not compared with each
    other."""
    return (pair for pair in combinations(trees, 2) if pair[0].path)

"""The changes in the code between two points of a thread.

What the author's branch has taken in from the trunk in between, by a merge or a rebase,
is not among them: it is added to the first point before the two are compared.

A worktree is compared as it is now, uncommitted changes included, by a snapshot whose
objects are removed afterwards.
"""

from __future__ import annotations

import os
import time

from wc_cli.edits.radar import merges, snapshots
from wc_cli.edits.radar.objects import objects_of
from wc_cli.edits.review.trunk import TrunkReader, own_commits
from wc_cli.ledger.branch.git import (
    NO_NETWORK,
    Git,
    GitError,
    GitRefusedError,
    GitTimeoutError,
)
from wc_core.base.errors import NotFoundError, StorageError
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.edits.review import keeping
from wc_core.edits.review.commits import compare_commits
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.git.repository import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_cli.edits.radar.objects import Objects
    from wc_core.edits.review.commits import OwnCommit, RewrittenCommit
    from wc_core.edits.review.points import Points
    from wc_core.ledger.git.worktrees import Worktree
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import Thread
    from wc_core.people.identity.viewer import Viewer

_SECONDS = 60.0
_SHORT = 7
_MOST_PATHS = 3


class CodePoint(NamedTuple):
    """A commit, and its description. ``entry_id`` is the entry that names it, if any;
    ``is_snapshot``: it includes uncommitted changes. ``tip`` is the commit of the
    branch that it shows; empty if it does not show how a branch is now."""

    commit: str
    text: str
    entry_id: str = ""
    is_snapshot: bool = False
    tip: str = ""

    def to_json(self) -> dict[str, Any]:
        """The point as a JSON object."""
        fields = self._asdict()
        del fields["tip"]
        return fields


class FileDifference(NamedTuple):
    """A file that differs. ``change`` is git's letter: A, M, D or T; the numbers are
    ``None`` for a file that is not text."""

    path: str
    change: str
    added: int | None
    removed: int | None


class Comparison(NamedTuple):
    """Two points of the code and their differences. ``notes`` list what could not be
    included, ``commits`` what became of those of the first point, if the second does
    not have them."""

    base: CodePoint
    head: CodePoint
    files: tuple[FileDifference, ...]
    diff: str
    stat: str
    notes: tuple[str, ...] = ()
    commits: tuple[RewrittenCommit, ...] = ()

    @property
    def title(self) -> str:
        """The two points, in words."""
        return f"from {self.base.text} to {self.head.text}"


def compare(
    thread: Thread,
    pair: Points,
    viewer: Viewer,
    repository: Repository,
    env: Mapping[str, str],
) -> Comparison:
    """Compare two points of a thread in the code's repository.

    Raises NotFoundError if one of them does not exist, StorageError if git fails.
    """
    try:
        with objects_of(repository.common, None) as objects:
            comparer = _Comparer(thread, viewer, repository, env, objects)
            return comparer.compare(pair)
    except (GitError, OSError) as error:
        hint = "Try again, or: git status"
        if "promisor" in str(error) or "lazy" in str(error):
            hint = "Fetch the files that are missing: git fetch --refetch --no-filter"
        raise StorageError(f"git could not compare the two: {error}.", hint) from error


class _Comparer:
    """Finds the points of one thread, and compares them."""

    def __init__(
        self,
        thread: Thread,
        viewer: Viewer,
        repository: Repository,
        env: Mapping[str, str],
        objects: Objects,
    ) -> None:
        self.thread = thread
        self.viewer = viewer
        self.repository = repository
        self.env = env
        self.objects = objects
        self.until = time.monotonic() + _SECONDS
        folder = repository.top or repository.common
        offline, bare = {**env, **NO_NETWORK}, not repository.top
        self.git = Git(folder, offline, bare=bare, until=self.until)
        self.trunk = TrunkReader(self.git, repository, env, objects.merge_env)
        self.notes: list[str] = []

    def compare(self, pair: Points) -> Comparison:
        """The comparison of two points."""
        branch = pair.head.code_branch if pair.head is not None else ""
        base, head = self._base_or_start(pair, branch), self.head(pair.head)
        if pair.is_fork:
            base = self.fork(base, head, pair)
        trunk_points = self._trunk_points(base, head, branch)
        changes = self._rewritten(base, head, trunk_points)
        base, tree = self._with_trunk(base, trunk_points[1])
        commits = (tree, head.commit)
        return Comparison(
            base,
            head,
            tuple(self._files(*commits)),
            self._diff("-p", *commits),
            self._diff("--stat=100", *commits),
            tuple(self.notes),
            changes,
        )

    def _base_or_start(self, pair: Points, branch: str) -> CodePoint:
        """The code at the time of an entry; if its commit no longer exists, as after a
        forced push, the commit at which the branch leaves the trunk. Raises
        NotFoundError if that is unknown, too."""
        try:
            return self.base(pair.base)
        except NotFoundError as error:
            had_commit = pair.base is not None and pair.base.code_commit
            if not (had_commit and pair.head and branch not in {"", self.trunk.name}):
                raise
            head = self._branch(pair.head)
            start = self.trunk.newest_in(head.commit) if head is not None else ""
            if head is None or start in {"", head.commit}:
                raise
            message = error.message.rstrip(".")
            self.notes.append(f"{message}, so all of {branch} is shown. {error.hint}")
            text = f"commit {start[:_SHORT]}, where {branch} leaves {self.trunk.name}"
            return CodePoint(start, text)

    def base(self, entry: Entry | None) -> CodePoint:
        """The code at the time of an entry: its snapshot, otherwise its commit."""
        topic = self.thread.name
        if entry is None:
            raise NotFoundError(
                f"No entry of {topic} has the commit it was written on.",
                "Compare by hand: git diff main...BRANCH",
            )
        point = self._snapshot(entry) or self._recorded(entry)
        if point is None:
            commit, name = entry.code_commit[:_SHORT], self._by(entry)
            restart = f"wc review {topic} --since ENTRY"
            if not commit:
                raise NotFoundError(
                    f"There was no commit yet when {name} was written.",
                    f"Start at a later entry: {restart}",
                )
            raise NotFoundError(
                f"The commit {commit} of {name} is not in this repository.",
                f"Fetch it: git fetch --all; or start at another entry: {restart}",
            )
        return point

    def _snapshot(self, entry: Entry) -> CodePoint | None:
        topic = self.thread.state.topic
        commit = self._commit(keeping.ref_of(topic, entry.id))
        if not commit:
            return None
        text = f"the worktree as it was at {self._by(entry)}"
        return CodePoint(commit, text, entry.id, is_snapshot=True)

    def _recorded(self, entry: Entry) -> CodePoint | None:
        for name in (entry.code_commit, *entry.commit_refs[-1:]):
            if name and (commit := self._commit(name)):
                text = f"commit {commit[:_SHORT]} of {self._by(entry)}"
                return CodePoint(commit, text, entry.id)
        return None

    def head(self, entry: Entry | None) -> CodePoint:
        """The current code: the worktree with the branch of an entry, otherwise that
        branch, otherwise the entry's commit."""
        if entry is None:
            return self._here()
        branch = entry.code_branch
        worktree = self._worktree(branch)
        if worktree is not None and not self._is_elsewhere(entry):
            place = Repository(self.repository.common, worktree.gitdir, worktree.path)
            return self._now(place, f"the worktree {worktree.name}")
        point = self._branch(entry) if branch else None
        if entry.code_commit and not self._commit(entry.code_commit):
            commit = entry.code_commit[:_SHORT]
            self.notes.append(
                f"{commit}, the commit of {self._by(entry)}, is not here yet: git fetch"
            )
        point = point or self._snapshot(entry) or self._recorded(entry)
        if point is None:
            raise NotFoundError(
                f"The branch {branch or 'of no name'} of {self._by(entry)} is not in "
                "this repository.",
                "Fetch it, then ask again: git fetch --all",
            )
        return point

    def _here(self) -> CodePoint:
        if self.repository.top:
            return self._now(self.repository, "this worktree")
        commit = self._commit("HEAD")
        return CodePoint(commit, f"commit {commit[:_SHORT]}")

    def _worktree(self, branch: str) -> Worktree | None:
        if not branch:
            return None
        for worktree in worktrees.worktrees(self.repository, self.env):
            usable = worktree.path and not worktree.defect
            if usable and branch in {worktree.branch, worktree.rebased}:
                return worktree
        return None

    def _now(self, place: Repository, name: str) -> CodePoint:
        """The current state of a worktree."""
        git = snapshots.worktree_git(place, self.env, self.until)
        state = snapshots.read_state(git, place.top)
        if not state.head:
            raise GitError(f"{name} has no commit yet")
        if state.left_out:
            count = counted(state.left_out, "changed file")
            self.notes.append(
                f"{count} left out: secret by name, too large, or a repository"
            )
        commit = snapshots.take(git, state, self.objects, "review")
        text = f"{name} as it is now"
        return CodePoint(commit, text, is_snapshot=bool(state.paths), tip=state.head)

    def _branch(self, entry: Entry) -> CodePoint | None:
        """The branch of an entry, without worktrees: the fetched one if it is ahead of
        the local one or the only one with the entry's commit, otherwise the local
        one."""
        branch = entry.code_branch
        local = self._commit(f"refs/heads/{branch}")
        for name, commit in self._fetched(branch):
            is_further = not local or self.trunk.is_ancestor(local, commit)
            if is_further or self._has_only(commit, local, entry):
                text = f"{name} as it was fetched ({commit[:_SHORT]})"
                return CodePoint(commit, text, tip=commit)
        if not local:
            return None
        return CodePoint(local, f"the branch {branch} ({local[:_SHORT]})", tip=local)

    def _is_elsewhere(self, entry: Entry) -> bool:
        """Return whether an entry was written in another clone, on a branch that has
        the same name here: it has no snapshot here, and only the fetched branch has its
        commit."""
        local = self._commit(f"refs/heads/{entry.code_branch}")
        return self._snapshot(entry) is None and any(
            self._has_only(commit, local, entry)
            for _, commit in self._fetched(entry.code_branch)
        )

    def _fetched(self, branch: str) -> Iterator[tuple[str, str]]:
        """The name and the commit of each remote's branch with that name."""
        for remote in repositories.remote_branches(self.repository, branch):
            if commit := self._commit(f"refs/remotes/{remote}/{branch}"):
                yield f"{remote}/{branch}", commit

    def _has_only(self, fetched: str, local: str, entry: Entry) -> bool:
        """Return whether the fetched branch has the commit of an entry and the local
        one does not."""
        commit = self._commit(entry.code_commit) if entry.code_commit else ""
        return (
            bool(commit)
            and self.trunk.is_ancestor(commit, fetched)
            and not self.trunk.is_ancestor(commit, local)
        )

    def fork(self, base: CodePoint, head: CodePoint, pair: Points) -> CodePoint:
        """The commit where the head's branch left the base's."""
        try:
            words = ("merge-base", base.commit, head.commit)
            commit = self.git.line(*words, env=self.objects.merge_env)
        except GitError:
            self.notes.append("the two have no history in common")
            return base
        commit = commit.partition("\n")[0]
        branch = pair.base.code_branch if pair.base is not None else ""
        text = f"commit {commit[:_SHORT]}, where it left {branch or base.text}"
        return CodePoint(commit, text, base.entry_id)

    def _rewritten(
        self, base: CodePoint, head: CodePoint, points: tuple[str, str]
    ) -> tuple[RewrittenCommit, ...]:
        """What became of the commits of the base, if the head does not have them any
        more; ``points`` are the commits of the trunk at which the two begin."""
        if self.trunk.is_ancestor(base.commit, head.commit):
            return ()
        starts = points if all(points) else (self._merge_base(base, head),) * 2
        try:
            old, new = (
                self._own(commit, start)
                for commit, start in zip(
                    (base.commit, head.commit), starts, strict=True
                )
            )
        except GitTimeoutError:
            raise
        except GitError as error:
            self.notes.append(f"the commits could not be compared one by one: {error}")
            return ()
        if old is None or new is None:
            self.notes.append("there are too many commits to compare one by one")
            return ()
        kept = {commit.commit for commit in new}
        is_rewritten = any(commit.commit not in kept for commit in old)
        return compare_commits(old, new) if is_rewritten else ()

    def _own(self, commit: str, start: str) -> list[OwnCommit] | None:
        """The commits of a branch since ``start``."""
        span = (commit, f"^{start}") if start else (commit,)
        return own_commits(self.git, span, self.objects.merge_env)

    def _merge_base(self, base: CodePoint, head: CodePoint) -> str:
        words = ("merge-base", base.commit, head.commit)
        with contextlib.suppress(GitError):
            return self.git.line(*words, env=self.objects.merge_env).partition("\n")[0]
        return ""

    def _with_trunk(self, base: CodePoint, commit: str) -> tuple[CodePoint, str]:
        """The base, and the tree to compare the head with: the base's, merged with a
        commit of the trunk, if it does not have that."""
        name = self.trunk.name
        if not commit or self.trunk.is_ancestor(commit, base.commit):
            return base, base.commit
        (merge,) = merges.merge_all(self.git, self.objects, [(base.commit, commit)])
        if merge.problem:
            self.notes.append(f"includes what came from {name}: {merge.problem}")
            return base, base.commit
        if merge.conflicts:
            paths = ", ".join(path for path, _ in merge.conflicts[:_MOST_PATHS])
            self.notes.append(
                f"includes how conflicts with {name} were resolved: {paths}"
            )
        text = f"{base.text}, with {name} up to {commit[:_SHORT]}"
        return base._replace(text=text), merge.tree

    def _trunk_points(
        self, base: CodePoint, head: CodePoint, branch: str
    ) -> tuple[str, str]:
        """The newest commits of the trunk itself that the base and the head have. Empty
        if one is unknown."""
        trunk = self.trunk
        if trunk.name == branch:
            return "", ""
        old, new = trunk.newest_in(base.commit), trunk.newest_in(head.commit)
        # If it has only what the trunk had before, nothing is left of the branch.
        if new and new == head.commit != old:
            new = self._before_landing(base, head, branch, old)
        return old, new

    def _before_landing(
        self, base: CodePoint, head: CodePoint, branch: str, old: str
    ) -> str:
        """The commit of the trunk before it was moved along the branch; empty if that
        is unknown. ``old`` is the commit of the trunk that the base has."""
        commit = self.trunk.before_landing(branch, head.commit)
        if commit:
            return commit
        own = (self._own(base.commit, old) or []) if old != base.commit else []
        commit = self.trunk.before_first_own(head.commit, own)
        has_all = f"{self.trunk.name} has all of {branch or 'the branch'}"
        if commit:
            self.notes.append(
                f"{has_all}; what it has up to {commit[:_SHORT]} counts as others' work"
            )
        elif self._may_have_others(base, head):
            self.notes.append(
                f"{has_all}, so the changes of others since then cannot be told apart"
            )
        return commit

    def _may_have_others(self, base: CodePoint, head: CodePoint) -> bool:
        """Return whether the head has more than commits on top of the base."""
        if not self.trunk.is_ancestor(base.commit, head.commit):
            return True
        span = (f"{base.commit}..{head.commit}", "--first-parent", "--merges")
        words = ("rev-list", "--count", *span)
        return self.git.line(*words, env=self.objects.merge_env) != "0"

    def _by(self, entry: Entry) -> str:
        """An entry in words: its number and its author."""
        number = [item.id for item in self.thread.entries].index(entry.id)
        if self.viewer.is_me(entry.agent):
            return f"your entry #{number}"
        return f"#{number} by {entry.agent or 'unknown'}"

    def _commit(self, name: str) -> str:
        """The commit that a name resolves to; empty if there is none. Raises
        GitRefusedError."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        try:
            return self.git.line(*words, f"{name}^{{commit}}")
        except GitRefusedError:
            raise
        except GitError:
            return ""

    def _diff(self, *words: str) -> str:
        # `git diff` would obey diff.noprefix and the like, but programs read this.
        options = ("-r", "--no-ext-diff", "--no-textconv", "--find-renames")
        env = self.objects.merge_env
        output = self.git.run("diff-tree", *options, *words, "--", env=env)
        return output.decode(errors="replace")

    def _files(self, base: str, head: str) -> Iterator[FileDifference]:
        words = ("diff-tree", "-r", "-z", "--no-renames")
        env = self.objects.merge_env
        kinds = self.git.run(*words, "--name-status", base, head, env=env).split(b"\0")
        counts = self.git.run(*words, "--numstat", base, head, env=env).split(b"\0")
        letters = dict(zip(kinds[1::2], kinds[0::2], strict=False))
        for line in filter(None, counts):
            added, removed, path = line.split(b"\t", 2)
            letter = letters.get(path, b"M").decode()
            numbers = (_number(added), _number(removed))
            yield FileDifference(os.fsdecode(path), letter, *numbers)


def _number(text: bytes) -> int | None:
    return int(text) if text.isdigit() else None

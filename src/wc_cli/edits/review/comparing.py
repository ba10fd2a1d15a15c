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
from wc_cli.ledger.branch.git import NO_NETWORK, Git, GitError
from wc_core.base.errors import NotFoundError, StorageError
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.edits.review import keeping
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.git.repository import Repository
from wc_core.ledger.git.trunk import find_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_cli.edits.radar.objects import Objects
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
    ``is_snapshot``: it includes uncommitted changes."""

    commit: str
    text: str
    entry_id: str = ""
    is_snapshot: bool = False

    def to_json(self) -> dict[str, Any]:
        """The point as a JSON object."""
        return self._asdict()


class FileDifference(NamedTuple):
    """A file that differs. ``change`` is git's letter: A, M, D or T; the numbers are
    ``None`` for a file that is not text."""

    path: str
    change: str
    added: int | None
    removed: int | None


class Comparison(NamedTuple):
    """Two points of the code and their differences. ``notes`` list what could not be
    included."""

    base: CodePoint
    head: CodePoint
    files: tuple[FileDifference, ...]
    diff: str
    stat: str
    notes: tuple[str, ...] = ()

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
        self.notes: list[str] = []

    def compare(self, pair: Points) -> Comparison:
        """The comparison of two points."""
        base, head = self.base(pair.base), self.head(pair.head)
        if pair.is_fork:
            base = self.fork(base, head, pair)
        branch = pair.head.code_branch if pair.head is not None else ""
        base, tree = self._with_trunk(base, head, branch)
        commits = (tree, head.commit)
        return Comparison(
            base,
            head,
            tuple(self._files(*commits)),
            self._diff("-p", *commits),
            self._diff("--stat=100", *commits),
            tuple(self.notes),
        )

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
        return CodePoint(commit, f"{name} as it is now", is_snapshot=bool(state.paths))

    def _branch(self, entry: Entry) -> CodePoint | None:
        """The branch of an entry, without worktrees: the fetched one if it is ahead of
        the local one or the only one with the entry's commit, otherwise the local
        one."""
        branch = entry.code_branch
        local = self._commit(f"refs/heads/{branch}")
        for name, commit in self._fetched(branch):
            is_further = not local or self._is_ancestor(local, commit)
            if is_further or self._has_only(commit, local, entry):
                text = f"{name} as it was fetched ({commit[:_SHORT]})"
                return CodePoint(commit, text)
        if not local:
            return None
        return CodePoint(local, f"the branch {branch} ({local[:_SHORT]})")

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
            and self._is_ancestor(commit, fetched)
            and not self._is_ancestor(commit, local)
        )

    def _is_ancestor(self, first: str, second: str) -> bool:
        try:
            self.git.run("merge-base", "--is-ancestor", first, second)
        except GitError:
            return False
        return True

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

    def _with_trunk(
        self, base: CodePoint, head: CodePoint, branch: str
    ) -> tuple[CodePoint, str]:
        """The base, and the tree to compare the head with: the base's, merged with what
        the head has taken in from the trunk since."""
        name, commit = self._taken_in(base.commit, head.commit, branch)
        if not commit:
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

    def _taken_in(self, base: str, head: str, branch: str) -> tuple[str, str]:
        """The name of the trunk, and its newest commit that the head has and the base
        lacks; an empty commit if there is none."""
        trunk = find_base(self.repository, self._main_branch())
        if trunk.name == branch or not trunk.commit:
            return trunk.name, ""
        fetched = (commit for _, commit in self._fetched(trunk.name))
        newest = ""
        for tip in dict.fromkeys((trunk.commit, *fetched)):
            commit = self._shared(tip, head)
            if commit and (not newest or self._is_ancestor(newest, commit)):
                newest = commit
        # A branch that the trunk has as a whole has nothing of its own to tell apart.
        is_merged = newest == head
        if not newest or is_merged or self._is_ancestor(newest, base):
            return trunk.name, ""
        return trunk.name, newest

    def _main_branch(self) -> str:
        """The branch of the main worktree."""
        every = worktrees.worktrees(self.repository, self.env)
        return next((tree.branch for tree in every if tree.main), "")

    def _shared(self, trunk: str, head: str) -> str:
        """The newest commit of the trunk itself, not of a branch that was merged into
        it, that the head has; empty if they share none."""
        env = self.objects.merge_env
        try:
            common = self.git.line("merge-base", trunk, head, env=env)
            span = f"{common}..{trunk}"
            words = ("rev-list", "--first-parent", "--parents", span)
            output = self.git.run(*words, env=env).decode()
        except GitError:
            return ""
        since = output.split("\n")[:-1]
        if not since:
            return common
        _, *parents = since[-1].split()
        return parents[0] if parents else ""

    def _by(self, entry: Entry) -> str:
        """An entry in words: its number and its author."""
        number = [item.id for item in self.thread.entries].index(entry.id)
        if self.viewer.is_me(entry.agent):
            return f"your entry #{number}"
        return f"#{number} by {entry.agent or 'unknown'}"

    def _commit(self, name: str) -> str:
        """The commit that a name resolves to; empty if there is none."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        with contextlib.suppress(GitError):
            return self.git.line(*words, f"{name}^{{commit}}")
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

"""Moves a branch to the commit that lands on it: here by compare-and-swap, and in the
worktree where it is checked out.

The files are brought up to date first, all or none, as ``git merge --ff-only`` does;
then the branch moves. A `LandingRecord` is kept until that is done, so that the next
landing finds what a killed one has left.
"""

from __future__ import annotations

import os

from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import durable
from wc_core.base.errors import ConflictError
from wc_core.base.files import names_in
from wc_core.base.layout import file_name
from wc_core.base.lean import contextlib, json
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.git.private import private_layout, read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.git.worktrees import Worktree

VERSION = 1
_MAX_FILES = 5
# What git leaves in a worktree's own folder in the middle of something.
_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


# As `git merge` does: what is in submodules stays.
_UPDATE = ("read-tree", "-m", "-u", "--no-recurse-submodules")
_UPDATE_SECONDS = 600.0  # there may be many files


class MovedError(ConflictError):
    """The branch is no longer at the commit that was built on."""


class LandingRecord(NamedTuple):
    """A landing that is being published: the ``topic`` and the commit ``tip`` of its
    branch, the branch ``onto`` and its commits ``base`` and ``commit``, before and
    after, how many commits land, how they were checked, and the ``worktree`` that has
    ``onto`` checked out (empty: none)."""

    topic: str
    branch: str
    tip: str
    onto: str
    base: str
    commit: str
    commit_count: int = 0
    checked: str = ""
    worktree: str = ""

    @property
    def ref(self) -> str:
        """The branch that moves."""
        return f"refs/heads/{self.onto}"


class LandingRecords:
    """The landings that are being published in a repository, one for each thread: in
    the private folder (`wc_core.ledger.git.private`), because they decide what a branch
    becomes."""

    def __init__(self, layout: Layout) -> None:
        self._layout = private_layout(layout)

    def _path(self, topic: str) -> str:
        return f"{self._layout.landings}/{file_name(topic)}.json"

    def save(self, record: LandingRecord) -> None:
        """Keep a record, on disk. Raises StorageError."""
        durable.make_private_folder(self._layout.root)
        durable.make_folder(self._layout.landings, self._layout.root, flush=False)
        data = json.dumps({"version": VERSION} | record._asdict()).encode()
        durable.replace(self._path(record.topic), data, self._layout.root)

    def remove(self, record: LandingRecord) -> None:
        """Forget a record."""
        durable.remove(self._path(record.topic), self._layout.root)

    def all(self) -> Iterator[LandingRecord]:
        """Yield the records that a killed landing has left."""
        root = self._layout.root
        for name in names_in(self._layout.landings, root):
            path = f"{self._layout.landings}/{name}"
            record = read_record(path, root, VERSION, LandingRecord)
            if record is not None:
                yield record


class BasePlace:
    """A branch on which others land, and the worktrees of its repository."""

    def __init__(
        self, repository: Repository, env: Mapping[str, str], name: str
    ) -> None:
        self.repository = repository
        self.env = env
        self.name = name
        self.ref = f"refs/heads/{name}"
        self.trees: list[Worktree] = []
        self.look()

    def look(self) -> None:
        """Look at what is checked out where."""
        self.trees = list(worktrees.worktrees(self.repository, self.env))

    @property
    def commit(self) -> str:
        """The commit that it points to now; empty if it does not exist."""
        return repositories.resolve(self.repository, self.ref)

    @property
    def worktree(self) -> Worktree | None:
        """The worktree in which it is checked out."""
        trees = (tree for tree in self.trees if tree.branch == self.name)
        return next(trees, None)

    def git(self, folder: str = "") -> Git:
        """Git in a folder, or in the repository."""
        if folder:
            return Git.for_files(folder, self.env)
        git = Git.for_files(self.repository.common, self.env)
        git.prefix = ("--git-dir", self.repository.common)
        return git

    def check_free(self) -> None:
        """Look again, and raise ConflictError if the branch is in the middle of a git
        operation, or its worktree cannot be updated."""
        self.look()
        places = [one_line(t.path) for t in self.trees if t.branch == self.name]
        if len(places) > 1:
            raise ConflictError(
                f"{self.name} is checked out in several worktrees: "
                f"{', '.join(places)}.",
                f"Check out another branch in all but one: git -C {places[-1]} switch "
                "--detach",
            )
        for tree in self.trees:
            if tree.refs:
                raise ConflictError(
                    f"This repository keeps its refs as {tree.refs}, where wc cannot "
                    "see what is checked out.",
                    "Merge by hand: git merge",
                )
            if tree.rebased == self.name:
                raise ConflictError(
                    f"{self.name} is being rebased in {one_line(tree.path)}.",
                    "Finish that first: git rebase --continue, or --abort",
                )
        if self.worktree is not None:
            self._check_worktree(self.worktree)

    def _check_worktree(self, tree: Worktree) -> None:
        if tree.defect:
            raise ConflictError(
                f"{self.name} is checked out in {one_line(tree.path)}, but "
                f"{tree.defect}.",
                "Tell git: git worktree prune, or: git worktree repair",
            )
        for name, words in _UNFINISHED.items():
            if os.path.lexists(f"{tree.gitdir}/{name}"):
                raise ConflictError(
                    f"{self.name} is in the middle of {words} in "
                    f"{one_line(tree.path)}.",
                    f"Finish that first: git -C {one_line(tree.path)} status",
                )

    def publish(self, record: LandingRecord) -> None:
        """Move the branch from ``record.base`` to ``record.commit``. Raises MovedError
        if it is elsewhere, and ConflictError if changes in its worktree are in the way;
        then nothing has changed."""
        if self.commit != record.base:
            raise self._moved()
        words = ("-m", f"wc land: {one_line(record.topic)}")
        change = (record.ref, record.commit, record.base)
        if not record.worktree:
            self._move(self.git(), *words, *change)
            return
        git = self.git(record.worktree)
        git.longest = _UPDATE_SECONDS
        with contextlib.suppress(GitError):
            # So that a file that was only touched does not count as changed.
            git.run("update-index", "-q", "--refresh")
        try:
            git.run(*_UPDATE, "--dry-run", record.base, record.commit)
        except GitError as error:
            raise self._in_the_way(git, record, error) from error
        try:
            git.run(*_UPDATE, record.base, record.commit)
        except GitError as error:
            # Nothing was in the way, so what differs now is ours.
            _restored_files(git, record, with_missing=True)
            raise self._in_the_way(git, record, error) from error
        try:
            self._move(git, *words, *change)
        except ConflictError:
            git.run(*_UPDATE, record.commit, record.base)
            raise

    def _move(self, git: Git, *words: str) -> None:
        try:
            git.run("update-ref", *words)
        except GitError as error:
            raise self._moved(str(error)) from error

    def _moved(self, reason: str = "") -> MovedError:
        because = f": {reason}" if reason else ""
        return MovedError(
            f"{self.name} has moved in the meantime{because}.", "Try again: wc land"
        )

    def _in_the_way(
        self, git: Git, record: LandingRecord, error: GitError
    ) -> ConflictError:
        """Return the refusal for a worktree whose own changes are in the way."""
        place = one_line(record.worktree)
        names = self._changed_in(git, record)
        if not names:
            return ConflictError(
                f"{self.name} is checked out in {place}, and git could not update "
                f"it: {error}.",
                f"See what is there: git -C {place} status",
            )
        hidden = f" and {len(names) - _MAX_FILES} more" * (len(names) > _MAX_FILES)
        listed = ", ".join(map(one_line, names[:_MAX_FILES]))
        return ConflictError(
            f"{self.name} is checked out in {place} with changes that are not "
            f"committed: {listed}{hidden}.",
            f"Commit them, or put them aside: git -C {place} stash -u",
        )

    def _changed_in(self, git: Git, record: LandingRecord) -> list[str]:
        """Return the uncommitted paths that a landing changes."""
        words = ("diff-tree", "-r", "-z", "--no-renames", "--name-only")
        status = ("status", "--porcelain=v1", "-z", "--no-renames", "-uall")
        try:
            landing = git.run(*words, record.base, record.commit).split(b"\0")
            lines = git.run(*status).split(b"\0")
        except GitError:
            return []
        changed = {line[len(b"XY ") :] for line in lines if line}
        return sorted(map(os.fsdecode, changed & set(landing)))

    # --- after a kill -------------------------------------------------------------

    def has(self, commit: str) -> bool:
        """Return whether the branch contains a commit."""
        return self.contains(self.ref, commit)

    def is_at_a_remote(self, commit: str) -> bool:
        """Return whether a fetched branch has a commit."""
        words = ("for-each-ref", f"--contains={commit}", "refs/remotes")
        with contextlib.suppress(GitError):
            return bool(self.git().line(*words))
        return False

    def contains(self, commit: str, ancestor: str) -> bool:
        """Return whether a commit has another among its ancestors."""
        try:
            self.git().run("merge-base", "--is-ancestor", ancestor, commit)
        except GitError:
            return False
        return True

    def is_kept(self, commit: str, onto: str, *, if_absent: bool) -> bool:
        """Return whether what has landed ``onto`` a branch is still there, on this
        branch, or on a fetched one: nobody has reset them since. ``if_absent`` is the
        answer for a commit that is not here: perhaps another machine has landed it."""
        words = ("for-each-ref", "--count=1", f"--contains={commit}")
        refs = (f"refs/heads/{onto}", self.ref, "refs/remotes")
        try:
            return bool(self.git().line(*words, *refs))
        except GitError:
            return if_absent

    def put_back(self, record: LandingRecord) -> list[str]:
        """Undo what a landing that did not move the branch has done to the files of its
        worktree. Returns the paths that are left, because someone changed them
        since."""
        if not record.worktree or not os.path.isdir(record.worktree):
            return []
        git = self.git(record.worktree)
        is_there = repositories.head_branch(git_dir_of(record.worktree)) == record.onto
        if not is_there or self.commit != record.base:
            return []  # someone went on from there
        with contextlib.suppress(GitError):
            git.run("update-index", "-q", "--refresh")
        with contextlib.suppress(GitError):
            git.run("diff-index", "--cached", "--quiet", record.base, "--")
            return _restored_files(git, record)
        with contextlib.suppress(GitError):
            git.run(*_UPDATE, record.commit, record.base)
        return self._changed_in(git, record)


def _restored_files(
    git: Git, record: LandingRecord, *, with_missing: bool = False
) -> list[str]:
    """Restore the files of a worktree, whose index was not reached, that are exactly as
    the landing wrote them, and ``with_missing`` those that are gone. Returns the others
    that differ."""
    words = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev")
    tokens = iter(git.run(*words, record.base, record.commit).split(b"\0"))
    changed = []
    for head in tokens:
        if not head:
            break
        path = os.fsdecode(next(tokens))
        _, _, before, after, _ = head.decode().split(" ")
        blob = _hash_of(git, record.worktree, path)
        if blob == before or (not blob and not before.strip("0")):
            continue
        is_gone = not blob and (with_missing or not after.strip("0"))
        if blob == after or is_gone:
            if before.strip("0"):
                git.run("checkout-index", "-f", "--", path)
            else:
                os.unlink(f"{record.worktree}/{path}")
        else:
            changed.append(path)
    return changed


def _hash_of(git: Git, worktree: str, path: str) -> str:
    """Return the id that a file would have; empty if there is none."""
    full = f"{worktree}/{path}"
    if not os.path.lexists(full):
        return ""
    with contextlib.suppress(GitError, OSError):
        if os.path.islink(full):
            data = os.fsencode(os.readlink(full))
            return git.line("hash-object", "--stdin", feed=data)
        return git.line("hash-object", "--", path)
    return "?"


def git_dir_of(worktree: str) -> str:
    """Return the git directory of a worktree; empty if it is none."""
    repository = repositories.find(worktree)
    return (
        repository.gitdir
        if repository is not None and repository.top == worktree
        else ""
    )

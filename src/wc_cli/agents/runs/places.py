"""The worktree in which an agent works on a thread: the thread's own, or a new one."""

from __future__ import annotations

import os
from itertools import islice

from wc_cli.ledger.branch.checkouts import path_options
from wc_cli.ledger.branch.git import OWN_FILES, Git, GitError
from wc_core.attention.status.places import is_branch
from wc_core.base.errors import ConflictError, NotFoundError, StorageError
from wc_core.base.lean import contextlib
from wc_core.base.names import fold
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.git.trunk import REMOTE_HEAD, find_base
from wc_core.ledger.threads import vocabulary
from wc_core.people.activity import loop_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wc_cli.ledger.branch.git import Running
    from wc_core.attention.runs.records import RunRecord
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.model import State

# A worktree of a large repository takes its time.
_ADD_SECONDS = 600.0
_MAX_FILES = 3
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "-uall", *OWN_FILES)
# How many processes of git look at worktrees at the same time.
_MAX_GITS = 8


class RunPlace(NamedTuple):
    """A worktree at ``path``, with ``branch`` checked out (empty: none). It exists
    unless there is something to ``add``: arguments for `git worktree add`. ``start`` is
    the branch or commit that a new branch begins with; empty if it exists."""

    path: str
    branch: str
    add: tuple[str, ...] = ()
    start: str = ""

    @property
    def origin_text(self) -> str:
        """Where the files of a new branch come from, in words that end a sentence;
        empty for a branch that exists."""
        return f", begun from {one_line(self.start)}" if self.start else ""


class Places:
    """The worktrees of a repository, as they are when first needed. New ones are made
    beside the main one, from the branch ``start`` (empty: the base branch).
    ``seats_of`` returns the names of an agent's seat in a folder."""

    def __init__(
        self,
        repository: Repository,
        env: Mapping[str, str],
        start: str,
        seats_of: Callable[[str], tuple[str, ...]],
    ) -> None:
        self.repository = repository
        self.env = env
        self._start = start
        self._seats_of = seats_of
        trees = worktrees.worktrees(repository, env)
        self.trees = [tree for tree in trees if tree.path and not tree.defect]
        self.main = next((tree for tree in trees if tree.main), None)
        self.base = find_base(repository, self.main.branch if self.main else "")
        self._without_branch = {
            tree.worktree_id for tree in self.trees if not tree.branch
        }

    def of(self, state: State, seat: str, record: RunRecord | None) -> RunPlace:
        """Return the place for a thread whose ball is for this seat (empty: any), which
        had this latest run. Raises NotFoundError and ConflictError: there is none."""
        if seat:
            return self._of_seat(seat)
        path = record.made_worktree if record is not None else ""
        if record is not None and path == record.worktree and os.path.isdir(path):
            return RunPlace(path, record.branch)
        branch = state.branch if self._is_own(state.branch) else state.name
        if self._is_main(branch):
            raise ConflictError(
                f"Its branch {one_line(branch)} is checked out in the main worktree.",
                "Check out another branch there.",
            )
        tree = next((tree for tree in self.trees if tree.branch == branch), None)
        if tree is not None:
            return RunPlace(tree.path, branch)
        return self._new(state.name, branch)

    def _is_own(self, branch: str) -> bool:
        """Return whether an agent may work on the branch that a thread was opened on:
        not on the base branch or that of the main worktree. A thread that was opened
        without a branch has the name of a worktree in its place."""
        has_branch = is_branch(branch) and branch not in self._without_branch
        return has_branch and branch != self.base.name and not self._is_main(branch)

    def _is_main(self, branch: str) -> bool:
        """Return whether a branch is the one of the main worktree, where the person
        is: an agent works elsewhere."""
        return self.main is not None and self.main.branch == branch

    def _of_seat(self, seat: str) -> RunPlace:
        for tree in self.trees:
            if fold(seat) in map(fold, self._seats_of(tree.path)):
                return RunPlace(tree.path, tree.branch)
        raise NotFoundError(
            f"No worktree here has the seat {one_line(seat)}.",
            "Pass the ball to the agent without a seat: wc handoff TOPIC --to NAME",
        )

    def _new(self, name: str, branch: str) -> RunPlace:
        """Return a worktree that is to be made, at a path of its own."""
        path = self._new_path(name)
        vocabulary.branch(branch)  # not every topic can be one
        if repositories.resolve(self.repository, f"refs/heads/{branch}"):
            return RunPlace(path, branch, ("--", path, branch))
        start = self._start or self.base.name or self.repository.commit
        if not self._start:
            self._refuse_unseen(branch)
        if not start:
            raise ConflictError(
                "There is no commit to start a worktree from.",
                "Commit something first.",
            )
        if self._start and not self._says(
            "rev-parse", "--verify", f"{start}^{{commit}}"
        ):
            raise NotFoundError(
                f"There is no branch or commit {one_line(start)}.",
                "Name one that exists: --from",
            )
        add = ("--no-track", "-b", branch, "--", path, start)
        return RunPlace(path, branch, add, start)

    def _refuse_unseen(self, branch: str) -> None:
        """Raise ConflictError if a new branch would begin with what only a remote has:
        who can push there would choose the files that the agent works with."""
        remotes = repositories.remote_branches(self.repository, branch)
        unseen = f"{remotes[0]}/{branch}" if remotes else ""
        if not unseen and self.base.name == REMOTE_HEAD:
            unseen = REMOTE_HEAD
        if unseen:
            raise ConflictError(
                f"its files would come from {one_line(unseen)}, which is not a branch "
                "of yours; look at it, then name it: --from "
                f"{quoted(unseen)}"
            )

    def _new_path(self, name: str) -> str:
        """Return the path of a new worktree for a thread. Raises ConflictError."""
        top = self.main.path if self.main is not None else self.repository.common
        beside = os.path.dirname(self._outermost(top))
        path = os.path.join(beside, f"{self.repository.name}-wt-{name}")
        if os.path.lexists(path):
            raise ConflictError(
                f"{one_line(path)} is in the way of a worktree for {one_line(name)}.",
                f"Move it away, or make one: git worktree add … {quoted(name)}",
            )
        return path

    def _outermost(self, top: str) -> str:
        """Return the outermost work tree around a submodule or a nested repository:
        what is made beside the inner one would be among its files. A repository of the
        home folder is not one: nobody works beside the home folder."""
        home = os.path.realpath(self.env.get("HOME", "") or "/")
        while True:
            outer = repositories.containing(os.path.dirname(top))
            if outer is None or not outer.top or f"{home}/".startswith(f"{outer.top}/"):
                return top
            if outer.common == self.repository.common:
                return top  # a folder around a bare repository and its worktrees
            top = outer.top

    def _says(self, *words: str) -> str:
        """Return what git prints in the main worktree; nothing if it fails."""
        top = self.main.path if self.main is not None else self.repository.common
        try:
            return os.fsdecode(self._git(top).run(*words))
        except GitError:
            return ""

    def is_current(self, place: RunPlace) -> bool:
        """Return whether the branch of a worktree that is to be made has none yet: an
        agent, or a person, may have made one since."""
        trees = worktrees.worktrees(self.repository, self.env)
        return not place.add or all(tree.branch != place.branch for tree in trees)

    def add(self, place: RunPlace) -> None:
        """Make the worktree of a place, if it is to be made. Raises StorageError."""
        if not place.add:
            return
        git = self._git(self.repository.top or self.repository.common)
        git.longest = _ADD_SECONDS
        try:
            options = path_options(self.repository, self.env)
            git.run(*options, "worktree", "add", "--quiet", *place.add)
        except GitError as error:
            raise StorageError(
                f"git could not make the worktree {one_line(place.path)}: {error}",
                "Try it by hand: git worktree add",
            ) from error

    def changed(self, path: str) -> list[str]:
        """Return the paths that are not committed in a worktree, apart from the state
        of its loop. Raises StorageError."""
        try:
            return uncommitted(self._git(path), path)
        except GitError as error:
            raise StorageError(
                f"git could not read {one_line(path)}: {error}", "Try: git status"
            ) from error

    def remove(self, path: str) -> bool:
        """Remove a worktree that has nothing uncommitted and no commit that only it
        has; its branch stays. Returns whether it is gone."""
        with contextlib.suppress(StorageError, GitError):
            if self.changed(path):
                return False
            # Of a detached HEAD, nothing else would find the commits.
            words = ("for-each-ref", "--count=1", "--contains=HEAD")
            if not self._git(path).run(*words):
                return False
        with contextlib.suppress(GitError):
            git = self._git(self.repository.common)
            git.run("worktree", "remove", "--", path)
        return not os.path.lexists(path)

    def _git(self, folder: str) -> Git:
        return Git.for_files(folder, self.env)


def uncommitted(git: Git, path: str) -> list[str]:
    """Return the paths that are not committed in a worktree, apart from the state of
    its loop. Raises GitError."""
    return next(uncommitted_in({path: git}))


def uncommitted_in(places: Mapping[str, Git]) -> Iterator[list[str]]:
    """Yield the `uncommitted` paths of each of these worktrees; git looks at several at
    once. Raises GitError."""
    waiting = iter(places.items())
    running: list[tuple[str, Running]] = []
    try:
        while True:
            for path, git in islice(waiting, _MAX_GITS - len(running)):
                running.append((path, git.start(*_STATUS)))
            if not running:
                return
            path, process = running.pop(0)
            with process:
                lines = os.fsdecode(process.result()).split("\0")
            own = os.path.relpath(loop_path(path), path)
            paths = [line[len("XY ") :] for line in lines if line]
            yield [changed for changed in paths if changed != own]
    finally:
        for _, process in running:
            process.end()


def changed_text(paths: Sequence[str]) -> str:
    """Return uncommitted paths in words."""
    hidden = len(paths) - _MAX_FILES
    names = ", ".join(map(one_line, paths[:_MAX_FILES]))
    return f"{names} and {hidden} more" if hidden > 0 else names

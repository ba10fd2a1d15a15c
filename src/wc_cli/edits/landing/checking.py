"""Runs a repository's check on what would land, in a worktree of wc's own."""

from __future__ import annotations

import os
import shutil
import time

from wc_cli.edits.landing import programs
from wc_cli.ledger.branch.checkouts import path_options
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import durable
from wc_core.base.errors import StorageError
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.repository import CHECK_REASON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

# A worktree of a large repository takes its time.
_ADD_SECONDS = 600.0


class CheckResult(NamedTuple):
    """The result of a check: whether it passed, how it ended with the last lines of its
    output, as markdown, and how long it took."""

    is_passed: bool
    text: str
    seconds: float


class CheckPlace:
    """Where landings are checked: a worktree in the store, one at a time. The caller
    holds the lock of landings."""

    def __init__(
        self, repository: Repository, layout: Layout, env: Mapping[str, str]
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._env = env

    def check(self, commit: str, command: str, seconds: float) -> CheckResult:
        """Run a command in a worktree with this commit, which is removed afterwards.
        Raises StorageError if that cannot be made."""
        with self._worktree(commit) as folder:
            started = time.monotonic()
            outcome = programs.run_command(command, folder, self._env, seconds)
        took = time.monotonic() - started
        return CheckResult(outcome.is_passed, outcome.output, took)

    @contextlib.contextmanager
    def _worktree(self, commit: str) -> Iterator[str]:
        self.tidy()
        folder = self._layout.landing_worktree
        durable.make_folder(os.path.dirname(folder), self._layout.root, flush=False)
        try:
            words = ("worktree", "add", "--quiet", "--detach", "--lock")
            reason = ("--reason", CHECK_REASON)
            options = path_options(self._repository, self._env)
            self._git().run(*options, *words, *reason, "--", folder, commit)
            yield folder
        except GitError as error:
            raise StorageError(
                f"git could not make a worktree for the check: {error}",
                "Is the disk full? See: git worktree list",
            ) from error
        finally:
            self.tidy()

    def tidy(self) -> None:
        """Remove the worktree, also one that a killed landing has left."""
        folder = self._layout.landing_worktree
        if not os.path.lexists(folder):
            return
        # Twice: it is locked.
        with contextlib.suppress(GitError):
            self._git().run("worktree", "remove", "--force", "--force", "--", folder)
        if os.path.lexists(folder):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(GitError):
                self._git().run("worktree", "unlock", "--", folder)
                self._git().run("worktree", "prune")

    def _git(self) -> Git:
        git = Git.for_files(self._repository.common, self._env)
        git.prefix = ("--git-dir", self._repository.common)
        git.longest = _ADD_SECONDS
        return git

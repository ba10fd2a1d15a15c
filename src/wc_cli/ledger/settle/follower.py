"""Keeps a store's folder and its branch in sync.

The folder is written live and the branch gets commits from wc; a user's git may change
either. Settling first reconciles both, and at the end records which commit the folder
has.
"""

from __future__ import annotations

import os

from wc_cli.ledger.branch import commits, packs
from wc_cli.ledger.branch.git import GitError, GitKilledError
from wc_cli.ledger.settle import usergit
from wc_cli.ledger.settle.spared import spared_lines
from wc_cli.ledger.store import applied, authors, durable
from wc_cli.ledger.store.applied import Applied
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.merge.joining import Joined, Joining
    from wc_cli.ledger.settle.applier import Applier
    from wc_cli.ledger.store.upkeep import Upkeep
    from wc_core.ledger.git.authorship import Authorship
    from wc_core.ledger.git.repository import Repository


class Follower:
    """The folder and the branch of one store. The caller holds the git lock.

    ``at`` is the branch's commit when its changes were last applied to the folder.
    ``unread`` has the reason for each thread or file that was not applied, because it
    is too large; the folder counts as having everything nevertheless.
    """

    def __init__(
        self, upkeep: Upkeep, git: Git, checkout: Repository, env: Mapping[str, str]
    ) -> None:
        self.upkeep = upkeep
        self.git = git
        self.checkout = checkout
        self.env = env
        self.layout = upkeep.layout
        self.at = ""
        self.unread: dict[str, str] = {}
        self._authorship: Authorship | None = None

    def recover(self) -> None:
        """Clean up after a git process of wc that was killed."""
        try:
            since_ns = os.stat(self.layout.committing).st_mtime_ns
        except FileNotFoundError:
            return
        commits.remove_left_locks(self.checkout, since_ns)
        commits.remove_reports(self.checkout.gitdir)
        durable.remove(self.layout.committing, self.layout.root)

    def complete_operation(self) -> str:
        """Complete an operation that a user's git left unfinished. Returns the reason
        if that failed, else an empty string."""
        try:
            self.tip()
            with self.guarded():
                usergit.complete(self.git, self.checkout, self.commit_options())
        except (GitError, WcError, OSError, ValueError) as error:
            return f"a merge that was left is not finished: {error}"
        return ""

    def tip(self) -> str:
        """The branch's commit. Raises GitError."""
        return commits.tip(self.checkout)

    def catch_up(self) -> dict[str, str]:
        """Apply to the folder the branch's other changes, from an interrupted merge of
        wc or from a user's git.

        Returns the problems by thread. Raises GitError, WcError.
        """
        self.at = self.tip()
        recorded = applied.load(self.layout)
        index_ns = applied.index_ns(self.checkout)
        moved = recorded.commit not in {"", self.at}
        # git writes the index whenever it does something in the folder.
        visited = bool(recorded.commit) and index_ns != recorded.index_ns
        problems: dict[str, str] = {}
        unwritten: tuple[str, ...] = ()
        if visited or moved:
            applier = self._applier()
            if moved:
                problems |= applier.apply(recorded.commit, self.at)
                unwritten = applier.unwritten
            if visited:
                changed = usergit.changed_paths(self.git)
                problems |= applier.restore(self.at, changed)
            self.unread |= applier.unread
            index_ns = self._refresh_index(index_ns, unwritten)
        if not problems:
            self._record(Applied(self.at, index_ns))
        return problems

    def restore_spared(self, topic: str) -> None:
        """Restore entries that only a thread's marker has to its log."""
        if spared_lines(self.upkeep, topic):
            self._applier().restore_spared(topic)

    def _applier(self) -> Applier:
        # 4 ms, only after a user's git
        from wc_cli.ledger.settle.applier import Applier

        return Applier(self.upkeep, self.git)

    @property
    def in_step(self) -> bool:
        """Return whether the folder is recorded to have everything on the branch."""
        return applied.load(self.layout).commit == self.at

    def finish_commit(self, parent: str, commit: str) -> str:
        """Tidy up after ``commit`` was made on ``parent``, and record it; both are the
        same if nothing had to be committed.

        Returns what could not be tidied, in words, or an empty string.
        """
        before, index_ns = applied.load(self.layout)
        problem = ""
        try:
            index_ns = self._refresh_index(index_ns)
            packs.tidy(self.git, self.checkout)
        except GitError as error:
            # The commit exists, whether or not everything is tidy.
            problem = f"committed, but not tidy: {error}"
        self.at = self.tip()
        # A commit that someone else makes at this moment is not in the folder yet.
        if before == parent and self.at == commit:
            self._record(Applied(commit, index_ns))
        return problem

    def _record(self, state: Applied) -> None:
        """Record which commit the folder has, and the time of its index."""
        if state != applied.load(self.layout):
            applied.note(self.layout, state)

    def _refresh_index(self, expected_ns: int, unwritten: Iterable[str] = ()) -> int:
        """Make the index match the branch, but for the paths ``unwritten``, of which
        nothing is in the folder. Returns the time of the index.

        An index with another time than ``expected_ns`` is left alone: a user's git
        wrote it, and the next settling first checks what that did.
        """
        if applied.index_ns(self.checkout) != expected_ns:
            return expected_ns
        commits.refresh_index(self.git, self.checkout, unwritten)
        return applied.index_ns(self.checkout)

    def join(self, joining: Joining) -> Joined:
        """Join the branch with another commit. Raises GitError."""
        from wc_cli.ledger.merge.join import join  # 2 ms, only for two histories

        tip = self.tip()
        with self.guarded():
            packs.take_over(self.checkout, joining.packs)
            return join(self.git, tip, joining, self.commit_options())

    def commit_options(
        self, authorship: Authorship | None = None
    ) -> commits.CommitOptions:
        """The options of a commit: its authorship, by default this process's, whether
        it is signed, and how it is packed."""
        return commits.CommitOptions(
            authorship or self.authorship,
            self.upkeep.rules.sign,
            packs.storage_options(self.checkout, self.env),
        )

    @property
    def authorship(self) -> Authorship:
        """The authorship of commits without a writer, such as merges."""
        if self._authorship is None:
            self._authorship = authors.current(self.layout, self.checkout, self.env)
        return self._authorship

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Leave a marker while git works in the block, so that the next settling cleans
        up if git or wc is killed."""
        durable.touch(self.layout.committing, self.layout.root)
        try:
            yield
        except GitKilledError:
            raise
        except GitError:
            commits.remove_reports(self.checkout.gitdir)
            durable.remove(self.layout.committing, self.layout.root)
            raise
        durable.remove(self.layout.committing, self.layout.root)

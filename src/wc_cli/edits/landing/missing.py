"""Which commits of branches another branch lacks, read by one git process for all."""

from __future__ import annotations

import os

from wc_core.ledger.carry import carriers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from wc_cli.ledger.branch.git import Git


class MissingCommits:
    """The commits that ``base`` lacks of the branches at ``tips``. Raises GitError."""

    def __init__(self, git: Git, base: str, tips: Iterable[str]) -> None:
        self._git = git
        self._parents: dict[str, list[str]] = {}
        self._of: dict[str, frozenset[str]] = {}
        names = list(dict.fromkeys(tips))
        if not names:
            return
        feed = "\n".join((f"^{base}", *names, "")).encode()
        for line in git.line("rev-list", "--parents", "--stdin", feed=feed).split("\n"):
            commit, *parents = line.split() or [""]
            self._parents[commit] = parents

    def of(self, commit: str) -> frozenset[str]:
        """The commits that ``base`` lacks of those that lead to this one of a branch;
        none for a commit of ``base``, or of none of the branches."""
        if commit not in self._of:
            reached: set[str] = set()
            pending = [commit]
            while pending:
                name = pending.pop()
                if name in self._parents and name not in reached:
                    reached.add(name)
                    pending += self._parents[name]
            self._of[commit] = frozenset(reached)
        return self._of[commit]

    def shares_history(self, tip: str) -> bool:
        """Whether a branch comes from a commit that ``base`` has."""
        own = self.of(tip)
        return not own or any(
            parent not in self._parents
            for name in own
            for parent in self._parents[name]
        )

    def without_carriers(self, commits: Collection[str]) -> set[str]:
        """The commits that are more than carriers, which do not land. Raises
        GitError."""
        if not commits:
            return set()
        feed = "".join(f"{commit}\n" for commit in commits).encode()
        words = ("--no-walk=unsorted", "--stdin", "-z", "--format=%H%n%B")
        output = self._git.run("log", "--no-show-signature", *words, feed=feed)
        pairs = (record.partition(b"\n") for record in output.split(b"\0") if record)
        return {
            os.fsdecode(commit)
            for commit, _, message in pairs
            if not carriers.is_carrier(message)
        }

"""Lands the branches that real projects merged in parallel: in the order in which they
were merged, in that of `wc_core.edits.radar.landingorder`, and in its reverse.

    python -m tests.bench.histories [--save FILE] NAME=GIT_DIRECTORY…

A group are the branches that were open at the same time: when the first of them was
merged, the others had begun and were not merged yet. They land one after the other on
the trunk as it was before that, each by `git merge`; one that conflicts is left out.
Each merge is first predicted as the radar does it, by `git merge-tree`, and the two
results are compared: whether they conflict, in which files, and if they do not, with
which tree. So is each merge where it really happened.

Nothing is written to the repositories that are read.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.edits.radar import merges
from wc_cli.edits.radar.objects import objects_of
from wc_cli.ledger.branch.git import Git
from wc_core.edits.radar.landingorder import LandingCandidate, landing_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NOBODY = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": os.environ["PATH"],
    **{
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "x"), ("EMAIL", "x@localhost"))
    },
}

_TIME = ("rev-list", "--max-count=1", "--no-commit-header", "--format=%ct")


class MergedBranch(NamedTuple):
    """A branch that was merged into the trunk: its last commit, the trunk before the
    merge, the positions on the trunk at which it begins and at which it was merged, and
    when its last commit was made."""

    tip: str
    trunk: str
    begin: int
    merged: int
    since_ms: int


class Outcome(NamedTuple):
    """The outcome of a merge: its tree, or the paths in conflict."""

    tree: str
    paths: tuple[str, ...] = ()


class Tally(NamedTuple):
    """The figures of a repository, ``name`` at ``commit``.

    - ``merges``: the merges of its trunk
    - ``groups``, ``branches``: those that were open at the same time
    - ``most``: the branches of the largest group
    - ``alone``: how many of these branches conflict with the trunk itself
    - ``in_history``, ``in_order``, ``reversed``: how many branches did not land in the
      order of history, in ours, and in its reverse
    - ``worse``: the groups in which more failed in our order than in that of history
    - ``predicted``: how many merges were predicted
    - ``wrong``: and how many of these predictions were wrong
    """

    name: str
    commit: str
    merges: int = 0
    groups: int = 0
    branches: int = 0
    most: int = 0
    alone: int = 0
    in_history: int = 0
    in_order: int = 0
    reversed: int = 0
    worse: int = 0
    predicted: int = 0
    wrong: int = 0


class History:
    """The merges of a repository's trunk, replayed in a worktree of a clone that shares
    its objects."""

    def __init__(self, source: str, scratch: Path) -> None:
        self.folder = str(scratch / "clone")
        clone = ["git", "clone", "--quiet", "--shared", "--no-checkout"]
        subprocess.run([*clone, source, self.folder], check=True, env=_NOBODY)
        self.git("config", "gc.auto", "0")
        self.head = self.git("rev-parse", "HEAD")
        self._leave_out(self._lacking_paths())
        self.predicted = self.wrong = 0
        # A result does not depend on what else is merged.
        self._pairs: dict[frozenset[str], int] = {}

    def git(self, *words: str) -> str:
        """Run git, and return its output."""
        return self._run(*words, check=True).stdout.strip()

    def _run(
        self, *words: str, check: bool = False
    ) -> subprocess.CompletedProcess[str]:
        command = ["git", "-C", self.folder, *words]
        return subprocess.run(
            command,
            check=check,
            env=_NOBODY,
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )

    def _lacking_paths(self) -> set[str]:
        """The paths of files that the repository lacks, as partial clones do."""
        words = ("rev-list", "--objects", "--missing=print", "HEAD")
        objects = self.git(*words).splitlines()
        lacking = {line[1:] for line in objects if line.startswith("?")}
        if not lacking:
            return set()
        log = self.git("log", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=")
        changes = (line.partition("\t") for line in log.splitlines())
        return {
            path
            for fields, _, path in changes
            if fields and lacking.intersection(fields.split()[2:4])
        }

    def _leave_out(self, paths: set[str]) -> None:
        """Check out all files but some."""
        patterns = Path(self.folder, ".git/info/sparse-checkout")
        patterns.parent.mkdir(exist_ok=True)
        lines = ["/*", *(f"!/{path}" for path in sorted(paths))]
        patterns.write_text("\n".join([*lines, ""]), encoding="utf-8")
        self.git("config", "core.sparseCheckout", "true")

    @cached_property
    def branches(self) -> list[MergedBranch]:
        """The branches that were merged into the trunk, in the order of history."""
        words = ("log", "--first-parent", "--reverse", "--format=%H %P")
        trunk = [line.split() for line in self.git(*words).splitlines()]
        positions = {line[0]: position for position, line in enumerate(trunk)}
        branches = []
        for position, (_, *parents) in enumerate(trunk):
            if len(parents) == 2:
                before, tip = parents
                begin = self._begin(before, tip, positions)
                since = int(self.git(*_TIME, tip)) * 1000
                branch = MergedBranch(tip, before, begin, position, since)
                branches += [branch] if begin >= 0 else []
        return branches

    def _begin(self, trunk: str, tip: str, positions: dict[str, int]) -> int:
        """The position at which a branch begins; -1 if it is not on the trunk."""
        base = self._run("merge-base", trunk, tip).stdout.partition("\n")[0]
        if base in positions:
            return positions[base]
        # It took in a part of another branch.
        words = ("rev-list", "--first-parent", trunk, "--not", tip)
        since = self.git(*words).splitlines()
        earliest = since[-1] if since else trunk
        return positions.get(self.git("rev-parse", f"{earliest}~1"), -1)

    @cached_property
    def groups(self) -> list[list[MergedBranch]]:
        """The branches that were open at the same time, each in one group. A branch
        alone is in none."""
        groups = []
        rest = self.branches
        while rest:
            first, *others = rest
            at = first.merged - 1
            group = [first, *(branch for branch in others if branch.begin <= at)]
            rest = [branch for branch in others if branch.begin > at]
            if len(group) > 1:
                groups.append(group)
        return groups

    def tally(self, name: str) -> Tally:
        """Replay all groups, and check each merge where it happened."""
        for branch in self.branches:
            self.land(branch.trunk, [branch])
        failures = [self._failures(group) for group in self.groups]
        usual, ours, backwards = (
            sum(counts[order] for counts in failures) for order in range(3)
        )
        return Tally(
            name,
            self.head,
            len(self.branches),
            len(self.groups),
            sum(map(len, self.groups)),
            max(map(len, self.groups), default=0),
            sum(map(self.count_alone, self.groups)),
            usual,
            ours,
            backwards,
            sum(ours > usual for usual, ours, _ in failures),
            self.predicted,
            self.wrong,
        )

    def count_alone(self, group: Sequence[MergedBranch]) -> int:
        """How many branches of a group conflict with the trunk as it was then: no order
        lets them land."""
        trunk = group[0].trunk
        self._predict((trunk, branch.tip) for branch in group)
        return sum(self._conflicts(trunk, branch.tip) > 0 for branch in group)

    def _failures(self, group: list[MergedBranch]) -> tuple[int, int, int]:
        """How many branches of a group fail in the order of history, in ours, and in
        its reverse."""
        trunk, order = group[0].trunk, self.ordered(group)
        usual, ours, backwards = (
            self.land(trunk, branches) for branches in (group, order, order[::-1])
        )
        return usual, ours, backwards

    def ordered(self, group: Sequence[MergedBranch]) -> list[MergedBranch]:
        """A group in the order in which wc lands it. A branch that contains another
        waits for it."""
        trunk, tips = group[0].trunk, {branch.tip: branch for branch in group}
        self._predict(combinations((trunk, *tips), 2))
        candidates = [
            LandingCandidate(
                tip,
                frozenset(self._contained(tip, tips)),
                branch.since_ms,
                merges=not self._conflicts(trunk, tip),
            )
            for tip, branch in tips.items()
        ]
        order = landing_order(candidates, self._conflicts)
        return [tips[candidate.topic] for candidate in order]

    def _contained(self, tip: str, tips: Iterable[str]) -> set[str]:
        others = [other for other in tips if other != tip]
        return {other for other in others if self._is_ancestor(other, tip)}

    def _is_ancestor(self, first: str, second: str) -> bool:
        words = ("merge-base", "--is-ancestor", first, second)
        return self._run(*words).returncode == 0

    def _conflicts(self, first: str, second: str) -> int:
        return self._pairs[frozenset((first, second))]

    def _predict(self, commits: Iterable[tuple[str, str]]) -> None:
        pairs = list(commits)
        for pair, result in zip(pairs, self._merge_trees(pairs), strict=True):
            self._pairs[frozenset(pair)] = len(result.conflicts)

    def _merge_trees(self, pairs: list[tuple[str, str]]) -> list[merges.MergeResult]:
        """Merge pairs of commits as the radar does it."""
        git = Git(self.folder, _NOBODY)
        git.longest = 3600.0
        with objects_of(f"{self.folder}/.git", None) as objects:
            return merges.merge_all(git, objects, pairs)

    def land(self, trunk: str, order: Iterable[MergedBranch]) -> int:
        """Merge branches into a commit, one after the other, and return how many
        conflict. Each merge is predicted and compared with what git then does."""
        failed = 0
        self.git("checkout", "--quiet", "--force", "--detach", trunk)
        for branch in order:
            predicted = self._prediction(branch.tip)
            actual = self._merge(branch.tip)
            self.predicted += 1
            if actual != predicted:
                self.wrong += 1
                sys.stderr.write(f"{branch.tip}: {predicted}, but {actual}\n")
            failed += bool(actual.paths)
        return failed

    def _prediction(self, tip: str) -> Outcome:
        head = self.git("rev-parse", "HEAD")
        ((result),) = self._merge_trees([(head, tip)])
        if result.problem:
            return Outcome(result.problem)
        paths = tuple(path for path, _ in result.conflicts)
        return Outcome("" if paths else result.tree, paths)

    def _merge(self, tip: str) -> Outcome:
        """Merge a commit into the worktree. After a conflict, the worktree is as it was
        before."""
        words = ("merge", "--quiet", "--no-ff", "--no-commit", "--no-verify", tip)
        merged = self._run(*words)
        if merged.returncode == 0:
            # In a partial clone, `git commit` would look for all files.
            tree = self.git("write-tree", "--missing-ok")
            parents = ("-p", "HEAD", "-p", tip)
            commit = self.git("commit-tree", tree, *parents, "-m", "merged")
            self.git("reset", "--quiet", "--hard", commit)
            return Outcome(tree)
        listed = self.git("ls-files", "--unmerged", "-z").split("\0")
        paths = {entry.partition("\t")[2] for entry in listed if entry}
        self.git("reset", "--quiet", "--hard")
        self.git("clean", "--quiet", "-ffdx")
        if not paths:
            return Outcome(merged.stderr)
        return Outcome("", tuple(sorted(paths)))


def main() -> None:
    """Replay the repositories on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.histories")
    parser.add_argument("sources", nargs="+", metavar="NAME=GIT_DIRECTORY")
    parser.add_argument("--save", metavar="FILE", help="save the figures as JSON")
    arguments = parser.parse_args()
    tallies = []
    for source in arguments.sources:
        name, _, path = source.partition("=")
        with tempfile.TemporaryDirectory(prefix="wc-histories-") as scratch:
            tally = History(os.path.abspath(path), Path(scratch)).tally(name)
        tallies.append(tally._asdict())
        sys.stdout.write(f"{json.dumps(tally._asdict(), indent=1)}\n")
        sys.stdout.flush()
    if arguments.save:
        text = json.dumps(tallies, indent=1)
        Path(arguments.save).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Which of many branches conflict with each other, without merging each pair.

Each branch is merged into the base branch once. Two of the results can only conflict in
files that both change, and there only if their changes touch; so only the pairs whose
changes touch are merged. If even those are too many, they count as conflicts.
"""

from __future__ import annotations

import itertools
import os

from wc_cli.edits.radar import merges
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from wc_cli.edits.landing.building import MergePlace
    from wc_cli.edits.landing.missing import MissingCommits
    from wc_cli.ledger.branch.git import Git

# A merge takes a millisecond, and in large repositories ten.
_MAX_MERGES = 300
_MAX_PATH_BYTES = 100_000
_MAX_COMPARED = 100_000
_RAW = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-abbrev", "--no-renames")
# As `git merge` compares files.
_PATCH = (
    *("diff-tree", "--stdin", "-r", "-p", "--unified=0", "--full-index"),
    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    "--diff-algorithm=histogram",
)
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")


class BranchChange(NamedTuple):
    """What a branch makes of a file: its modes and blobs before and after."""

    modes: tuple[bytes, bytes]
    blobs: tuple[bytes, bytes]


class Hunk(NamedTuple):
    """A change of a file: the lines ``start`` to ``end`` of it, counted from 0, become
    ``text``."""

    start: int
    end: int
    text: bytes


class LandingRivals(NamedTuple):
    """What was found out about branches, named by topics: ``merging`` into the base
    branch do those, in conflict with each other are the ``pairs``."""

    merging: frozenset[str] = frozenset()
    pairs: frozenset[frozenset[str]] = frozenset()

    def of(self, topic: str, topics: Iterable[str]) -> list[str]:
        """Return those of other branches with which one conflicts."""
        return [rival for rival in topics if frozenset((topic, rival)) in self.pairs]


def find_rivals(
    git: Git,
    objects: MergePlace,
    base: str,
    tips: Mapping[str, str],
    missing: MissingCommits,
) -> LandingRivals:
    """Find out which branches, by topic and tip, conflict with ``base`` and with each
    other. Raises GitError."""
    merged = merges.merge_all(git, objects, [(base, tip) for tip in tips.values()])
    trees = {
        topic: result.tree
        for topic, result in zip(tips, merged, strict=True)
        if result.tree and not result.conflicts
    }
    touching = _touching(git, objects, base, trees)
    stacked = _stacked({topic: missing.of(tips[topic]) for topic in trees})
    uncertain = touching | stacked
    if len(uncertain) > _MAX_MERGES:
        return LandingRivals(frozenset(trees), frozenset(touching - stacked))
    pairs = [tuple(sorted(pair)) for pair in uncertain]
    commits = [(tips[first], tips[second]) for first, second in pairs]
    results = zip(pairs, merges.merge_all(git, objects, commits), strict=True)
    rivals = {frozenset(pair) for pair, result in results if result.conflicts}
    return LandingRivals(frozenset(trees), frozenset(rivals))


def _stacked(commits: Mapping[str, Collection[str]]) -> set[frozenset[str]]:
    """Return the pairs of topics whose branches have commits in common that the base
    branch lacks: what one of them changes, the other has already."""
    topics_with: dict[str, list[str]] = {}
    for topic, names in commits.items():
        for name in names:
            topics_with.setdefault(name, []).append(topic)
    groups = {tuple(topics) for topics in topics_with.values() if len(topics) > 1}
    return {
        frozenset(pair)
        for topics in groups
        for pair in itertools.combinations(topics, 2)
    }


def _touching(
    git: Git, objects: MergePlace, base: str, trees: Mapping[str, str]
) -> set[frozenset[str]]:
    """Return the pairs of topics that both change a file, in lines that touch."""
    tree = git.line("rev-parse", f"{base}^{{tree}}", env=objects.merge_env)
    feed = "".join(f"{tree} {changed}\n" for changed in trees.values()).encode()
    output = git.run(*_RAW, feed=feed, env=objects.merge_env)
    changes: dict[bytes, dict[str, BranchChange]] = {}
    for topic, (path, change) in _raw_changes(output, list(trees)):
        changes.setdefault(path, {})[topic] = change
    shared = {path: topics for path, topics in changes.items() if len(topics) > 1}
    hunks = _hunks(git, objects, feed, shared)
    return {
        frozenset((first, second))
        for topics in shared.values()
        for (first, ours), (second, theirs) in itertools.combinations(topics.items(), 2)
        if ours != theirs and _may_conflict(ours, theirs, hunks)
    }


def _raw_changes(
    output: bytes, topics: Sequence[str]
) -> Iterator[tuple[str, tuple[bytes, BranchChange]]]:
    """Yield the topic, the path and the change of each file in the output of one diff
    for each topic."""
    tokens = iter(output.split(b"\0"))
    remaining = iter(topics)
    topic = ""
    for token in tokens:
        *heads, record = token.split(b"\n")
        for _ in heads:
            topic = next(remaining)
        if record:
            before, after, old, new, _ = record.removeprefix(b":").split(b" ")
            change = BranchChange((before, after), (old, new))
            yield topic, (next(tokens), change)


def _hunks(
    git: Git, objects: MergePlace, feed: bytes, paths: Collection[bytes]
) -> dict[tuple[bytes, bytes], list[Hunk]]:
    """Return the changes in files, by the blobs before and after; none for a file that
    is not text, or if there are too many."""
    if not paths or sum(len(path) + 1 for path in paths) > _MAX_PATH_BYTES:
        return {}
    env = {**objects.merge_env, "GIT_LITERAL_PATHSPECS": "1"}
    names = [os.fsdecode(path) for path in paths]
    output = git.run(*_PATCH, "--", *names, feed=feed, env=env)
    hunks: dict[tuple[bytes, bytes], list[Hunk]] = {}
    current: list[Hunk] = []
    for line in output.split(b"\n"):
        if index := _INDEX.match(line):
            current = []
            hunks[index[1], index[2]] = current
        elif match := _HUNK.match(line):
            count = int(match[2] or 1)
            start = int(match[1]) - bool(count)
            current.append(Hunk(start, start + count, b""))
        elif current and line.startswith((b"+", b"\\")):
            latest = current[-1]
            current[-1] = latest._replace(text=latest.text + line + b"\n")
    return hunks


def _may_conflict(
    ours: BranchChange,
    theirs: BranchChange,
    hunks: Mapping[tuple[bytes, bytes], Sequence[Hunk]],
) -> bool:
    """Return whether two different changes of a file touch."""
    modes = {*ours.modes, *theirs.modes}
    first, second = hunks.get(ours.blobs), hunks.get(theirs.blobs)
    if len(modes) > 1 or not first or not second:
        return True
    if len(first) * len(second) > _MAX_COMPARED:
        return True
    return any(
        change != hunk and change.start <= hunk.end and hunk.start <= change.end
        for change in first
        for hunk in second
    )

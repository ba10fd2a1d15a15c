"""What ``wc review`` shows of random histories is what the branch itself changed.

The files have places that are far from each other. The trunk and each commit of the
branch change places of their own, so what each tree has follows without git, and so
does the first point with the trunk's changes: the common base of the two.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import amounts
from tests.core.strategies import entry, viewer
from wc_cli.edits.review.comparing import Comparison, compare
from wc_core.edits.review.points import Points
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.threads.folding import fold
from wc_core.ledger.threads.reader import Thread
from wc_core.ledger.threads.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES, PLACES, DISTANCE = 3, 6, 9
REBASE, MERGE, SQUASH = "rebase", "merge", "squash"
ENV = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_COMMITTER_NAME": "x",
    "GIT_COMMITTER_EMAIL": "x@localhost",
}
# A place in a file, and its text.
Edits = dict[tuple[int, int], str]


class Made(NamedTuple):
    """A commit to make: its subject, which is also the time of its author, and what it
    changes."""

    subject: int
    edits: Edits


class Story(NamedTuple):
    """A branch as it was reviewed, what the trunk did since, and what became of the
    branch: its commits now, on the trunk's commit number ``onto`` or merged with it,
    and whether the trunk was then moved along it."""

    old: list[Made]
    trunk: list[Made]
    new: list[Made]
    onto: int
    way: str
    lands: bool


@st.composite
def stories(draw: st.DrawFn) -> Story:
    places = [(file, place) for file in range(FILES) for place in range(PLACES)]
    places = draw(st.permutations(places))
    texts = iter(f"text {number}" for number in range(1000))

    def commits(first: int, count: int) -> list[Made]:
        return [
            Made(
                first + number,
                {places.pop(): next(texts) for _ in range(draw(st.integers(1, 2)))},
            )
            for number in range(count)
        ]

    old = commits(0, draw(st.integers(1, 3)))
    trunk = commits(10, draw(st.integers(0, 3)))
    way = draw(st.sampled_from([REBASE, MERGE, SQUASH]))
    kept = list(old)
    if way != MERGE:
        kept = draw(st.permutations(old))[: draw(st.integers(0, len(old)))]
        for position, made in enumerate(kept):
            if draw(st.booleans()):
                changed = {place: next(texts) for place in made.edits}
                kept[position] = made._replace(edits=changed)
    new = [*kept, *commits(20, draw(st.integers(0, 2)))]
    if way == SQUASH and new:
        edits = {place: text for made in new for place, text in made.edits.items()}
        new = [Made(30, edits)]
    onto = draw(st.integers(0, len(trunk)))
    return Story(old, trunk, new, onto, way, draw(st.booleans()))


class History:
    """A repository in which commits are made, by a single process of git."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.trees: list[Edits] = [{}]

    def blob(self, tree: Mapping[tuple[int, int], str], file: int) -> str:
        lines = [f"line {number}" for number in range(PLACES * DISTANCE)]
        for (owner, place), text in tree.items():
            if owner == file:
                lines[place * DISTANCE + 4] = text
        return "\n".join([*lines, ""])

    def commit(self, made: Made, parents: list[int], branch: str) -> int:
        """Make a commit; its number."""
        base: Edits = {}
        for parent in parents:
            base |= self.trees[parent]
        tree = base | made.edits
        self.trees.append(tree)
        number = len(self.trees) - 1
        subject = f"commit {made.subject}"
        self.lines += [
            f"commit refs/heads/{branch}",
            f"mark :{number}",
            f"author x <x@localhost> {1_700_000_000 + made.subject} +0000",
            f"committer x <x@localhost> {1_700_000_000 + number} +0000",
            f"data {len(subject)}",
            subject,
            *(f"from :{parent}" for parent in parents[:1]),
            *(f"merge :{parent}" for parent in parents[1:]),
        ]
        for file in range(FILES):
            text = self.blob(tree, file)
            self.lines += [f"M 100644 inline f{file}", f"data {len(text)}", text]
        return number

    def write(self, folder: str) -> dict[int, str]:
        """Write the repository; the commits by their numbers."""
        git(folder, "init", "--quiet", "--initial-branch=main")
        feed = "\n".join([*self.lines, ""])
        words = ("fast-import", "--quiet", "--force", "--export-marks=marks")
        git(folder, *words, feed=feed)
        marks = Path(folder, ".git", "marks")
        marks = marks if marks.exists() else Path(folder, "marks")
        pairs = re.findall(r"(?m)^:(\d+) (\w+)$", marks.read_text())
        return {int(number): commit for number, commit in pairs}


def git(folder: str, *words: str, feed: str = "") -> None:
    command = ["git", "-C", folder, *words]
    subprocess.run(command, env=ENV, input=feed.encode(), check=True)


class Shown(NamedTuple):
    """What a review shows, and the trees that it has to tell apart. ``is_unknown``: it
    cannot know which changes are those of the trunk."""

    comparison: Comparison
    base: Edits
    head: Edits
    is_unknown: bool


def shown(story: Story, folder: str) -> Shown:
    history = History()
    start = tip = history.commit(Made(99, {}), [], "main")
    for made in story.old:
        tip = history.commit(made, [tip], "old")
    old, trunk = tip, start
    trunk_points = [start]
    for made in story.trunk:
        trunk = history.commit(made, [trunk], "main")
        trunk_points.append(trunk)
    point = trunk_points[story.onto]
    if story.way == MERGE:
        new = old
        if story.onto:
            new = history.commit(Made(50, {}), [old, point], "login")
        commits = story.new[len(story.old) :]
    else:
        new, commits = point, story.new
    for made in commits:
        new = history.commit(made, [new], "login")
    ids = history.write(folder)
    git(folder, "update-ref", "refs/heads/main", ids[trunk])
    git(folder, "update-ref", "refs/heads/login", ids[new])
    # The trunk can only be moved along a branch that has all of it.
    if story.lands and story.onto == len(story.trunk):
        message = "merge login: Fast-forward"
        git(folder, "update-ref", "-m", message, "refs/heads/main", ids[new])
    git(folder, "symbolic-ref", "HEAD", "refs/heads/elsewhere")
    entries = (
        entry(0, "Claude Code", code_branch="login", code_commit=ids[old]),
        entry(1, "Claude Code", code_branch="login", code_commit=ids[new]),
    )
    thread = Thread(Snapshot(fold("t", entries), 0, fresh=True), entries)
    repository = repositories.find(folder)
    assert repository is not None
    pair = Points(entries[0], entries[1])
    comparison = compare(thread, pair, viewer("Codex"), repository, ENV)
    # Nothing is left of the branch, or the trunk has all of it: nobody can tell.
    is_unknown = story.way != MERGE and not commits and bool(story.onto)
    base = history.trees[old] | ({} if is_unknown else history.trees[point])
    return Shown(comparison, base, history.trees[new], is_unknown)


@given(stories())
@settings(
    max_examples=amounts.examples(12, 1000),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_exactly_the_changes_of_the_branch_are_shown(story: Story) -> None:
    with tempfile.TemporaryDirectory() as folder:
        comparison, base, head, is_unknown = shown(story, folder)
    differing = [
        place
        for place in sorted(base.keys() | head.keys())
        if base.get(place) != head.get(place)
    ]
    counts = {
        file.path: (file.added, file.removed, file.change) for file in comparison.files
    }
    numbers = [file for file, _ in differing]
    assert counts == {
        f"f{n}": (numbers.count(n), numbers.count(n), "M") for n in set(numbers)
    }
    assert bool(comparison.notes) == is_unknown
    if story.way == MERGE:
        assert comparison.commits == ()
    elif not is_unknown and (story.new != story.old or story.onto):
        assert [(item.change, item.subject) for item in comparison.commits] == fates(
            story
        )


def fates(story: Story) -> list[tuple[str, str]]:
    """What became of each commit, by what it changes and by its subject."""
    named = {made.subject: made for made in story.old}
    changes = []
    left = list(story.old)
    for made in story.new:
        twin = next((old for old in left if old.edits == made.edits), None)
        twin = twin or named.get(made.subject)
        if twin in left:
            left.remove(twin)
        same = twin is not None and twin.edits == made.edits
        change = "new" if twin is None else "unchanged" if same else "changed"
        changes.append((change, f"commit {made.subject}"))
    return [*changes, *(("dropped", f"commit {made.subject}") for made in left)]

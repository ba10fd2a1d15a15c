"""The replay of real histories counts what git does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.bench.histories import History

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import make_histories

LINES = [f"line {number}" for number in range(30)]


class Project:
    """A repository whose branches were merged into its trunk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit({})

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@localhost")
        command = ["git", *identity, *words]
        output = subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True
        )
        return output.stdout.strip()

    def commit(self, changes: dict[int, str]) -> None:
        lines = [changes.get(number, line) for number, line in enumerate(LINES)]
        (self.folder / "a.txt").write_text("\n".join([*lines, ""]))
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")

    def branch(self, name: str, place: int, *, base: str = "main") -> None:
        self.git("checkout", "--quiet", "-b", name, base)
        self.commit({place: name})
        self.git("checkout", "--quiet", "main")

    def merge(self, name: str, *words: str) -> None:
        self.git("merge", "--quiet", "--no-ff", "--message=x", *words, name)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One branch alone, then three that were open at the same time: the first merged
    conflicts with both others, whose authors resolved that."""
    project = Project(tmp_path / "project")
    project.branch("alone", 25)
    project.merge("alone")
    for name, place in (("hub", 5), ("left", 5), ("right", 15)):
        project.branch(name, place)
    project.git("checkout", "--quiet", "hub")
    project.commit({5: "hub", 15: "hub"})
    project.git("checkout", "--quiet", "main")
    project.merge("hub")
    for name in ("left", "right"):
        project.merge(name, "--strategy=ours")
    return project


def test_the_branches_of_a_group_land_in_each_order(
    project: Project, tmp_path: Path
) -> None:
    history = History(str(project.folder), tmp_path)
    tally = history.tally("a/b")
    assert (tally.merges, tally.groups, tally.branches, tally.most) == (4, 1, 3, 3)
    # The hub conflicts with the others, which do not conflict with each other.
    assert (tally.in_history, tally.in_order, tally.reversed, tally.worse) == (
        *(2, 1, 2, 0),
    )
    # Each merge where it happened, and three orders of three.
    assert (tally.predicted, tally.wrong) == (4 + 9, 0)
    row = list(make_histories.table([tally]))[-1]
    assert "| 4 | 1 | 3 | 3 | 0 | 2 | 1 | 2 | 13 | 0 |" in row


def test_a_history_without_merges_has_no_groups(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    tally = History(str(project.folder), tmp_path).tally("a/b")
    assert tally.merges == tally.groups == tally.in_history == tally.predicted == 0


def test_in_no_saved_history_a_prediction_was_wrong_or_our_order_worse() -> None:
    saved = make_histories.tallies()
    assert len(saved) >= 3
    for tally in saved:
        assert tally.wrong == 0 < tally.predicted
        assert tally.alone <= tally.in_order <= tally.in_history

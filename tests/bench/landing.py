"""What landing a branch costs in a repository of 1,600 files, beside the git commands
that do the same in a place of their own."""

from __future__ import annotations

from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import run
from tests.bench.table import Row, times

if TYPE_CHECKING:
    from tests.bench.processes import Process
    from tests.bench.scratch import Scratch

FOLDERS, FILES = 40, 40
BY_HAND = "git worktree add, merge, merge --ff-only, worktree remove"
_SCRIPT = """\
git worktree add --quiet --detach ../by-hand main
git -C ../by-hand merge --quiet --no-ff --message=Merge "$1"
commit=$(git -C ../by-hand rev-parse HEAD)
git worktree remove ../by-hand
exec git merge --quiet --ff-only "$commit"
"""


class LandingRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._numbers = count()

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        name = "wc land, one branch, without a check"
        return [
            Row(BY_HAND, self._by_hand, paired=True),
            Row(name, self._land, BY_HAND, times(1.5)),
        ]

    @cached_property
    def _repository(self) -> str:
        """A repository with nothing but files, whose balls are all the person's."""
        folder = self._scratch.repository(1, 1, name="landing")
        for number in range(FOLDERS * FILES):
            path = Path(folder, f"src{number % FOLDERS}", f"file{number}.py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"number = {number}\n" * 50, encoding="utf-8")
        self._git("add", ".", folder=folder)
        self._git("commit", "--quiet", "--message=Code", folder=folder)
        return folder

    def _git(self, *words: str, folder: str = "") -> None:
        folder = folder or self._repository
        env = self._scratch.process("git", folder=folder).env
        run("git", "-C", folder, *words, env=env)

    def _branch(self) -> str:
        """A new branch with a commit, which no worktree has checked out."""
        name = f"branch-{next(self._numbers)}"
        tree = f"{self._repository}-wt-{name}"
        self._git("worktree", "add", "--quiet", "-b", name, tree)
        Path(tree, f"{name}.py").write_text("x = 1\n", encoding="utf-8")
        self._git("-C", tree, "add", ".")
        self._git("-C", tree, "commit", "--quiet", f"--message={name}")
        self._git("worktree", "remove", tree)
        return name

    def _by_hand(self) -> float:
        words = ("sh", "-ec", _SCRIPT, "sh", self._branch())
        return self._scratch.process(*words, folder=self._repository).seconds()

    def _land(self) -> float:
        name = self._branch()
        self._wc("new", name, "--message=Work", "--to=me").seconds()
        self._wc("move", name, name).seconds()
        self._wc("say", name, "--approve", "--to=me").seconds()
        return self._wc("land", name).seconds()

    def _wc(self, *words: str) -> Process:
        """A command of the person."""
        process = self._scratch.process("wc-cli", *words, folder=self._repository)
        env = {**process.env}
        del env["WATERCOOLER_AGENT"]
        return process._replace(env=env)

"""What the radar costs in a repository with eight worktrees of 1,600 files: with a
change in each, and without."""

from __future__ import annotations

from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import run
from tests.bench.table import Row, at_most, more

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch

TREES, FOLDERS, FILES = 8, 40, 40
STATUS = f"git status, {TREES} worktrees"
_CODE = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(20))


class RadarRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self._numbers = count()

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        return [
            Row(STATUS, self._status, paired=True),
            Row("wc radar, nothing has changed", self._unchanged, STATUS, more(80)),
            Row("wc radar, all have changed", self._changed, STATUS, at_most(500)),
        ]

    @cached_property
    def _repository(self) -> str:
        """A repository whose worktrees all change the same file."""
        folder = self.scratch.repository(1, 1, name="radar")
        for number in range(FOLDERS * FILES):
            path = Path(folder, f"src{number % FOLDERS}", f"file{number}.py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(_CODE, encoding="utf-8")
        git = ("git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@localhost")
        run(*git, "add", ".")
        run(*git, "commit", "--quiet", "--message=Code")
        for number in range(1, TREES):
            run(*git, "worktree", "add", "--quiet", self._tree(folder, number))
        self._edit(folder)
        return folder

    @staticmethod
    def _tree(folder: str, number: int) -> str:
        return f"{folder}-wt-{number}" if number else folder

    def _edit(self, folder: str) -> None:
        """Change a file in each worktree, each in its own way."""
        change = next(self._numbers)
        for number in range(TREES):
            path = Path(self._tree(folder, number), "src0/file0.py")
            text = _CODE.replace("return 7\n", f"return {number} + {change}\n")
            path.write_text(text, encoding="utf-8")

    def _status(self) -> float:
        folder = self._repository
        trees = [self._tree(folder, number) for number in range(TREES)]
        loop = 'for tree do git -C "$tree" status --porcelain; done'
        process = self.scratch.process("sh", "-c", loop, "sh", *trees, folder=folder)
        return process.seconds()

    def _radar(self) -> float:
        process = self.scratch.process("wc", "radar", folder=self._repository)
        return process.seconds()

    def _unchanged(self) -> float:
        self._radar()
        return self._radar()

    def _changed(self) -> float:
        self._edit(self._repository)
        return self._radar()

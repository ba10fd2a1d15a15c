"""What the graph costs in a repository of 1,600 files: computed for the first time,
and again after a change of one file."""

from __future__ import annotations

import shutil
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import run
from tests.bench.table import Row, at_most
from wc_core.edits.graph import parsing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.bench.scratch import Scratch

FOLDERS, FILES = 40, 40
STATUS = "git status, 1,600 files"
_LACKS = "" if not parsing.missing_modules() else parsing.EXTRA
_FUNCTIONS = 12


class GraphRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self._numbers = count()

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        first, again, one = self._first, self._again, self._one_file
        return [
            Row(STATUS, self._status, paired=True),
            Row("wc neighbors, first", first, STATUS, at_most(3000), lacks=_LACKS),
            Row("wc neighbors, again", again, STATUS, at_most(100), lacks=_LACKS),
            Row("wc neighbors, one changed", one, STATUS, lacks=_LACKS),
        ]

    @cached_property
    def _repository(self) -> str:
        """A repository in which each file imports three others."""
        folder = self.scratch.repository(1, 1, name="graph")
        total = FOLDERS * FILES
        for number in range(total):
            path = Path(folder, _path(number))
            path.parent.mkdir(exist_ok=True)
            used = ((number * step) % total for step in (3, 7, 31))
            path.write_text(_code(number, used), encoding="utf-8")
        git = ("git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@localhost")
        run(*git, "add", ".")
        run(*git, "commit", "--quiet", "--message=Code")
        return folder

    def _status(self) -> float:
        words = ("git", "status", "--porcelain")
        return self.scratch.process(*words, folder=self._repository).seconds()

    def _neighbors(self) -> float:
        words = ("wc", "neighbors", _path(0))
        return self.scratch.process(*words, folder=self._repository).seconds()

    def _first(self) -> float:
        layout = self.scratch.layout(self._repository)
        shutil.rmtree(layout.graphs, ignore_errors=True)
        return self._neighbors()

    def _again(self) -> float:
        self._neighbors()
        return self._neighbors()

    def _one_file(self) -> float:
        self._again()
        path = Path(self._repository, _path(next(self._numbers) % FILES))
        path.write_text(f"{path.read_text()}\n# changed\n", encoding="utf-8")
        return self._neighbors()


def _path(number: int) -> str:
    return f"src{number % FOLDERS}/file{number}.py"


def _code(number: int, used: Iterable[int]) -> str:
    """A file that imports a function from each of the others."""
    lines = [
        f"from src{other % FOLDERS}.file{other} import f{other}_0" for other in used
    ]
    for function in range(_FUNCTIONS):
        lines += ["", "", f"def f{number}_{function}(value):", "    return value + 1"]
    return "\n".join(lines) + "\n"

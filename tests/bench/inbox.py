"""What it costs to know what needs someone in twenty repositories: a quarter of all
their threads does."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import run
from tests.bench.stores import fill
from tests.bench.table import Row, times

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch

REPOSITORIES = 20


class InboxRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, threads: int) -> None:
        self.scratch = scratch
        self.threads = threads

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        many = f"{REPOSITORIES} repositories of {self.threads:,} threads"
        listing = f"wc list, one of {many}"
        return [
            Row(listing, lambda: self._wc("list"), paired=True),
            Row(f"wc inbox, {many}", lambda: self._wc("inbox"), listing, times(2)),
        ]

    def _wc(self, *words: str) -> float:
        return self.scratch.process("wc", *words, folder=self._repository).seconds()

    @cached_property
    def _repository(self) -> str:
        """One of the repositories, which have a home folder of their own."""
        place = f"{self.scratch.folder}/inbox"
        self.scratch.write_identity(place)
        folders = [f"{place}/app-{number:02}" for number in range(REPOSITORIES)]
        for folder in folders:
            run("git", "init", "--quiet", "--initial-branch=main", folder)
            self.scratch.process("wc", "init", folder=folder).seconds()
        for root in Path(place, "home/.watercooler/worktrees").glob("*/"):
            fill(str(root), self.threads, 1)
        return folders[0]

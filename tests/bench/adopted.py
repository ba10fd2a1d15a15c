"""What it costs to list and search a store that another tool writes.

Its `meta.json` says nothing that wc may believe, so without the index every log is
read each time.
"""

from __future__ import annotations

import os
import random
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import BenchError, run
from tests.bench.scratch import QUICKLY, is_locked, note
from tests.bench.stores import WORDS
from tests.bench.table import Row, times
from tests.oldertool import OlderTool
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch

# A list starts the process that makes the index, and does not wait for it.
INDEX_SECONDS = 120


class AdoptedRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, size: tuple[int, int]) -> None:
        self.scratch = scratch
        self.threads, self.entries = size

    def rows(self) -> list[Row]:
        """Every row, in the order of the table. The references are rows of `Table`."""
        many = f"{self.threads:,} threads of {self.entries}"
        return [
            Row(
                f"wc {command}, an adopted store of {many}",
                lambda words=words: self._wc(*words),  # type: ignore[misc]
                f"wc {command}, {many}",
                times(1.2),
            )
            for command, words in (
                ("list", ("list",)),
                ("search", ("search", "needle")),
            )
        ]

    def _wc(self, *words: str) -> float:
        return self.scratch.process("wc", *words, folder=self._repository).seconds()

    @cached_property
    def _repository(self) -> str:
        """A repository with a home folder of its own, and a store that is indexed."""
        place = f"{self.scratch.folder}/adopted"
        self.scratch.write_identity(place)
        folder = f"{place}/app"
        run("git", "init", "--quiet", "--initial-branch=main", folder)
        init = self.scratch.process("wc", "init", folder=folder)
        init.seconds()
        (root,) = map(str, Path(place, "home/.watercooler/worktrees").glob("*/"))
        self._write_threads(root)
        git = ("git", "-C", root, *QUICKLY)
        run(*git, "add", "--all", env=init.env)
        run(*git, "commit", "--quiet", "--message=Threads", env=init.env)
        layout = Layout(root)
        note(layout)
        self._wait_for_index(folder, layout)
        return folder

    def _write_threads(self, root: str) -> None:
        tool, dice, agents = OlderTool(root), random.Random(0), ("Claude", "Codex")
        for number in range(self.threads):
            entries = []
            for index in range(self.entries):
                words = dice.choices(WORDS.split(), k=60)
                if (number * self.entries + index) % 1000 == 0:
                    words[7] = "needle"
                entries.append(
                    (agents[index % 2], " ".join(words[:6]), " ".join(words))
                )
            tool.write_thread(f"topic-{number:04}", entries)

    def _wait_for_index(self, folder: str, layout: Layout) -> None:
        deadline = time.monotonic() + INDEX_SECONDS
        self.scratch.process("wc", "list", folder=folder).seconds()
        while not os.path.exists(layout.entry_index) or is_locked(layout.index_lock):
            if time.monotonic() > deadline:
                raise BenchError(f"{layout.index_folder} is not made")
            time.sleep(0.05)

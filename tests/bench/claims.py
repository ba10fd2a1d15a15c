"""What claims cost: asking, with none and with many."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.rows import TYPER
from tests.bench.table import Row, more, times

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch

SHELL = "sh -c :"
CHECK = "wc check, nothing is claimed"
MANY = 2000


class ClaimRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        return [
            Row(CHECK, lambda: self._check(self._free), TYPER, paired=True),
            Row(
                f"wc check, {MANY:,} claims",
                lambda: self._check(self._claimed),
                CHECK,
                times(1.5),
            ),
            Row(SHELL, self._shell, quick=True, paired=True),
            Row(
                "wc-guard before-tool, nothing is claimed",
                lambda: self._guard(self._free),
                SHELL,
                more(5),
                quick=True,
            ),
            Row(
                f"wc-guard before-tool, {MANY:,} claims",
                lambda: self._guard(self._claimed),
                CHECK,
            ),
        ]

    @cached_property
    def _free(self) -> str:
        return self.scratch.repository(1, 1, name="unclaimed")

    @cached_property
    def _claimed(self) -> str:
        """A repository with many claims, as they were read once before."""
        folder = self.scratch.repository(1, 1, name="claimed")
        names = [f"src/file{number}.py" for number in range(MANY)]
        self.scratch.process("wc", "claim", *names, folder=folder).seconds()
        self.scratch.process("wc", "claims", folder=folder).seconds()
        return folder

    def _check(self, folder: str) -> float:
        return self.scratch.process("wc", "check", "x.py", folder=folder).seconds()

    def _shell(self) -> float:
        return self.scratch.process("sh", "-c", ":", folder=self._free).seconds()

    def _guard(self, folder: str) -> float:
        """The hook before an edit of a file that nobody has claimed."""
        path = f"{self.scratch.folder}/call.json"
        call = {"session_id": "s", "cwd": folder, "tool_name": "Edit"}
        text = json.dumps({**call, "tool_input": {"file_path": "x.py"}})
        Path(path).write_text(text, encoding="utf-8")
        words = ("wc-guard", "before-tool", "codex")
        return self.scratch.process(*words, folder=folder, stdin=path).seconds()

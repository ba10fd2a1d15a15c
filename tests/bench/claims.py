"""What claims and notes cost: asking, with none and with many; here and at a remote.

A claim at a remote is compared with git's own fetch and push of one ref. The remote is
git's smart http on loopback.
"""

from __future__ import annotations

import json
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.hub import Hub
from tests.bench.processes import run
from tests.bench.rows import SAY, TYPER
from tests.bench.table import Row, more, times

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch

SHELL = "sh -c :"
CHECK = "wc check, nothing is claimed"
GIT = "git fetch && git push, one ref"
MANY = 2000


class ClaimRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self.hub = Hub(scratch)
        self._numbers = count()

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
            Row("wc claim", lambda: self._claim(self._free_to_claim), SAY),
            Row("wc note, sent to a remote later", self._note, SAY, times(2)),
            Row(GIT, self._git, paired=True),
            Row("wc claim, at a remote", lambda: self._claim(self._shared), GIT),
        ]

    @cached_property
    def _free(self) -> str:
        return self.scratch.repository(1, 1, name="unclaimed")

    @cached_property
    def _free_to_claim(self) -> str:
        return self.scratch.repository(1, 1, name="claiming")

    @cached_property
    def _claimed(self) -> str:
        """A repository with many claims, as they were read once before."""
        folder = self.scratch.repository(1, 1, name="claimed")
        names = [f"src/file{number}.py" for number in range(MANY)]
        self.scratch.process("wc", "claim", *names, folder=folder).seconds()
        self.scratch.process("wc", "claims", folder=folder).seconds()
        return folder

    @cached_property
    def _shared(self) -> str:
        """A repository whose claims go to a remote."""
        folder = self.scratch.repository(1, 1, name="claiming-there")
        self.hub.shared(folder, "claims.git")
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

    def _claim(self, folder: str) -> float:
        name = f"new{next(self._numbers)}.py"
        return self.scratch.process("wc", "claim", name, folder=folder).seconds()

    def _note(self) -> float:
        """A note in a repository with a remote: nothing waits for that."""
        words = ("wc", "note", f"step {next(self._numbers)}", "--scope", "x.py")
        return self.scratch.process(*words, folder=self._shared).seconds()

    def _git(self) -> float:
        """What git takes for the same: one ref is fetched, and one pushed."""
        ref = f"refs/bench/{next(self._numbers)}"
        root = self.scratch.layout(self._shared).root
        run("git", "-C", root, "update-ref", ref, "HEAD")
        words = (
            "git fetch --quiet origin '+refs/wc/*:refs/bench/wc/*' && "
            f"git push --quiet origin {ref}"
        )
        process = self.scratch.process("sh", "-c", words, folder=self._shared)
        return process._replace(folder=root).seconds()

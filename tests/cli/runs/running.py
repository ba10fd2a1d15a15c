"""A ``wc run`` that tests watch and end."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Repo

SECONDS = 30.0


class Running:
    """A `wc run` in the background, as at a terminal without one."""

    def __init__(self, repo: Repo, *words: str) -> None:
        machine = repo.machine
        self._told = machine.root / f"told-{time.monotonic_ns()}"
        self._out = self._told.open("w")
        self.process = subprocess.Popen(
            [*machine.wc_words, "run", *words],
            cwd=repo.path,
            env=machine.env,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def told(self) -> str:
        """What it has printed."""
        return self._told.read_text()

    def until(self, words: str, seconds: float = SECONDS) -> None:
        """Wait until it has printed this."""
        end = time.monotonic() + seconds
        while words not in self.told:
            assert time.monotonic() < end, self.told
            time.sleep(0.02)

    def close(self) -> int:
        """Wait for its end."""
        try:
            return self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self._out.close()

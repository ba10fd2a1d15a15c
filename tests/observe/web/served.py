"""The page as its own process."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
from typing import IO, TYPE_CHECKING

from tests import forking, measuring
from tests.observe.serving import environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = "from wc_observe.main import main; main()"
COMMAND = (sys.executable, "-W", "error", "-c", PROGRAM, "web")


class Served:
    """A page that is served; ``url`` is that of the board, ``out`` and ``err``
    what else it has said in the end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = _pipe(process.stdout).readline().strip()
        assert re.fullmatch(r"http://\S+:\d+/[\w-]{32}/", self.url), (
            self.url,
            _pipe(process.stderr).read(),
        )
        self.port = int(self.url.split("/")[2].rpartition(":")[2])
        self.out = self.err = ""

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Its exit status."""
        self.process.send_signal(number)
        self.out, self.err = self.process.communicate(timeout=30)
        return self.process.returncode


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _forked(env: dict[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command line of a page that is forked, and its environment."""
    surroundings = measuring.measured(environment(env))
    return (*forking.observing(surroundings), "web"), surroundings


@contextlib.contextmanager
def serving(
    folder: Path, env: dict[str, str], *options: str, program: tuple[str, ...] = ()
) -> Iterator[Served]:
    """The page of this folder; forked, unless a ``program`` is given."""
    if program:
        surroundings = environment(env)
        if program == COMMAND:
            surroundings = measuring.measured(surroundings)
    else:
        program, surroundings = _forked(env)
    with subprocess.Popen(
        [*program, *options],
        env=surroundings,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Served(process)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def refused(folder: Path, env: dict[str, str], *options: str) -> tuple[int, str]:
    """The exit status of one that does not start, and what it says."""
    program, surroundings = _forked(env)
    done = subprocess.run(
        [*program, *options],
        check=False,
        env=surroundings,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr

"""The CPU that a write leaves behind: what its background processes use."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.bench.processes import BenchError
from tests.bench.scratch import FIRST
from tests.bench.table import Row, at_most

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.scratch import Scratch

BURST = 10
# Runs a command so many times, and waits for every process that it left: as a
# "subreaper", their parent is this one. Prints the seconds of CPU that those used.
REAP = """\
import ctypes, os, resource, sys
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
null, own = os.open(os.devnull, os.O_RDWR), 0.0
for _ in range(int(sys.argv[1])):
    files = [(os.POSIX_SPAWN_DUP2, null, file) for file in range(2)]
    pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=files)
    while True:
        ended, status, usage = os.wait4(-1, 0)
        if ended == pid:
            break
    own += usage.ru_utime + usage.ru_stime
    if status:
        sys.exit(1)
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
total = resource.getrusage(resource.RUSAGE_CHILDREN)
print(total.ru_utime + total.ru_stime - own)
"""


class Leftover:
    """The rows: for one write, and for each of several that follow one another."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch

    def rows(self) -> list[Row]:
        """The rows; with goals those of writes that pass no ball, after which no
        snapshot of the worktree is kept."""
        lacks = "" if sys.platform == "linux" else "only Linux tells"
        name = "wc say: CPU left behind"
        rows = [
            Row(name, self._sampled(1), goal=at_most(40)),
            Row(f"{name} by each of {BURST}", self._sampled(BURST), goal=at_most(10)),
            Row(f"{name}, the ball passed", self._sampled(1, passes=True), name),
        ]
        return [row._replace(every=3, lacks=lacks) for row in rows]

    def _sampled(self, writes: int, *, passes: bool = False) -> Callable[[], float]:
        words = ("wc", "say", FIRST, "--title", "A title", "--body", "A body")

        def seconds() -> float:
            folder = self.scratch.repository(1, 1, name="passed" if passes else "left")
            process = self.scratch.process(*words, folder=folder)
            process = self.scratch.saying(folder) if passes else process
            reap = [sys.executable, "-I", "-c", REAP, str(writes), *process.words]
            done = subprocess.run(
                reap, cwd=folder, env=process.env, capture_output=True, check=False
            )
            if done.returncode:
                text = done.stderr.decode(errors="replace")
                raise BenchError(f"this failed: {shlex.join(process.words)}\n{text}")
            return float(done.stdout) / writes

        return seconds

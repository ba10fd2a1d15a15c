"""What it takes to wake an idle session, and what the process that waits for its balls
costs in the meantime.

The client is a stand-in, `tests.standinclient`: it runs the hook as Claude Code does.
Real clients are timed by ``bin/test --long clients``, which installs them.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tests import standinclient
from tests.bench.processes import BenchError, Process, run
from tests.bench.serving import (
    IDLE_EVERY,
    LATE,
    SELDOM,
    Figures,
    cpu_seconds,
)
from tests.bench.table import Goal, Row, at_most, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.scratch import Scratch

WRITTEN, WOKEN = "wc new, nobody waits", "wc new, until an idle session is woken"
PYTHON, WAITER = "python -I -S, reading its input", "a session's waiter, asleep"
WAIT = "wc wait"
# What a session is called with, and the exit status with which its hook ends.
SESSION, WAKES = "bench", 2
WAITERS = f"*/.local/waiters/claude:{SESSION}"
# How long a waiter may take until it sleeps (a hook waits 1.5 s first), and what a
# command has started in.
ASLEEP_SECONDS, START_SECONDS = 20.0, 3.0


class WakeRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, seconds: float) -> None:
        self._scratch = scratch
        self._seconds = seconds
        self._numbers = count()

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        lacks = "" if os.path.exists("/proc/self/smaps_rollup") else "there is no /proc"
        memory, minute = Figures(self._weigh), Figures(self._idle)
        rows = [
            Row(WRITTEN, self._write),
            Row(WOKEN, self._wake, WRITTEN, at_most(1000)),
            *_weights(memory, "memory", times(1.5)),
            *_weights(memory, "PSS"),
        ]
        cpu = "CPU in a minute"
        idle = [
            Row(f"{WAIT}: {cpu}", minute.of(WAIT)),
            Row(f"{WAITER}: {cpu}", minute.of(WAITER), f"{WAIT}: {cpu}", at_most(30)),
        ]
        return [
            *(row._replace(every=SELDOM, lacks=lacks) for row in rows),
            *(row._replace(every=IDLE_EVERY, lacks=lacks) for row in idle),
        ]

    # --- samples -------------------------------------------------------------

    def _write(self) -> float:
        return self._passing("Aider").seconds()

    def _wake(self) -> float:
        """From the start of the command to the end of the session's hook."""
        process = self._passing("Claude Code@fix (bench)")
        with self._session() as (_, output), ThreadPoolExecutor(1) as pool:
            start = time.perf_counter()
            writing = pool.submit(process.seconds)
            line = next_line(output)
            elapsed = time.perf_counter() - start
            writing.result()
        status = json.loads(line)[0]
        if status != WAKES:
            raise BenchError(f"the session was not woken: {line.decode()}")
        return elapsed

    def _weigh(self) -> dict[str, float]:
        """The memory of the waiter and of a Python that waits as well."""
        words = ("python", "-I", "-S", "-c", "input('now\\n')")
        with self._session() as (waiter, _), self._running(*words) as python:
            next_line(python.stdout)
            return {
                f"{what}: {kind}": megabytes(pid, field)
                for what, pid in ((WAITER, waiter), (PYTHON, python.pid))
                for kind, field in (("memory", "Rss"), ("PSS", "Pss"))
            }

    def _idle(self) -> dict[str, float]:
        """The CPU of the waiter, and of a ``wc wait`` beside it."""
        wait = ("wc", "wait", "--as", "Cursor")  # who has no ball
        with self._session() as (waiter, _), self._running(*wait) as waiting:
            pids = {WAITER: waiter, WAIT: waiting.pid}
            time.sleep(START_SECONDS)
            start = time.monotonic()
            before = {what: cpu_seconds(pid) for what, pid in pids.items()}
            time.sleep(self._seconds)
            used = {what: cpu_seconds(pid) - before[what] for what, pid in pids.items()}
            minutes = (time.monotonic() - start) / 60
            return {what: seconds / minutes for what, seconds in used.items()}

    # --- what they have ------------------------------------------------------

    @cached_property
    def _folder(self) -> str:
        """A repository with the worktree ``fix`` beside it."""
        place = f"{self._scratch.folder}/waking"
        self._scratch.write_identity(place)
        folder = self._scratch.repository(1, 1, name="app", place=place)
        env = self._scratch.process("git", folder=folder).env
        git = ("git", "-C", folder)
        run(*git, "commit", "--quiet", "--allow-empty", "--message=Code", env=env)
        run(*git, "worktree", "add", "--quiet", f"{place}/fix", env=env)
        return folder

    def _passing(self, name: str) -> Process:
        """A command that begins a thread and passes its ball."""
        words = ("wc", "new", f"passed-{next(self._numbers)}", "--title", "A title")
        body = ("--body", "A body", "--force", "--to", name)
        return self._scratch.process(*words, *body, folder=self._folder)

    @contextlib.contextmanager
    def _session(self) -> Iterator[tuple[int, IO[bytes] | None]]:
        """A session in the worktree whose turn has ended: the process that waits for
        its balls, once it sleeps, and what the client says at last."""
        folder = f"{os.path.dirname(self._folder)}/fix"
        private = Path(self._folder, ".git", "watercooler")
        # No session is woken more than twelve times an hour.
        for path in [*private.glob("*/.local/wakes/*"), *private.glob(WAITERS)]:
            path.unlink()
        words = ("wc-cli", "wait", "--hook", "wake", "--client", "claude")
        hook = self._scratch.process(*words, folder=folder)
        feed = json.dumps({"cwd": folder, "session_id": SESSION})
        env = hook.env | {"CLAUDECODE": "1"}
        del env["WATERCOOLER_AGENT"]
        client = subprocess.Popen(
            [sys.executable, standinclient.__file__, feed, *hook.words],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        with ended(client):
            yield sleeper(private), client.stdout

    @contextlib.contextmanager
    def _running(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """A program that runs in the meantime."""
        process = self._scratch.process(*words, folder=self._folder)
        running = subprocess.Popen(
            process.words,
            cwd=process.folder,
            env=process.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with ended(running):
            yield running
            if running.poll() is not None:
                raise BenchError(f"this ended: {' '.join(process.words)}")


def _weights(figures: Figures, kind: str, goal: Goal | None = None) -> list[Row]:
    python, waiter = f"{PYTHON}: {kind}", f"{WAITER}: {kind}"
    return [
        Row(python, figures.of(python), unit="MB"),
        Row(waiter, figures.of(waiter), python, goal, unit="MB"),
    ]


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a process when it is no longer needed."""
    with process:
        try:
            yield
        finally:
            process.kill()


def sleeper(private: Path) -> int:
    """The process that the waiter's file in this folder names, once it sleeps."""
    deadline = time.monotonic() + ASLEEP_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError, ValueError):
            (file,) = private.glob(WAITERS)
            token = json.loads(file.read_bytes())["token"]
            pid = int(token.partition(".")[0])
            if b"sleeper.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                time.sleep(0.3)
                return pid
        time.sleep(0.02)
    raise BenchError("no process waits for the session's balls")


def next_line(output: IO[bytes] | None) -> bytes:
    """The next line that a program prints."""
    if output is None or not select.select([output], [], [], LATE)[0]:
        raise BenchError(f"no line came within {LATE:.0f} s")
    return output.readline()


def megabytes(pid: int, field: str) -> float:
    """How much memory a process has: a field of proc_pid_smaps(5)."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    line = next(line for line in rollup.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024 / 1e6

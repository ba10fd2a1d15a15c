"""What ``wc run`` costs: while there is nothing to start, and beside the agents that it
starts. The agents are stand-ins, which sleep and pass the ball."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import BenchError, Process, run
from tests.bench.serving import IDLE_EVERY, cpu_seconds
from tests.bench.table import Row, at_most_percent, times
from tests.bench.waking import ended

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch

AT_ONCE = 8
# A stand-in is called with a topic. It notes each start, so that none is counted twice.
STAND_IN = """\
#!/bin/sh
echo "$1" >> "$HOME/starts"
sleep {}
exec wc-cli done "$1" -m Done
"""
# How `wc run` calls it: a new worktree has a branch with the name of its thread.
CALL = 'exec "$0" "$(git branch --show-current)"'
# Until a `wc run` has looked at all threads and found nothing to start.
START_SECONDS = 3.0


class RunRows:
    """The rows. Nothing is made before a row is sampled for the first time. ``agents``
    is how many are run, for so many seconds; ``idle`` is how long `wc run` is watched
    that has nothing to start."""

    def __init__(
        self, scratch: Scratch, agents: tuple[int, float], idle: float
    ) -> None:
        self._scratch = scratch
        self._agents, self._seconds = agents
        self._idle_seconds = idle
        self._numbers = count()

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        lacks = "" if sys.platform == "linux" else "only on Linux"
        agents = f"{self._agents} agents of {self._seconds:g} s, {AT_ONCE} at once"
        alone = f"xargs: {agents}"
        idle = "wc run: CPU while there is nothing to start"
        share = at_most_percent(0.5)
        rows = [
            Row(alone, self._alone, unit="s"),
            Row(f"wc run: {agents}", self._run, alone, times(1.05), unit="s"),
            Row(idle, self._idle, goal=share, unit="%", lacks=lacks),
        ]
        return [row._replace(every=IDLE_EVERY) for row in rows]

    # --- samples -------------------------------------------------------------

    def _alone(self) -> float:
        """The same agents, without `wc run` and in one worktree."""
        folder = self._repository("Codex")
        topics = self._scratch.file(f"{folder}/topics", "\n".join(self._topics))
        words = ("xargs", "-P", str(AT_ONCE), "-n", "1", f"{folder}/../agent")
        process = self._scratch.process(*words, folder=folder, stdin=topics)
        return self._seconds_of(process)

    def _run(self) -> float:
        """A pass over threads that are all an agent's move."""
        words = ("run", "--mine", "--once", "--max", str(AT_ONCE))
        return self._seconds_of(self._wc(self._repository("Codex"), *words))

    def _seconds_of(self, process: Process) -> float:
        """Run it; the time, if it started each agent once."""
        elapsed = process.seconds()
        starts = Path(process.env["HOME"], "starts").read_text(encoding="utf-8")
        if sorted(starts.split()) != self._topics:
            raise BenchError(f"these were started: {', '.join(starts.split())}")
        return elapsed

    def _idle(self) -> float:
        """The share of one core, in percent."""
        process = self._wc(self._repository("bench"), "run", "--mine")
        running = subprocess.Popen(
            process.words,
            cwd=process.folder,
            env=process.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with ended(running):
            time.sleep(START_SECONDS)
            start, before = time.monotonic(), cpu_seconds(running.pid)
            time.sleep(self._idle_seconds)
            used = cpu_seconds(running.pid) - before
            elapsed = time.monotonic() - start
            if running.poll() is not None:
                raise BenchError("wc run ended")
        return 100 * used / elapsed

    # --- what they have ------------------------------------------------------

    @property
    def _topics(self) -> list[str]:
        return [f"work-{number:02}" for number in range(self._agents)]

    def _repository(self, holder: str) -> str:
        """A new repository in a place of its own, where someone has all balls. The
        stand-in is run for Codex."""
        place = f"{self._scratch.folder}/running/{next(self._numbers)}"
        self._scratch.write_identity(place)
        text = STAND_IN.format(self._seconds)
        script = self._scratch.file(f"{place}/agent", text)
        os.chmod(script, 0o755)
        settings = f"[run]\ncodex = {json.dumps(['sh', '-c', CALL, script])}\n"
        self._scratch.file(f"{place}/home/.config/watercooler/config.toml", settings)
        # It has a thread of others, too, which --mine leaves out.
        folder = self._scratch.repository(1, 1, name="app", place=place)
        env = self._scratch.process("git", folder=folder).env
        git = ("git", "-C", folder)
        run(*git, "commit", "--quiet", "--allow-empty", "--message=Code", env=env)
        for topic in self._topics:
            words = ("new", topic, "--title", "Work", "--to", holder, "--force")
            self._wc(folder, *words).seconds()
        return folder

    def _wc(self, folder: str, *words: str) -> Process:
        """A command of the person."""
        process = self._scratch.process("wc-cli", *words, folder=folder)
        env = {**process.env}
        del env["WATERCOOLER_AGENT"]
        return process._replace(env=env)

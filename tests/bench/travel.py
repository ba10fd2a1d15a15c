"""What travelling costs: a sync beside git's own, and a remote that hangs.

What git's own fetch and push are given is the commit that a write makes; it is
made before the clock runs. The remote is git's smart http on loopback.
"""

from __future__ import annotations

import fcntl
import os
import time
from functools import cached_property
from itertools import cycle
from typing import TYPE_CHECKING

from tests.bench.hub import Hub, Silence
from tests.bench.processes import BenchError, run
from tests.bench.rows import SAY, Size
from tests.bench.scratch import FIRST, is_locked
from tests.bench.table import Row, times
from wc_cli.ledger.settle import settler
from wc_core.base.layout import BRANCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.processes import Process
    from tests.bench.scratch import Scratch

GIT, SYNC = "git fetch && git push", "wc sync, 1 new entry"
TURNS = ("codex", "claude")  # who has the ball says something
HANGING = "wc say, a remote that hangs"
# Longer than the pauses between a helper's tries to reach a remote.
LAST_SECONDS = 30


def said(scratch: Scratch, folder: str, agent: str) -> Process:
    """A ``wc say`` that leaves settling, and the way to the remote, to others."""
    words = ("wc", "say", FIRST, "--title", "A title", "--body", "A body")
    process = scratch.process(*words, folder=folder)
    ours = {"WATERCOOLER_SYNC": "off", "WATERCOOLER_AGENT": agent}
    return process._replace(env=process.env | ours)


class Travels:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, size: Size) -> None:
        self.scratch = scratch
        self.size = size
        self.hub = Hub(scratch)
        self._turns = cycle(TURNS)

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        many = "{:,} threads of {}".format(*self.size.big)
        rows: list[Row] = []
        for way, goal in ((f"{many}", times(2)), (f"{many}, a path", None)):
            remote = "path" if way.endswith("path") else "origin"
            other = f"{GIT}, {way}"
            rows += [
                Row(other, self._git(remote), paired=True),
                Row(f"{SYNC}, {way}", self._sync(remote), other, goal),
                Row(
                    f"{SYNC}, to be committed, {way}",
                    self._sync(remote, committed=False),
                    other,
                    goal and times(1.6),
                ),
            ]
        return [*rows, Row(HANGING, self._say_in_vain, SAY, times(1.1))]

    @cached_property
    def _folder(self) -> str:
        """A big store with two remotes, which are one: by URL and by path."""
        folder = self.scratch.repository(*self.size.big, name="travelling")
        self.hub.shared(folder, "travelling.git")
        path = str(self.hub.folder / "travelling.git")
        run("git", "-C", folder, "remote", "add", "path", path)
        return folder

    def _ready(self, remote: str, *, committed: bool) -> None:
        """Write an entry, which no remote has; the one before is everywhere."""
        process = said(self.scratch, self._folder, next(self._turns))
        process.seconds()
        root = self.scratch.layout(self._folder).root
        if committed:
            settler.settle(root, process.env)
        run("git", "-C", root, "fetch", "--quiet", remote, env=process.env)

    def _git(self, remote: str) -> Callable[[], float]:
        words = f"git fetch --quiet {remote} && git push --quiet {remote} {BRANCH}"

        def seconds() -> float:
            self._ready(remote, committed=True)
            process = self.scratch.process("sh", "-c", words, folder=self._folder)
            root = self.scratch.layout(self._folder).root
            return process._replace(folder=root).seconds()

        return seconds

    def _sync(self, remote: str, *, committed: bool = True) -> Callable[[], float]:
        def seconds() -> float:
            self._ready(remote, committed=committed)
            words = ("wc", "sync", remote)
            return self.scratch.process(*words, folder=self._folder).seconds()

        return seconds

    @cached_property
    def _alone(self) -> Alone:
        return Alone(self.scratch)

    def _say_in_vain(self) -> float:
        return self._alone.seconds()


class Alone:
    """A store of one thread of one entry whose remote hangs."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._folder = scratch.repository(1, 1, name="alone")
        self._root = scratch.layout(self._folder).root
        self._silence = Silence(scratch)
        self._silence.add_to(self._root)
        self._helpers = f"{scratch.folder}/helpers"
        self._turns = cycle(TURNS)
        scratch.closing.callback(self._end)

    def seconds(self) -> float:
        """Say something; what is to be sent is left to a helper, who waits."""
        background = {"WATERCOOLER_SYNC": "background"}
        process = said(self._scratch, self._folder, next(self._turns))
        process = process._replace(env=process.env | background)
        # What a process inherits is locked until the last one of them has ended.
        with open(self._helpers, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            os.set_inheritable(file.fileno(), True)
            return process.seconds()

    def _end(self) -> None:
        """Wait until no helper is left: the remote refuses now, and no longer
        has the branch for all they know."""
        ref = f"refs/remotes/origin/{BRANCH}"
        run("git", "-C", self._root, "update-ref", "-d", ref)
        self._silence.close()
        deadline = time.monotonic() + LAST_SECONDS
        while is_locked(self._helpers):
            if time.monotonic() > deadline:
                raise BenchError("a helper does not end")
            time.sleep(0.05)

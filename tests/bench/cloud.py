"""What the cloud costs: the first command in a fresh clone, and harvesting the branches
of many agents. The remote is a path.

Git's own share is the reference: to fetch and check out the threads, to fetch the
branches.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.hub import Hub
from tests.bench.processes import run
from tests.bench.scratch import FIRST
from tests.bench.table import Row
from wc_core.base import ulid
from wc_core.base.layout import BRANCH
from wc_core.ledger.carry import carriers
from wc_core.ledger.carry.carriers import Line
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import Entry

if TYPE_CHECKING:
    from tests.bench.rows import Size
    from tests.bench.scratch import Scratch

BRANCHES = 50
# A session that has a network.
ONLINE = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_REMOTE": "true",
    "WATERCOOLER_SYNC": "inline",
}


class CloudRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, size: Size) -> None:
        self.scratch = scratch
        self.size = size
        self._hub = Hub(scratch)
        self._count = itertools.count()

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        many = "{:,} threads of {}".format(*self.size.big)
        first = f"git fetch && git worktree add, {many}"
        harvested = f"git fetch, {BRANCHES} branches"
        return [
            Row(first, self._fetch_by_git),
            Row(f"wc brief, first in a clone, {many}", self._brief, first),
            Row(harvested, self._fetch_branches),
            Row(
                f"wc sync, {BRANCHES} branches with an entry each",
                self._harvest,
                harvested,
            ),
        ]

    @cached_property
    def _folder(self) -> str:
        """The person's clone, whose remote has the code and the threads."""
        folder = self.scratch.repository(*self.size.big, name="clouds")
        self._hub.folder.mkdir(exist_ok=True)
        env = self.scratch.process("git", folder=folder).env
        git = ("git", "-C", folder)
        run(*git, "commit", "--quiet", "--allow-empty", "--message=Start", env=env)
        self._hub.shared(folder, "clouds.git", path=True)
        run(*git, "push", "--quiet", "origin", "main", env=env)
        run(*git, "fetch", "--quiet", "origin", env=env)
        return folder

    @property
    def _path(self) -> str:
        return str(self._hub.folder / "clouds.git")

    def _clone(self, name: str) -> str:
        """A fresh clone, as in the cloud, with a home of its own."""
        place = Path(self.scratch.folder, f"session-{name}")
        shutil.rmtree(place, ignore_errors=True)
        self.scratch.write_identity(str(place))
        clone = str(place / "code")
        assert self._folder
        words = ("--quiet", "--depth=1", "--single-branch", f"file://{self._path}")
        run("git", "clone", *words, clone)
        run("git", "-C", clone, "switch", "--quiet", "-c", "claude/fix")
        return clone

    def _fetch_by_git(self) -> float:
        clone = self._clone("git")
        words = (
            f"git fetch --quiet origin {BRANCH}:{BRANCH} "
            f"&& git worktree add --quiet ../threads {BRANCH}"
        )
        return self.scratch.process("sh", "-c", words, folder=clone).seconds()

    def _brief(self) -> float:
        process = self.scratch.process("wc", "brief", folder=self._clone("wc"))
        return process._replace(env=process.env | ONLINE).seconds()

    def _push_carriers(self) -> None:
        """Have each branch of the hub carry a new entry."""
        assert self._folder
        user = ("-c", "user.name=x", "-c", "user.email=x@localhost")
        git = ["git", "-C", self._path, *user]
        for number in range(BRANCHES):
            ref = f"refs/heads/claude/{number}"
            random = int.from_bytes(os.urandom(10))
            entry = Entry(
                ulid.successor("", 1_790_000_000_000 + next(self._count), random),
                FIRST,
                f"Claude Code@claude/{number}",
                "2026-11-28T12:00:00Z",
                "Done",
                action="say",
                parents=(),
            )
            line = Line(FIRST, entry.id, codec.to_line(entry, 0).strip())
            (message,) = carriers.messages([line])
            words = ("commit-tree", "-p", "main", "-F", "-", "main^{tree}")
            commit = _output([*git, *words], message)
            run(*git, "update-ref", ref, commit)

    def _fetch_branches(self) -> float:
        self._push_carriers()
        refspec = "+refs/heads/claude/*:refs/measured/claude/*"
        words = ("git", "fetch", "--quiet", "origin", refspec)
        return self.scratch.process(*words, folder=self._folder).seconds()

    def _harvest(self) -> float:
        self._push_carriers()
        process = self.scratch.process("wc", "sync", folder=self._folder)
        env = process.env | {"WATERCOOLER_SYNC": "off"}
        return process._replace(env=env).seconds()


def _output(words: list[str], feed: bytes) -> str:
    done = subprocess.run(words, input=feed, capture_output=True, check=True)
    return done.stdout.decode().strip()

"""Clones of one repository: those that all write, and those that only grow."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.crowd import complaint, marks
from tests.bench.processes import BenchError, run, say
from tests.bench.stores import a_thread
from tests.bench.table import Row, times
from wc_cli.ledger.settle import settler
from wc_cli.ledger.store import durable
from wc_cli.ledger.sync.exchange import Waiting
from wc_cli.ledger.sync.exchanger import Exchanger
from wc_cli.ledger.sync.routes import usual_remote
from wc_core.base.layout import BRANCH, Layout, file_name
from wc_core.ledger.git import repository
from wc_core.ledger.threads import codec

if TYPE_CHECKING:
    from tests.bench.hub import Hub
    from tests.bench.processes import Process
    from tests.bench.scratch import Scratch

TOPICS = 4  # that all clones write to
EACH = 5  # entries that a clone writes until it syncs
ROUNDS = 50
ONCE = 1 << 20  # rounds: more than there are
GROWING = "growing"
BLOCK = 512
SECONDS = 60.0
ALONE = 5  # clones that write one by one; more of them take as long each


def said(
    scratch: Scratch, folder: str, body: str, agent: str, topic: str = "topic-0000"
) -> Process:
    """A ``wc say`` that leaves settling, and the way to the remote, to others."""
    words = ("wc", "say", topic, "--title", "A title", "--body", body)
    process = scratch.process(*words, folder=folder)
    ours = {"WATERCOOLER_SYNC": "off", "WATERCOOLER_AGENT": agent}
    return process._replace(env=process.env | ours)


def cloned(scratch: Scratch, place: str, first: str, remote: str) -> str:
    """A repository like the ``first`` one in another place, which has a home
    folder; its store is the one that the remote has."""
    folder = f"{place}/{os.path.basename(first)}"
    run("git", "init", "--quiet", "--initial-branch=main", folder)
    run("git", "-C", folder, "remote", "add", "origin", remote)
    scratch.process("wc", "sync", folder=folder).seconds()
    return folder


def root_of(folder: str) -> str:
    """Where the store of a repository is checked out."""
    place, name = os.path.split(folder)
    stores = Path(place, "home/.watercooler/worktrees")
    return os.path.realpath(next(stores.glob(f"watercooler-{name}-*/")))


def tip(root: str) -> str:
    """The commit that a store is at."""
    where = repository.find(root)
    return where.commit if where else ""


def megabytes(path: str) -> float:
    """What a file, or a folder with all in it, takes on the disk."""
    below = (one for one in Path(path).rglob("*"))
    return sum(one.lstat().st_blocks for one in (Path(path), *below)) * BLOCK / 1e6


def done(process: Process) -> None:
    """Run it, beside others that run in other folders."""
    found = subprocess.run(
        process.words,
        cwd=process.folder,
        env=process.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise BenchError(complaint(found.stderr))


class Clones:
    """Clones of one repository, each with a home folder of its own, that write to
    the same threads and sync all the time."""

    def __init__(self, scratch: Scratch, hub: Hub, count: int, entries: int) -> None:
        self.notes: list[str] = []
        self._scratch = scratch
        self._hub = hub
        self._count = count
        self._entries = entries
        self._runs = 0

    @cached_property
    def _folders(self) -> list[str]:
        """The clones, all with what the first one begins with."""
        folder = f"{self._scratch.folder}/{self._count}-clones"
        places = [f"{folder}/{number}" for number in range(self._count)]
        for place in places:
            self._scratch.write_identity(place)
        first = self._scratch.repository(TOPICS, 1, name="app", place=places[0])
        url = self._hub.shared(first, f"{self._count}-clones.git")
        others = [cloned(self._scratch, place, first, url) for place in places[1:]]
        return [first, *others]

    @cached_property
    def _roots(self) -> list[str]:
        return [root_of(folder) for folder in self._folders]

    def seconds(self) -> float:
        """From the first entry until every clone has all of them."""
        self._runs += 1
        folders = self._folders
        with ThreadPoolExecutor(len(folders)) as pool:
            start = time.perf_counter()
            written = set().union(*pool.map(self._write, range(len(folders))))
            for _ in range(ROUNDS):
                list(pool.map(self._sync, folders))
                if len({tip(root) for root in self._roots}) == 1:
                    break
            else:
                raise BenchError(f"{len(folders)} clones do not become one")
            elapsed = time.perf_counter() - start
        for root in self._roots:
            if lost := len(written - marks(Layout(root).threads)):
                self.notes.append(f"{lost} of {len(written)} entries lack in a clone")
        return elapsed

    def alone_seconds(self) -> float:
        """What as many entries take if each is written and sent by itself, one clone
        after the other."""
        self._runs += 1
        count = min(ALONE, self._count)
        folders = self._folders[:count]
        start = time.perf_counter()
        for number, folder in enumerate(folders):
            for turn in range(self._entries):
                topic = f"topic-{turn % TOPICS:04}"
                body = f"A body alone-{self._runs}-{number}-{turn}."
                done(said(self._scratch, folder, body, f"agent-{number}", topic))
                self._sync(folder)
        return (time.perf_counter() - start) * self._count / count

    def _write(self, number: int) -> set[bytes]:
        """The marks of the entries of one clone."""
        folder = self._folders[number]
        found = set()
        for turn in range(self._entries):
            mark = f"mark-{self._runs}-{number}-{turn}."
            topic = f"topic-{turn % TOPICS:04}"
            body = f"A body {mark}"
            done(said(self._scratch, folder, body, f"agent-{number}", topic))
            found.add(mark.encode())
            if turn % EACH == EACH - 1:
                self._sync(folder)
        return found

    def _sync(self, folder: str) -> None:
        """Once; a remote that was always a step ahead is asked again later."""
        process = self._scratch.process("wc", "sync", folder=folder)
        try:
            done(process)
        except BenchError as error:
            self.notes.append(f"a clone's sync failed: {error}".strip())


class Growth:
    """How large a repository is after many commits of one entry each, for whom
    wrote them and for whom fetched each by itself."""

    def __init__(self, scratch: Scratch, hub: Hub, commits: int) -> None:
        self._scratch = scratch
        self._hub = hub
        self._commits = commits

    def rows(self) -> list[Row]:
        """The log, and the repository of either beside it."""
        log = f"{self._commits:,} commits of an entry: the log"
        goal = times(10)
        rows = [
            Row(log, lambda: self._sizes[0]),
            Row(f"{log[:-7]}.git", lambda: self._sizes[1], log, goal),
            Row(f"{log[:-7]}.git of a clone", lambda: self._sizes[2], log, goal),
        ]
        return [row._replace(every=ONCE, unit="MB") for row in rows]

    @cached_property
    def _sizes(self) -> tuple[float, float, float]:
        """Of the log, of who wrote, and of who fetched."""
        say(f"making {self._commits:,} commits, some minutes")
        writer = self._scratch.repository(1, 1, name="app", place=self._place("writer"))
        path = self._hub.shared(writer, "growing.git", path=True)
        reader = cloned(self._scratch, self._place("reader"), writer, path)
        layout = self._scratch.layout(writer)
        for index, entry in enumerate(a_thread(GROWING, 0, self._commits)):
            os.makedirs(layout.folder(GROWING), exist_ok=True)
            durable.touch(f"{layout.unsettled}/{file_name(GROWING)}", layout.root)
            with open(layout.log(GROWING), "ab") as log:
                log.write(codec.to_line(entry, index))
            self._send(writer)
            self._exchange(reader)
        if tip(layout.root) != tip(root_of(reader)):
            raise BenchError("the clone has not got everything")
        taken = [megabytes(f"{one}/.git") for one in (writer, reader)]
        return megabytes(layout.log(GROWING)), taken[0], taken[1]

    def _place(self, name: str) -> str:
        """A place of its own for a clone, with a home folder."""
        place = f"{self._scratch.folder}/{name}"
        self._scratch.write_identity(place)
        return place

    def _send(self, folder: str) -> None:
        """Commit what was written, and push the commit."""
        env, root = self._scratch.process("git", folder=folder).env, root_of(folder)
        settler.settle(root, env)
        run("git", "-C", root, "push", "--quiet", "origin", BRANCH, env=env)

    def _exchange(self, folder: str) -> None:
        """What ``wc sync`` does, in this process."""
        env, root = self._scratch.process("git", folder=folder).env, root_of(folder)
        where = repository.find(root)
        if where is None:
            raise BenchError(f"{folder} has no store")
        waiting = Waiting.at_most(SECONDS)
        Exchanger(root, env, usual_remote(where, env), waiting).exchange()

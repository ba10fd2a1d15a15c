"""Many processes that post at once."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.processes import BenchError, Process
from tests.bench.scratch import MEMORY
from tests.bench.table import Row, at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.bench.scratch import Scratch

# What durations are given for, however many posts there were.
POSTS = 200
MARK = re.compile(rb"mark-\d+-\d+-\d+\.")
WITH_GOALS = 8  # writers
# Rounds from one sample of a crowd to the next: each takes some seconds.
EVERY = 7


class Post(NamedTuple):
    """Who posts what: the writer's number, and a body that occurs nowhere else."""

    writer: int
    body: str


class Crowd:
    """Writers that each post so many times, one process after the other.

    One run gives both the time of all and that of a single post; whichever row
    asks first has it done.
    """

    def __init__(
        self,
        size: tuple[int, int],
        post: Callable[[Post], Process],
        root: Callable[[], str],
        name: str,
    ) -> None:
        self.name = name
        self.writers, self.posts = size
        self.notes: list[str] = []
        self._complaint = ""
        self._post = post
        self._root = root
        self._runs = 0
        self._totals: deque[float] = deque()
        self._slow: deque[float] = deque()

    def total(self) -> float:
        """Seconds for 200 posts."""
        if not self._totals:
            self._run()
        return self._totals.popleft()

    def slow(self) -> float:
        """Seconds that one post in twenty takes longer than."""
        if not self._slow:
            self._run()
        return self._slow.popleft()

    def _run(self) -> None:
        self._runs += 1
        # What has to be made first is made before the clock runs.
        root = self._root()
        with ThreadPoolExecutor(self.writers) as pool:
            start = time.perf_counter()
            taken = list(pool.map(self._write, range(self.writers)))
            elapsed = time.perf_counter() - start
        every = self.writers * self.posts
        done = {mark: one for each in taken for mark, one in each.items()}
        self._note(every - len(done), f"failed: {self._complaint}")
        self._note(len(done.keys() - marks(root)), "are nowhere to be found")
        if not done:
            raise BenchError(f"{self.name}: no post succeeded")
        self._totals.append(elapsed * POSTS / every)
        ordered = sorted(done.values())
        self._slow.append(ordered[len(ordered) * 19 // 20])

    def _note(self, count: int, what: str) -> None:
        if count:
            every = self.writers * self.posts
            self.notes.append(f"{self.name}: {count} of {every} posts {what}")

    def _write(self, writer: int) -> dict[bytes, float]:
        """Post after post; what each one that succeeded took."""
        taken = {}
        for number in range(self.posts):
            mark = f"mark-{self._runs}-{writer}-{number}."
            process = self._post(Post(writer, f"A body {mark}"))
            process = process._replace(stderr=f"{process.stderr}-{writer}")
            try:
                taken[mark.encode()] = process.seconds()
            except BenchError as error:
                self._complaint = complaint(str(error))
        return taken


def complaint(text: str) -> str:
    """The line that says what went wrong: of our own errors the first, before an
    indented hint, of a traceback the last."""
    return [line for line in text.splitlines() if line[:1].strip()][-1]


def marks(root: str) -> set[bytes]:
    """The posts that the files of a store have."""
    found: set[bytes] = set()
    for folder, _, names in os.walk(root):
        for name in names:
            with open(f"{folder}/{name}", "rb") as file:
                found.update(MARK.findall(file.read()))
    return found


class Crowds:
    """The rows of wc's own crowds, and what is to be said about their runs."""

    def __init__(self, scratch: Scratch, sizes: Sequence[tuple[int, int]]) -> None:
        self._scratch = scratch
        self._sizes = sizes
        self.crowds: list[Crowd] = []

    def rows(self) -> list[Row]:
        """Two rows for each number of writers and way to write."""
        most = max(writers for writers, _ in self._sizes)
        found: list[Row] = []
        for size in self._sizes:
            alone = size[0] == 1
            for way in ("",) if alone else (", one thread", ", different threads"):
                crowd = self._crowd(size, way, most)
                found += rows_of(crowd, self.crowds[0].name)
        in_memory = self._crowd((WITH_GOALS, self._sizes[0][1]), ", in memory", most)
        found += [
            row._replace(lacks="" if os.path.isdir(MEMORY) else f"there is no {MEMORY}")
            for row in rows_of(in_memory, "8 writers, one thread")
        ]
        return found

    def _crowd(self, size: tuple[int, int], way: str, threads: int) -> Crowd:
        def folder() -> str:
            place = self._scratch.memory if "memory" in way else ""
            return self._scratch.repository(threads, 1, name="crowd", place=place)

        def post(one: Post) -> Process:
            topic = f"topic-{one.writer if 'different' in way else 0:04}"
            words = ("wc", "say", topic, "--title", "A title", "--body", one.body)
            process = self._scratch.process(*words, folder=folder())
            env = process.env | {"WATERCOOLER_AGENT": f"agent-{one.writer}"}
            return process._replace(env=env)

        def root() -> str:
            return self._scratch.layout(folder()).threads

        name = f"{size[0]} writer{'s' * (size[0] > 1)}{way}"
        self.crowds.append(Crowd(size, post, root, name))
        return self.crowds[-1]


def rows_of(crowd: Crowd, other: str) -> list[Row]:
    """The time of all, and the time of a single post."""
    parts = (
        (f"{POSTS} posts", crowd.total, at_most(3000), "s"),
        ("p95 of a post", crowd.slow, at_most(200), "ms"),
    )
    return [
        Row(
            f"{crowd.name}: {what}",
            sample,
            f"{other}: {what}" if other != crowd.name else "",
            goal if crowd.writers == WITH_GOALS else None,
            every=EVERY,
            unit=unit,
        )
        for what, sample, goal, unit in parts
    ]

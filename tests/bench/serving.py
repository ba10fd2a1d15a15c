"""What the server costs, beside a server of the same framework that does nothing.

For each store there is one server that runs until the end. What only happens once in
the life of a server is measured with new ones.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import deque
from functools import cached_property
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.processes import BenchError, Server, first_page
from tests.bench.table import (
    Goal,
    Row,
    at_most,
    at_most_megabytes,
    at_most_percent,
    more,
    times,
)
from wc_core.base.toolnames import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.bench.scratch import Scratch

TRIVIAL, OURS = "trivial-server", "wc-observe"
INITIALIZE = "trivial FastMCP server: initialize"
START = "trivial FastMCP server: start"
FIRST_CALL = "trivial FastMCP server: first call"
CALL = "trivial FastMCP server: a call"
MEMORY = "trivial FastMCP server: memory"
RARE, PHRASE = "needle", '"page asks for"'
BEFORE_ALL = "60d"  # stores begin thirty days ago
LATE = 10.0
AS_FAST = times(1.05)
# A server's whole life takes long.
SELDOM = 3
IDLE_EVERY = 7


class Served(NamedTuple):
    """A store: threads, their entries; and a goal: milliseconds that the search for
    a rare word takes more than a call of nothing."""

    threads: int
    entries: int
    search: float

    @property
    def name(self) -> str:
        """As in the names of rows."""
        return f"{self.threads:,} threads of {self.entries}"


class Figures:
    """Figures that one run gives together; whichever row asks first has it done."""

    def __init__(self, run: Callable[[], Mapping[str, float]]) -> None:
        self._run = run
        self._found: dict[str, deque[float]] = {}

    def of(self, name: str) -> Callable[[], float]:
        """What gives one of them, of one run after the other."""

        def sample() -> float:
            if not self._found.get(name):
                for one, value in self._run().items():
                    self._found.setdefault(one, deque()).append(value)
            return self._found[name].popleft()

        return sample


def started(scratch: Scratch, program: str, folder: str = "") -> dict[str, float]:
    """What a start takes, until each first answer."""
    server = Server(scratch.process(program, folder=folder))
    server.call("ping" if program == TRIVIAL else f"{PREFIX}whoami")
    called = server.age()
    server.stop()
    return {
        "initialize": server.initialized,
        "start": server.listed,
        "call": called,
    }


def references(scratch: Scratch) -> list[Row]:
    """The server that does nothing."""
    starts = Figures(lambda: started(scratch, TRIVIAL))

    def memory() -> float:
        with scratch.weighed_server(TRIVIAL) as (server, found):
            server.call("ping")
        return found[0]

    return [
        Row(INITIALIZE, starts.of("initialize")),
        Row(START, starts.of("start")),
        Row(FIRST_CALL, starts.of("call")),
        Row(
            CALL,
            lambda: scratch.server(TRIVIAL).call("ping"),
            quick=True,
            paired=True,
        ),
        Row(MEMORY, memory, every=SELDOM, unit="MB"),
    ]


class Subject:
    """The servers of one store."""

    def __init__(self, scratch: Scratch, store: Served, idle: float) -> None:
        self._scratch = scratch
        self._store = store
        self._idle_seconds = idle
        numbers = random.Random(store.threads).sample(
            range(store.threads), store.threads
        )
        self._topics = cycle(f"topic-{number:04}" for number in numbers)

    def rows(self) -> list[Row]:
        """Every row of this store."""
        rows = [*self._starting(), *self._calling(), *self._hearing()]
        return [row._replace(name=f"{row.name}, {self._store.name}") for row in rows]

    # --- what happens once ---------------------------------------------------

    def _starting(self) -> list[Row]:
        starts = Figures(lambda: started(self._scratch, OURS, self._folder))
        lives = Figures(self._live)
        soon, memory = at_most(500), at_most_megabytes(150)
        once = [
            Row("first list_threads", lives.of("listed"), goal=soon),
            Row("first search_threads", lives.of("searched")),
            Row("wc-observe: memory", lives.of("memory"), MEMORY, memory, unit="MB"),
            Row("wc-observe web: first board", self._board, goal=at_most(600)),
        ]
        return [
            Row("wc-observe: initialize", starts.of("initialize"), goal=at_most(200)),
            Row("wc-observe: start", starts.of("start"), goal=at_most(200)),
            Row("wc-observe: first call", starts.of("call"), FIRST_CALL, AS_FAST),
            *(row._replace(every=SELDOM) for row in once),
        ]

    def _live(self) -> dict[str, float]:
        """The first calls of a server, and the most memory it had."""
        with self._scratch.weighed_server(OURS, self._folder) as (server, memory):
            # The first call waits for the framework.
            server.call(f"{PREFIX}whoami")
            listed = server.call(f"{PREFIX}list_threads")
            server.call(f"{PREFIX}read_thread", topic=next(self._topics))
            searched = server.call(f"{PREFIX}search_threads", query=RARE)
        return {"listed": listed, "searched": searched, "memory": memory[0]}

    def _board(self) -> float:
        """From the address that is printed to the whole page that it shows."""
        words = (OURS, "web", "--port", "0")
        return first_page(self._scratch.process(*words, folder=self._folder))

    # --- calls ---------------------------------------------------------------

    def _calling(self) -> list[Row]:
        def row(name: str, goal: Goal, **arguments: object) -> Row:
            tool = f"{PREFIX}{name.partition(',')[0]}"
            call = lambda: self._server.call(tool, **arguments)  # noqa: E731
            return Row(name, call, CALL, goal, quick=True)

        mine: dict[str, object] = {"ball": "me", "open_only": True}
        read, rare = row("read_thread", more(3)), more(self._store.search)
        return [
            row("list_threads", more(3)),
            row("list_threads, open and mine", more(3), **mine),
            read._replace(sample=self._read),
            row("list_updates, all of them", at_most(30), since=BEFORE_ALL),
            row("search_threads, a rare word", rare, query=RARE),
            row("search_threads, a phrase", at_most(60), query=PHRASE),
        ]

    def _read(self) -> float:
        """Threads that nobody has read for long."""
        return self._server.call(f"{PREFIX}read_thread", topic=next(self._topics))

    # --- what others write ---------------------------------------------------

    def _hearing(self) -> list[Row]:
        lacks = "" if sys.platform == "linux" else "only on Linux"
        told = at_most(50)
        return [
            Row("wc say, until list_threads has it", self._seen, goal=told),
            Row(
                "wc-observe: CPU while nothing happens",
                self._idle,
                goal=at_most_percent(0.3),
                every=IDLE_EVERY,
                unit="%",
                lacks=lacks,
            ),
        ]

    def _seen(self) -> float:
        """From the end of the command to the end of the first call that shows
        what it did."""
        server, before = self._server, self._latest()
        self._scratch.saying(self._folder).seconds()
        start = server.age()
        while self._latest() == before:
            if server.age() > start + LATE:
                raise BenchError("the server does not see what was written")
        return server.age() - start

    def _latest(self) -> tuple[str, int]:
        """The thread that moved last, and its length."""
        arguments = {"limit": 1, "format": "json"}
        name = f"{PREFIX}list_threads"
        answer = self._server.ask("tools/call", name=name, arguments=arguments)
        first = json.loads(answer["content"][0]["text"])["threads"][0]
        return first["topic"], first["entry_count"]

    def _idle(self) -> float:
        """The share of one core, in percent."""
        server = self._server
        start, before = time.monotonic(), cpu_seconds(server.pid)
        time.sleep(self._idle_seconds)
        used = cpu_seconds(server.pid) - before
        return 100 * used / (time.monotonic() - start)

    # --- what they have ------------------------------------------------------

    @cached_property
    def _folder(self) -> str:
        return self._scratch.repository(self._store.threads, self._store.entries)

    @cached_property
    def _server(self) -> Server:
        """The one that runs until the end."""
        server = self._scratch.server(OURS, self._folder)
        server.call(f"{PREFIX}list_threads")
        return server


def cpu_seconds(pid: int) -> float:
    """The CPU time that a process has used so far, all threads together."""
    # clock_getcpuclockid(3) on Linux. /proc/PID/stat counts in hundredths of a second:
    # too coarse for a server that uses three of them in ten seconds.
    return time.clock_gettime((~pid << 3) | 2)


class Serving:
    """The rows of all stores, each beside the server that does nothing."""

    def __init__(self, scratch: Scratch, stores: Sequence[Served], idle: float) -> None:
        self._scratch = scratch
        self._subjects = [Subject(scratch, one, idle) for one in stores]

    def rows(self) -> list[Row]:
        """Every row. Nothing is made before one is sampled for the first time."""
        each = (row for one in self._subjects for row in one.rows())
        return [*references(self._scratch), *each]

"""What wc costs: the rows of everything but crowds and other tools."""

from __future__ import annotations

import os
import shutil
import time
from itertools import count as counting
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.scratch import FIRST, MEMORY
from tests.bench.serving import Served
from tests.bench.stores import claude_json
from tests.bench.table import Row, at_most, more, times

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.processes import Process
    from tests.bench.scratch import Scratch


class Size(NamedTuple):
    """How much there is in what is measured: the big store, the lengths of threads,
    how many threads of one entry, how many writers with how many posts each; how
    many threads are repaired; the stores of servers, the seconds that one of them is
    idle, and those that a session is."""

    big: tuple[int, int] = (1000, 20)
    lengths: tuple[int, ...] = (10, 1000, 10_000)
    threads: tuple[int, ...] = (1, 100, 1000, 10_000)
    writers: tuple[tuple[int, int], ...] = ((1, 25), (2, 25), (8, 25), (30, 10))
    peer_threads: tuple[int, ...] = (1, 1000, 10_000)
    repaired: int = 2000
    served: tuple[Served, ...] = (
        Served(1000, 20, search=10),
        Served(10_000, 50, search=25),
    )
    idle: float = 10.0
    asleep: float = 20.0


QUICK_SIZE = Size(
    big=(100, 5),
    lengths=(10, 100, 500),
    threads=(1, 10, 50, 100),
    writers=((1, 3), (2, 3), (8, 3)),
    peer_threads=(1, 50),
    repaired=50,
    served=(Served(100, 5, search=10),),
    idle=0.5,
    asleep=0.5,
)
SH, PYTHON, TYPER = "sh -c :", "python -c pass", "one-command Typer app"
# Each against its own bare start.
SHELLS = (("dash",), ("bash",), ("zsh", "-f"), ("busybox", "sh"))
SYSTEM, FLUSH = "wc -l, the system's", "700 bytes appended, fsync"
SAY = "wc say, a thread of 1"
OFTEN = 3  # samples in a round
LAST = 5  # entries that are read of a long thread
BEST = 20  # rows and hits of which the rest is left out
# How many times what Python needs to start, by the number of threads.
LIST_GOALS = {1: times(2.6), 1000: times(4.5), 10_000: times(22)}
LAST_OF_MANY = {10_000: times(6)}


class Table:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, size: Size) -> None:
        self.scratch = scratch
        self.size = size
        self.many = "{:,} threads of {}".format(*size.big)

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        return [
            *self._references(),
            *self._shell(),
            *self._often(self._commands()),
            *self._repair(),
            *self._often(self._long() + self._many() + self._hooks()),
            *self._memory(),
        ]

    def _often(self, rows: list[Row]) -> list[Row]:
        """The same rows, whose samples are short."""
        return [row._replace(often=OFTEN) for row in rows]

    def _references(self) -> list[Row]:
        return [
            Row(SH, self._time("sh", "-c", ":"), quick=True, paired=True),
            Row(FLUSH, self._flush, quick=True),
            Row(PYTHON, self._time("python", "-c", "pass"), paired=True),
            Row(TYPER, self._time("typer-app"), paired=True),
        ]

    def _flush(self) -> float:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.open(f"{self.scratch.folder}/flushed", flags, 0o600)
        try:
            start = time.perf_counter()
            os.write(file, b"x" * 699 + b"\n")
            os.fsync(file)
            return time.perf_counter() - start
        finally:
            os.close(file)

    def _shell(self) -> list[Row]:
        lines = self.scratch.file("lines.txt", "a line of text\n" * 1000)
        system = next(one for one in ("/usr/bin/wc", "/bin/wc") if os.path.exists(one))
        ours, name = self._time("wc", "-l", lines), "wc-statusline"
        rows = [
            Row(SYSTEM, self._time(system, "-l", lines), SH, paired=True),
            Row("wc -l, through bin/wc", ours, SYSTEM, more(2)),
            Row(f"{name}, 3 KB of JSON", self._statusline_json, SH, times(4)),
        ]
        for threads in self.size.threads[1:]:
            timed = self._time(name, store=(threads, 1))
            rows.append(Row(f"{name}, {threads:,} threads", timed, SH, times(1.4)))
        capital = self._prompt_of("Claude")
        rows.append(Row(f"{name} of Claude, with a capital", capital, SH, times(1.4)))
        rows += [row for words in SHELLS for row in self._in_shell(words)]
        return [row._replace(quick=True) for row in rows]

    def _in_shell(self, shell: tuple[str, ...]) -> list[Row]:
        """A shell that does nothing, and the line printed by it."""
        words, threads = " ".join(shell), self.size.threads[1]
        lacks = "" if shutil.which(shell[0]) else f"there is no {shell[0]}"
        bare = f"{words} -c :"

        def seconds() -> float:
            script = os.path.join(self.scratch.installed, "wc-statusline")
            return self._time(*shell, script, store=(threads, 1))()

        return [
            Row(bare, self._time(*shell, "-c", ":"), lacks=lacks, paired=True),
            Row(f"wc-statusline in {words}", seconds, bare, lacks=lacks),
        ]

    def _prompt_of(self, agent: str) -> Callable[[], float]:
        """The line of an agent that is named in the environment."""

        def seconds() -> float:
            folder = self.scratch.repository(self.size.threads[1], 1)
            process = self.scratch.process("wc-statusline", folder=folder)
            env = {**process.env, "WATERCOOLER_AGENT": agent}
            return process._replace(env=env).seconds()

        return seconds

    def _statusline_json(self) -> float:
        folder = self._big()
        path = self.scratch.file("claude.json", claude_json(folder))
        return self.scratch.process("wc-statusline", "--stdin", stdin=path).seconds()

    def _time_say(self, store: tuple[int, int]) -> Callable[[], float]:
        return lambda: self.scratch.saying(self.scratch.repository(*store)).seconds()

    def _say_in_memory(self) -> float:
        place = self.scratch.memory
        return self.scratch.saying(self.scratch.repository(1, 1, place=place)).seconds()

    def _commands(self) -> list[Row]:
        many = self.size.big
        search = self._time("wc", "search", "needle", store=many)
        listing = self._time("wc", "list", store=many)
        about = self._time("wc", "list", "--file", "src/app.py", store=many)
        lacks = "" if os.path.isdir(MEMORY) else f"there is no {MEMORY}"
        in_memory = Row("wc say, in memory", self._say_in_memory, SAY, lacks=lacks)
        return [
            Row("wc version", self._time("wc", "version"), TYPER),
            Row("wc help", self._time("wc", "help"), TYPER, times(0.6)),
            Row("wc help say", self._time("wc", "help", "say"), "wc help", times(1.2)),
            Row(SAY, self._time_say((1, 1)), PYTHON, times(3), paired=True),
            in_memory,
            Row(f"wc say, {self.many}", self._time_say(many), SAY, times(1.2)),
            Row(f"wc list, {self.many}", listing, PYTHON, times(4.5), paired=True),
            Row(f"wc list --file, {self.many}", about, f"wc list, {self.many}"),
            Row(f"wc search, {self.many}", search, PYTHON, times(5.2), paired=True),
            self._best(),
        ]

    def _best(self) -> Row:
        """The best hits of a store with many entries in each thread."""
        threads, entries = self.size.served[-1][:2]
        words = ("wc", "search", "needle", "--limit", str(BEST))
        name = f"wc search --limit {BEST}, {threads:,} threads of {entries}"
        found = self._time(*words, store=(threads, entries))
        return Row(name, found, PYTHON, times(15))

    def _repair(self) -> list[Row]:
        """What repairing logs costs that have lost all that is made of them."""
        count = self.size.repaired
        names = (f"repair-{number}" for number in counting())

        def seconds() -> float:
            folder = self.scratch.repository(count, 1, name=next(names))
            layout = self.scratch.layout(folder)
            for topic in os.listdir(layout.threads):
                os.unlink(layout.meta(topic))
                Path(layout.unsettled, topic).touch()
            shutil.rmtree(f"{layout.local}/status")
            repair = self.scratch.process("wc", "doctor", "--repair", folder=folder)
            return repair.seconds()

        name = f"wc doctor --repair, {count:,} threads without projections"
        return [Row(name, seconds, "", at_most(10_000), every=7, unit="s")]

    def _long(self) -> list[Row]:
        """What the length of a thread costs."""

        def last(length: int) -> Callable[[], float]:
            part = ("--from", str(length - LAST), "--limit", str(LAST), "--peek")
            return self._time("wc", "read", FIRST, *part, store=(1, length))

        rows: list[Row] = []
        for length in self.size.lengths:
            text, store = f"a thread of {length:,}", (1, length)
            listed = self._time("wc", "list", store=store)
            found = self._time("wc", "search", "needle", store=store)
            goal, part = LAST_OF_MANY.get(length), f"{LAST} of {length:,}"
            rows += [
                Row(f"wc say, {text}", self._time_say(store), SAY, times(1.2)),
                Row(f"wc read, {part}", last(length), PYTHON, goal),
                Row(f"wc list, {text}", listed, PYTHON),
                Row(f"wc search, {text}", found, PYTHON),
            ]
        return rows

    def _many(self) -> list[Row]:
        """What the number of threads costs."""
        rows: list[Row] = []
        for threads in self.size.threads:
            text, store = f"{threads:,} threads of 1", (threads, 1)
            if threads == 1:
                text = "a thread of 1"
            else:
                said = self._time_say(store)
                rows.append(Row(f"wc say, {text}", said, SAY, times(1.2)))
            listed = self._time("wc", "list", store=store)
            found = self._time("wc", "search", "needle", store=store)
            read = self._time("wc", "read", FIRST, "--peek", store=store)
            goal = LIST_GOALS.get(threads)
            rows += [
                Row(f"wc read, {text}", read, PYTHON),
                Row(f"wc list, {text}", listed, PYTHON, goal),
                Row(f"wc search, {text}", found, PYTHON),
            ]
        words = ("wc", "list", "--limit", str(BEST))
        name = f"wc list --limit {BEST}, {text}"
        rows.append(Row(name, self._time(*words, store=store), PYTHON, times(14)))
        return rows

    def _hooks(self) -> list[Row]:
        """The CPU of what clients' hooks run, in the store with the most threads."""
        threads = self.size.threads[-1]

        def run(*words: str) -> Process:
            folder = self.scratch.repository(threads, 1)
            path = self.scratch.file("claude.json", claude_json(folder))
            return self.scratch.process(*words, folder=folder, stdin=path)

        def used(*words: str) -> Callable[[], float]:
            return lambda: run(*words).cpu_seconds()

        hook = ("wc-cli", "brief", "--client", "claude", "--hook")
        prompt = (*hook, "user-prompt")

        def without_news() -> float:
            run(*prompt).cpu_seconds()  # tells the news from other rows
            return run(*prompt).cpu_seconds()

        def with_news() -> float:
            run(*prompt).cpu_seconds()
            writer = ""
            while writer != "claude":
                process = self.scratch.saying(self.scratch.repository(threads, 1))
                process.cpu_seconds()
                writer = process.env["WATERCOOLER_AGENT"]
            self.scratch.settle()
            return run(*prompt).cpu_seconds()

        rows = {
            "wc brief": used("wc", "brief"),
            "wc brief --hook session-start": used(*hook, "session-start"),
            "wc brief --hook user-prompt": without_news,
            "wc brief --hook user-prompt with news": with_news,
            "wc brief --hook stop": used(*hook, "stop"),
            # It exits 10 if no ball comes.
            "wc wait --timeout 0": used("sh", "-c", "wc-cli wait --timeout 0 || :"),
        }
        return [
            Row(f"{name}, {threads:,} threads of 1: CPU", sample, goal=at_most(45))
            for name, sample in rows.items()
        ]

    def _memory(self) -> list[Row]:
        python = f"{PYTHON}: memory"

        def weight(*words: str) -> Callable[[], float]:
            return lambda: self.scratch.process(*words, folder=self._big()).megabytes()

        rows = [
            (python, weight("python", "-c", "pass"), ""),
            (
                "wc say: memory",
                lambda: self.scratch.saying(self._big()).megabytes(),
                python,
            ),
            ("wc list: memory", weight("wc", "list"), python),
            ("wc search: memory", weight("wc", "search", "needle"), python),
        ]
        return [Row(*row, every=3, unit="MB") for row in rows]

    def _big(self) -> str:
        return self.scratch.repository(*self.size.big)

    def _time(
        self, *words: str, store: tuple[int, int] | None = None
    ) -> Callable[[], float]:
        def seconds() -> float:
            folder = self.scratch.repository(*store) if store else ""
            return self.scratch.process(*words, folder=folder).seconds()

        return seconds

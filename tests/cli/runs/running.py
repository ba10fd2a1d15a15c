"""What the tests of ``wc run`` share: where it is run, what it tells, its records, and
one in the background that tests watch and end."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cli.carry.places import new_hub
from tests.contract.inprocess import Here
from wc_cli.agents.runs.choosing import RunRequest
from wc_cli.agents.runs.runner import RunEvent, RunLimits, Runner
from wc_cli.run.context import Context
from wc_core.attention.runs import records
from wc_core.base.layout import Layout
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Done, Machine, Repo

SECONDS = 30.0
FOUND = 9
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class RunHere(Here):
    """A repository in which ``wc run`` and all others run in this process; the agents
    are processes of their own."""

    def wc(self, *words: str, **how: Any) -> Done:
        with _same_signals():
            return super().wc(*words, **how)


@contextmanager
def _same_signals() -> Iterator[None]:
    """Afterwards, this process reacts to signals as before."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def repo_of(machine: Machine) -> RunHere:
    """A new repository of a person."""
    return RunHere(machine, machine.repo().path)


def sync_at_once(machine: Machine) -> None:
    """Have each write exchanged with the remote; claims go there, too."""
    machine.env["WATERCOOLER_SYNC"] = "inline"


def shared(repo: RunHere, hub: Path) -> None:
    """Put the code and the threads of a repository on a remote."""
    new_hub(repo, hub)
    repo.ok("init")
    repo.ok("sync")


def clone_of(machine: Machine, hub: Path) -> RunHere:
    """A clone with the threads, on another machine of Pat's, where balls from the first
    may start agents, too."""
    machine.git("clone", "-q", str(hub), "app", cwd=machine.root)
    clone = RunHere(machine, machine.root / "app")
    clone.ok("sync")
    clone.ok("config", "--global", "set", "run.from", "own", "Pat")
    return clone


def ask_for(repo: Repo, topic: str, title: str, to: str = "Codex") -> None:
    """Begin a thread whose title says what the agent's stand-in does."""
    repo.ok("new", topic, "-m", title, "--to", to)


def events(repo: Repo, *words: str) -> list[dict[str, Any]]:
    """What a single pass of `wc run` tells."""
    done = repo.wc("run", "--once", "--json", *words)
    assert done.code in {0, FOUND}, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def names(told: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(event["event"], event["topic"]) for event in told]


def state(repo: Repo, topic: str) -> dict[str, Any]:
    found: dict[str, Any] = repo.json("read", topic, "--peek")
    return found


def plan(repo: Repo, *words: str) -> dict[str, Any]:
    """What a dry run says."""
    found: dict[str, Any] = repo.json("run", "--dry-run", *words)
    return found


def record_of(repo: Repo, topic: str = "login") -> records.RunRecord:
    record = records.load(Layout(str(repo.store)), topic)
    assert record is not None
    return record


def record_path(repo: Repo, topic: str = "login") -> Path:
    return Path(records.path_of(Layout(str(repo.store)), topic))


def write_record(repo: Repo, record: records.RunRecord) -> None:
    path = record_path(repo, record.topic)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(record.to_bytes())


def runner_of(
    repo: Repo, limits: RunLimits, tell: Callable[[RunEvent], None]
) -> Runner:
    """The loop of a `wc run` in a repository."""
    fresh = partial(Context, repo.machine.env, str(repo.path), Asked())
    return Runner(fresh, RunRequest(), limits, tell)


class Running:
    """A `wc run` in the background, as at a terminal without one."""

    def __init__(self, repo: Repo, *words: str) -> None:
        machine = repo.machine
        self._told = machine.root / f"told-{time.monotonic_ns()}"
        self._out = self._told.open("w")
        self.process = subprocess.Popen(
            [*machine.wc_words, "run", *words],
            cwd=repo.path,
            env=machine.env,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def told(self) -> str:
        """What it has printed."""
        return self._told.read_text()

    def until(self, words: str, seconds: float = SECONDS) -> None:
        """Wait until it has printed this."""
        end = time.monotonic() + seconds
        while words not in self.told:
            assert time.monotonic() < end, self.told
            time.sleep(0.02)

    def close(self) -> int:
        """Wait for its end."""
        try:
            return self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self._out.close()

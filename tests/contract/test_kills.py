"""Any process may be killed at any moment: writers, the helpers that settle,
git. What was acknowledged stays, once; a repetition never writes twice.

Three kills in `bin/test`, 300 in the long run.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.conftest import THREADS, Repo

if TYPE_CHECKING:
    from collections.abc import Iterator

KILLS = amounts.rounds(3, 300)
WRITERS = 6 if amounts.is_long() else 3
TOPICS = ("one", "two", "three")
KINDS = ("writer", "helper", "git", "git")
LONGEST_WAIT = 0.3
# A git lives for a few milliseconds: one is waited for.
HUNT = 0.5
LONG_AGO = 3 * 24 * 3600
LOCKED = 5


class Writer(threading.Thread):
    """Says one thing after the other, each until it is acknowledged."""

    def __init__(self, repo: Repo, number: int, over: threading.Event) -> None:
        super().__init__()
        self.repo = repo
        self.number = number
        self.over = over
        self.process: subprocess.Popen[str] | None = None
        self.acked: dict[str, str] = {}
        self.retries = 0
        self.failures: list[str] = []

    def run(self) -> None:
        """Write until it is over."""
        turn = 0
        while not self.over.is_set():
            key = f"writer-{self.number}-{turn}"
            topic = TOPICS[(self.number + turn) % len(TOPICS)]
            if self._say(topic, key):
                self.acked[key] = topic
                turn += 1
            else:
                self.retries += 1

    def _say(self, topic: str, key: str) -> bool:
        words = ("say", topic, "--title", key, "--key", key, "--lock-timeout", "10")
        machine = self.repo.machine
        self.process = subprocess.Popen(
            [*machine.wc_words, *words, "--new", "--json"],
            cwd=self.repo.path,
            env={**machine.env, "WATERCOOLER_SYNC": "background"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        out, err = self.process.communicate()
        code = self.process.returncode
        if code not in {0, -signal.SIGKILL, LOCKED}:
            self.failures.append(f"{code}: {err}")
        return code == 0 and json.loads(out)["saved"]


def others(store: Path) -> Iterator[tuple[str, int]]:
    """The helpers that settle this store, and the gits they run."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            if os.fsencode(store) in words:
                kind = "git" if words[0].endswith(b"git") else "helper"
                yield kind, int(name)


def kill_one(store: Path, writers: list[Writer], dice: random.Random) -> str:
    """Kill a process of a kind that the dice say; which kind it was."""
    kind = dice.choice(KINDS)
    deadline = time.monotonic() + HUNT
    while True:
        if kind == "writer":
            found = list(_pids(writers))
        else:
            found = [pid for one, pid in others(store) if one == kind]
        if found or time.monotonic() > deadline:
            break
        time.sleep(0.001)
    with contextlib.suppress(IndexError, ProcessLookupError):
        os.kill(dice.choice(found), signal.SIGKILL)
        return kind
    return ""  # none came, or it had ended by itself


def _pids(writers: list[Writer]) -> Iterator[int]:
    for one in writers:
        if one.process is not None and one.process.returncode is None:
            yield one.process.pid


def keys_in(store: Path) -> Counter[str]:
    """How often each key stands in the logs."""
    found: Counter[str] = Counter()
    for topic in TOPICS:
        log = store / "graph/baseline/threads" / topic / "entries.jsonl"
        if log.exists():
            for line in log.read_bytes().splitlines(keepends=True):
                with contextlib.suppress(ValueError):
                    found[json.loads(line).get("key", "")] += line.endswith(b"\n")
    return found


def under_fire(repo: Repo, store: Path, dice: random.Random) -> list[Writer]:
    """Let writers write while processes are killed; what they have to tell."""
    over = threading.Event()
    writers = [Writer(repo, number, over) for number in range(WRITERS)]
    for one in writers:
        one.start()
    kills: Counter[str] = Counter()
    start = time.monotonic()
    try:
        while kills.total() < KILLS:
            time.sleep(dice.uniform(0, LONGEST_WAIT))
            killed = kill_one(store, writers, dice)
            if killed:
                kills[killed] += 1
            acked = [key for one in writers for key in list(one.acked)]
            there = keys_in(store)
            assert [key for key in acked if there[key] != 1] == []
    finally:
        over.set()
        for one in writers:
            one.join()
    print(f"{dict(kills)} killed in {time.monotonic() - start:.1f} s")
    return writers


def until_alone(store: Path) -> None:
    """Wait until no helper is left."""
    deadline = time.monotonic() + 60
    while list(others(store)):
        assert time.monotonic() < deadline, "a helper does not end"
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_kills_at_random_lose_nothing_and_double_nothing(repo: Repo) -> None:
    repo.ok("init")
    store = repo.store
    writers = under_fire(repo, store, random.Random(KILLS))
    assert [text for one in writers for text in one.failures] == []
    acked = {key: topic for one in writers for key, topic in one.acked.items()}
    until_alone(store)
    there = keys_in(store)
    assert {key: there[key] for key in acked if there[key] != 1} == {}
    assert {key: n for key, n in there.items() if n > 1 and key} == {}
    print(f"{len(acked)} acknowledged, {sum(one.retries for one in writers)} retries")
    # At once, with no waiting, in every thread; then everything is settled.
    for topic in TOPICS:
        words = ("say", topic, "--title", "after", "--lock-timeout", "0", "--new")
        said = repo.settled(*words, "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    text = repo.git("log", "--format=%B", THREADS)
    for topic in TOPICS:
        ids = [one["entry_id"] for one in repo.entries(topic)]
        assert [text.count(one) for one in ids] == [1] * len(ids)
    assert repo.machine.git("status", "--porcelain", cwd=store) == ""
    repo.machine.git("fsck", "--strict", cwd=store)
    assert repo.json("doctor")["findings"] == []
    assert repo.json("doctor", "--repair")["mended"] == []
    _is_swept(repo, store)


def _is_swept(repo: Repo, store: Path) -> None:
    """What the dead left half-made goes once it is no longer new."""
    for one in (store / ".local/scratch").iterdir():
        os.utime(one, (LONG_AGO, LONG_AGO))
    repo.settled("ack", TOPICS[0])
    assert os.listdir(store / ".local/scratch") == []
    assert os.listdir(store / ".local/unsettled") == []

"""Takes one write apart: at each of its system calls in turn, something goes
wrong, in a child process of its own.

Run as ``python crasher.py FOLDER ACTION SCENARIO``; prints one line of JSON:
how many calls there are and every promise that was broken (none, it is hoped).
With the action ``record`` nothing goes wrong, and the calls are listed.
The calls are those of `wc_cli.durable`, the only code that changes a store:
a counting stand-in takes the place of its ``os`` module.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli import durable, settling, store
from wc_core import codec, discovery, identity, model, moves, settings
from wc_core.errors import StorageError
from wc_core.names import Name
from wc_core.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Callable

COUNTED = (
    *("open", "write", "pread", "pwrite", "fsync", "close", "fstat"),
    *("rename", "unlink", "mkdir", "ftruncate"),
)
TOPIC = "crash"


class Calls:
    """Stands for the ``os`` module: the ``at``-th counted call goes wrong."""

    def __init__(self, at: int, action: str) -> None:
        self.at = at
        self.action = action
        self.number = 0
        self.hit = ""

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in COUNTED:
            return real

        def call(*args: Any, **options: Any) -> Any:
            self.number += 1
            if self.number != self.at:
                return real(*args, **options)
            self.hit = name
            return _ACTIONS[self.action](Hit(name, real, args, options))

        return call


class Hit(NamedTuple):
    """A call that something happens to."""

    name: str
    real: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]

    def __call__(self) -> Any:
        """What it does when nothing happens."""
        return self.real(*self.args, **self.options)

    def partly(self, share: int) -> Any:
        """A write of that part of its bytes; another call as it is."""
        if self.name != "write":
            return self()
        handle, data = self.args
        return self.real(handle, bytes(data)[: max(1, len(data) // share)])


def _die_before(_: Hit) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_after(hit: Hit) -> None:
    hit()
    os.kill(os.getpid(), signal.SIGKILL)


def _die_half(hit: Hit) -> None:
    if hit.name == "write":
        hit.partly(2)
    os.kill(os.getpid(), signal.SIGKILL)


def _short(hit: Hit) -> Any:
    return hit.partly(2)


def _failing(number: int) -> Callable[[Hit], Any]:
    def fail(hit: Hit) -> Any:
        if hit.name == "close":
            # A handle that could not be closed is closed all the same.
            return hit()
        if hit.name == "write":
            # A full disk takes what fits before it says no.
            hit.partly(3)
        raise OSError(number, os.strerror(number))

    return fail


_ACTIONS = {
    "die-before": _die_before,
    "die-after": _die_after,
    "die-half": _die_half,
    "short": _short,
    **{
        name: _failing(getattr(errno, name))
        for name in ("EIO", "ENOSPC", "EDQUOT", "EROFS", "EACCES")
    },
}


class Record(Calls):
    """Nothing goes wrong; what was called, with the name of the file."""

    def __init__(self) -> None:
        super().__init__(0, "")
        self.calls: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in COUNTED:
            return real

        def call(*args: Any, **options: Any) -> Any:
            target = args[0]
            if isinstance(target, int):
                target = os.readlink(f"/proc/self/fd/{target}")
            self.calls.append((name, os.path.basename(target)))
            return real(*args, **options)

        return call


class Clock:
    """Milliseconds that go on by one, and dice that always show the same."""

    def __init__(self) -> None:
        self.now = 1_767_225_600_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


CLOCK = Clock()


def writer(folder: str, agent: str = "Codex") -> store.StoreWriter:
    """A writer at the store of ``folder``."""
    env = {"HOME": f"{folder}/home", "USER": "pat"}
    place = discovery.find(folder, env)
    who = identity.Identity(Name(agent, "", "pat"), "test")
    return store.StoreWriter(place, store.Author(who), settings.Settings(), env)


def write(folder: str, title: str) -> store.Receipt:
    """One ordinary entry."""
    source = store.Source(CLOCK, lambda: 7)
    draft = moves.Draft(TOPIC, "say", title, body="line\n" * 40)
    return writer(folder).write(draft, source)


def in_child(folder: str, title: str, calls: Calls) -> tuple[str, str, int]:
    """Write in a child whose calls go wrong: what it said (``ack ID``,
    ``error CODE`` or nothing), the call that was hit, and how many there were."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        vars(durable)["os"] = calls
        try:
            said = f"ack {write(folder, title).entry_id}"
        except StorageError as error:
            said = f"error {error.code}"
        os.write(writing, f"{said}\t{calls.hit}\t{calls.number}".encode())
        os._exit(0)
    os.close(writing)
    heard = b""
    while chunk := os.read(reading, 4096):
        heard += chunk
    os.close(reading)
    os.waitpid(pid, 0)
    answer, hit, number = (heard or b"\t\t-1").decode().split("\t")
    return answer, hit, int(number)


def titles(folder: str) -> list[str]:
    """The titles in the log, in order; each a whole entry."""
    reader = StoreReader(writer(folder).layout.root)
    if TOPIC not in reader.topics() or not reader.has(TOPIC):
        return []
    thread = reader.thread(TOPIC)
    return [entry.title for entry in thread.entries]


def broken(folder: str, acked: list[str], tried: str, answer: str) -> list[str]:
    """Which promises do not hold after something went wrong."""
    found = titles(folder)
    wrong = []
    missing = [title for title in acked if found.count(title) != 1]
    if missing:
        wrong.append(f"lost or doubled: {missing}")
    if found.count(tried) > 1:
        wrong.append(f"{tried} is there twice")
    if answer.startswith("ack") and tried not in found:
        wrong.append(f"{tried} was acknowledged and is not there")
    if answer.startswith("error") and tried in found:
        wrong.append(f"{tried} was refused and is there")
    return wrong


def agrees(folder: str) -> list[str]:
    """Whether, once settled, every projection is the fold of the log."""
    one = writer(folder)
    settling.settle(one.layout.root, one.env, 10)
    reader = StoreReader(one.layout.root)
    thread = reader.thread(TOPIC)
    wrong = []
    lost = thread.log.lost
    if thread.state != model.fold(TOPIC, thread.entries)._replace(lost=lost):
        wrong.append("the state is not the fold")
    for path, data in settling.rendered(one.layout, thread).items():
        with open(path, "rb") as file:
            if file.read() != data:
                wrong.append(f"{os.path.basename(path)} is not the fold")
    if any(entry.parents != (before.id,) for before, entry in pairwise(thread.entries)):
        wrong.append("there is a fork")
    if bool(reader.snapshot(TOPIC).damage) != bool(lost):
        wrong.append("damage is left that nobody reports")
    lines = codec.sort_lines(TOPIC, thread.data)[1]
    if lines and not any(one.kind in {"torn", "garbage"} for one in thread.damage):
        wrong.append("bad bytes are silent")
    return wrong


def main() -> None:
    """Every call in turn."""
    folder, action, scenario = sys.argv[1:4]
    os.makedirs(f"{folder}/home", exist_ok=True)
    if action == "record":
        record = Record()
        vars(durable)["os"] = record
        write(folder, "recorded")
        print(json.dumps({"calls": record.calls}))
        return
    wrong: list[str] = []
    acked: list[str] = []
    hits: list[str] = []
    at = 0
    while True:
        at += 1
        if scenario == "first":
            # Each time a store that is not there yet.
            place = f"{folder}/{at}"
            os.mkdir(place)
            acked = []
        else:
            place = folder
            if at == 1:
                write(place, "start")
                acked = ["start"]
        tried = f"tried {at}"
        answer, hit, number = in_child(place, tried, Calls(at, action))
        wrong += [
            f"call {at} ({hit}): {one}" for one in broken(place, acked, tried, answer)
        ]
        # Whatever is there now, acknowledged or not, must stay.
        acked = titles(place)
        after = f"after {at}"
        write(place, after)
        acked.append(after)
        wrong += [
            f"call {at} ({hit}): {one}" for one in broken(place, acked, after, "ack")
        ]
        if at % 5 == 0:
            wrong += [f"call {at} ({hit}): {one}" for one in agrees(place)]
        if 0 <= number < at:
            break
        hits.append(hit)
    wrong += agrees(place)
    print(json.dumps({"calls": at - 1, "wrong": wrong, "hits": hits}))


if __name__ == "__main__":
    main()

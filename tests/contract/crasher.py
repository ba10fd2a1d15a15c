"""Takes what wc does apart: at each of its calls to the system in turn,
something goes wrong, in a child process of its own.

Run as ``python -m tests.contract.crasher FOLDER SCENE ACTION…``; prints one
line of JSON: for each action how many calls were hit, and every promise that
was broken (none, it is hoped). Actions that are not faults: ``record`` lists
the calls, ``power`` cuts the power after each, ``storm`` sends signals.
"""

from __future__ import annotations

import glob
import json
import os
import pickle
import shutil
import signal
import sys
from itertools import pairwise
from typing import Any, NamedTuple

from tests import amounts
from tests.contract import faults, promises, scenes
from tests.contract.disk import LEAVES, Disk, Left, put
from tests.contract.scenes import SCENES, TOPIC, TRIED
from tests.leaving import leave
from wc_core.base.errors import WcError

# Whether also what makes no difference is tried.
ALL = amounts.is_long()
# What some actions can happen to.
_KINDS = {
    "die-half": {"write", "git"},
    "short": {"write"},
    "kill-git": {"git"},
    "leave-git": {"git"},
}
# How many crashes follow each other in one store, whose log grows by two entries with
# each: all of them in the long run.
_IN_A_ROW = 10_000 if ALL else 16
_STORM_ENTRIES = 100
_STORM_SECONDS = 0.001


class Child(NamedTuple):
    """What became of a child: ``ack``, ``error CODE``, ``bug …`` or, of one
    that died, nothing; and the calls it made."""

    said: str = ""
    calls: tuple[faults.Call, ...] = ()


class Trial:
    """A scene at whose calls something happens."""

    def __init__(self, folder: str, name: str) -> None:
        self.now = f"{folder}/now"
        self.template = f"{folder}/template"
        self.scene = SCENES[name]
        self.scene.prepare(self.now)
        shutil.copytree(self.now, self.template, symlinks=True)

    def restore(self, template: str = "") -> None:
        """The store as it was prepared, at the same place."""
        shutil.rmtree(self.now)
        shutil.copytree(template or self.template, self.now, symlinks=True)

    def child(self, calls: faults.Calls) -> Child:
        """Do what is to be done in a child whose calls go wrong."""
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.close(reading)
                calls.install()
                with open(writing, "wb") as pipe:
                    pickle.dump(Child(self.act(), tuple(calls.made)), pipe)
            finally:
                leave(0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            heard = pipe.read()
        os.waitpid(pid, 0)
        return pickle.loads(heard) if heard else Child()

    def act(self) -> str:
        """Do it, and say what came of it."""
        try:
            self.scene.act(self.now)
        except WcError as error:
            return f"error {error.code}"
        except Exception as error:  # noqa: BLE001 - the command would call it one
            return f"bug {error!r}"
        return "ack"

    def record(self) -> tuple[faults.Call, ...]:
        """The calls that are made when nothing goes wrong."""
        self.restore()
        return self.child(faults.Calls()).calls

    def hit(self, action: str) -> dict[str, Any]:
        """Let something happen at every call in turn."""
        calls = self.record()
        places = _places(calls, action, every=self.scene.every)
        if not ALL:
            # Each action begins elsewhere: together they hit more of the calls.
            step = self.scene.step
            places = places[min(sum(map(ord, action)) % step, len(places) - 1) :: step]
        wrong: list[str] = []
        for number, at in enumerate(places):
            if not self.scene.goes_on or number % _IN_A_ROW == 0:
                self.restore()
            before = promises.Before(self.now)
            child = self.child(faults.Calls(at, action))
            kept = promises.Promises(self.now, self.scene, before)
            kept.after(child.said, deadly=action.startswith(("die", "leave")))
            wrong += [
                f"{action} at {at} ({calls[at - 1]}): {one}" for one in kept.wrong
            ]
        return {"calls": len(calls), "hit": len(places), "wrong": wrong}

    def cut(self) -> dict[str, Any]:
        """Cut the power after every call that changed or flushed something."""
        self.restore()
        before = promises.Before(self.now)
        disk = Disk(self.now)
        calls = self.record()
        wrong: list[str] = []
        cuts: list[tuple[str, Left]] = []
        for at, call in enumerate(calls, 1):
            disk.make(call)
            if not (call.changes or call.name == "fsync" or at == len(calls)):
                continue
            said = "ack" if at == len(calls) else ""
            for leaves in LEAVES:
                if (said, disk.left(leaves)) in cuts:
                    continue  # as another cut left it
                cuts.append((said, disk.left(leaves)))
                if not (ALL or said or len(cuts) % self.scene.step == 0):
                    continue
                shutil.rmtree(self.now)
                put(disk.left(leaves), self.now)
                # No machine starts in less than a second.
                for lock in glob.glob(f"{scenes.layout_of(self.now).root}/.*.lock"):
                    os.utime(lock, (1, 1))
                kept = promises.Promises(self.now, self.scene, before)
                kept.after(said, deadly=False)
                wrong += [f"{leaves} after {at} ({call}): {one}" for one in kept.wrong]
        return {"calls": len(calls), "hit": len(cuts), "wrong": wrong}

    def storm(self) -> dict[str, Any]:
        """Write under a storm of signals."""
        caught = []
        signal.signal(signal.SIGALRM, lambda *_: caught.append(1))
        signal.setitimer(signal.ITIMER_REAL, _STORM_SECONDS, _STORM_SECONDS)
        for number in range(_STORM_ENTRIES):
            scenes.write(self.now, f"{TRIED} {number}")
        signal.setitimer(signal.ITIMER_REAL, 0)
        there = promises.everything(self.now)[TOPIC][1:]
        assert there == [f"{TRIED} {number}" for number in range(_STORM_ENTRIES)]
        return {"calls": _STORM_ENTRIES, "hit": len(caught), "wrong": []}


def _places(calls: tuple[faults.Call, ...], action: str, *, every: bool) -> list[int]:
    """The calls at which an action makes a difference.

    What only asks leaves the disk as it is: dying before it is dying before
    the change that follows. An error of it is another matter: for the writes,
    ``every`` call of the code that changes stores fails in turn.
    """
    numbered = list(enumerate(calls, 1))
    if action in _KINDS:
        return [at for at, one in numbered if one.name in _KINDS[action]]
    if not action.startswith("die"):  # a handle is closed whatever happens
        numbered = [(at, one) for at, one in numbered if one.name != "close"]
    if action == "unreadable":
        reads = [(at, one) for at, one in numbered if one.module == "files"]
        return [at for at, _ in reads] if ALL else _own_ways(reads)
    # What only reads is another matter, see above.
    numbered = [(at, one) for at, one in numbered if one.module != "files"]
    if ALL or action in {"die-before", "die-after", "EIO"}:
        own = "flushing" if every and action == "EIO" else ""
        places = [at for at, one in numbered if ALL or one.changes or one.module == own]
        # After a change the disk is as it is before the next one.
        return places[-1:] if action == "die-after" and not ALL else places
    # How it is told differs with the error, what is done does not: one call
    # of each kind is enough for the others.
    first: dict[object, int] = {}
    for at, one in numbered:
        first.setdefault((one.module, one.name, one.changes), at)
    return sorted(first.values())


def _own_ways(reads: list[tuple[int, faults.Call]]) -> list[int]:
    """The calls of reads that differ. A path is opened folder by folder, and a read
    fails alike in each of its folders: so the last call on each way, and the first of
    each folder."""
    places, known = [], set()
    for (at, one), (_, after) in pairwise([*reads, (0, faults.Call("", "", ""))]):
        is_last = not after.path.startswith(f"{one.path}/")
        if is_last or (one.name, one.path) not in known:
            places.append(at)
        known.add((one.name, one.path))
    return places


def main() -> None:
    """Every call in turn, for each of the actions."""
    folder, name, *actions = sys.argv[1:]
    trial = Trial(os.path.realpath(folder), name)
    report: dict[str, Any] = {}
    for action in actions:
        if action == "record":
            report[action] = [(one.name, one.path) for one in trial.record()]
        elif action == "power":
            report[action] = trial.cut()
        elif action == "storm":
            report[action] = trial.storm()
        else:
            report[action] = trial.hit(action)
    print(json.dumps(report))


if __name__ == "__main__":
    main()

"""Simulates people on several machines who write to the same threads: a seed
makes a world and its steps, and after each of them all promises are looked at.

By hand: ``python -m tests.contract.simulation SEED [COUNT [STEPS [CLONES]]]``
plays so many seeds, and prints for each that fails a script that does the same,
made as short as it can be.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tests.contract import chance, invariants
from tests.contract.clones import OLD_ENTRY, OLD_PAGE, Clone
from tests.contract.worlds import Start, Step, World
from wc_core.base.layout import BRANCH

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMORY = "/dev/shm"
# There are so many clones at most.
MOST = 6
BY_HAND = frozenset({"merge", "rewrite"})
ROUNDS = 5


class Result(NamedTuple):
    """What came of a play: what is wrong, after how many steps; how often each
    thing was done."""

    wrong: tuple[str, ...]
    steps: int
    counts: Counter[str]


class Machinery:
    """A place to play in; clones are copied from ones made before."""

    def __init__(self) -> None:
        memory = MEMORY if os.access(MEMORY, os.W_OK) else None
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="wc-sim-", dir=memory))
        self.now = f"{self.base}/now"
        for kind in ("ready", "bare"):
            world = self._empty()
            for number in range(MOST):
                clone = Clone(world, number)
                clone.at(0)
                clone.prepare(ready=kind == "ready")
            os.rename(self.now, f"{self.base}/{kind}")
        world = self._empty()
        self._old_branch(world)
        os.rename(self.now, f"{self.base}/old")

    def close(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.base, ignore_errors=True)

    def _empty(self) -> World:
        """A world whose remote has the code alone."""
        os.makedirs(self.now)
        world = World(self.now, Start(()))
        maker = Clone(world, 0)
        maker.home, maker.app = self.now, f"{self.now}/code"
        maker.env["HOME"] = self.now
        maker.at(0)
        bare = ("init", "-q", "--bare", "--template=", "-b", "main", world.remote)
        maker.git(*bare, cwd=self.now)
        maker.git("init", "-q", "--template=", "-b", "main", maker.app, cwd=self.now)
        with open(f"{maker.app}/code.txt", "w", encoding="ascii") as file:
            file.write("code\n")
        who = ("-c", "user.name=Pat", "-c", "user.email=pat@example.org")
        maker.git("add", "code.txt", cwd=maker.app)
        maker.git(*who, "commit", "-q", "-m", "code", cwd=maker.app)
        maker.git("push", "-q", world.remote, "main", cwd=maker.app)
        shutil.rmtree(maker.app)
        return world

    def _old_branch(self, world: World) -> None:
        """Let the remote have the branch of an older tool."""
        maker = Clone(world, 0)
        maker.at(0)
        maker.prepare(ready=False)
        maker.git("checkout", "-q", "--orphan", BRANCH, cwd=maker.app)
        maker.git("rm", "-q", "-f", "code.txt", cwd=maker.app)
        os.mkdir(f"{maker.app}/threads")
        page = OLD_PAGE.format(topic="old") + OLD_ENTRY.format(number=0)
        with open(f"{maker.app}/threads/old.md", "w", encoding="ascii") as file:
            file.write(page + OLD_ENTRY.format(number=1))
        maker.git("add", ".", cwd=maker.app)
        maker.git("commit", "-q", "-m", "old", cwd=maker.app)
        maker.git("push", "-q", "origin", BRANCH, cwd=maker.app)

    def world(self, start: Start) -> World:
        """A new world; the one before is gone."""
        shutil.rmtree(self.now, ignore_errors=True)
        os.makedirs(self.now)
        remote = "old" if start.old else "bare"
        shutil.copytree(f"{self.base}/{remote}/remote.git", f"{self.now}/remote.git")
        for number, ready in enumerate(start.ready):
            kind = "ready" if ready else "bare"
            shutil.copytree(f"{self.base}/{kind}/c{number}", f"{self.now}/c{number}")
        return World(self.now, start)

    def play(
        self, start: Start, steps: Sequence[Step], *, loud: bool = False
    ) -> Result:
        """Take the steps, and look at all promises after each."""
        world = self.world(start)
        known = [invariants.Known(clone) for clone in world.clones]
        counts: Counter[str] = Counter()
        taken = 0
        for taken, step in enumerate(steps, 1):
            up = world.is_up
            said = world.do(step)
            counts[f"{step.op} {_kind(said)}"] += 1
            if loud:
                print(f"{step!r}\n    {said}")
            if wrong := self._after(world, known, step, said, up=up):
                return Result(tuple(wrong), taken, counts)
        wrong = _finish(world, known, counts, steps, loud=loud)
        return Result(tuple(wrong), taken, counts)

    def _after(
        self,
        world: World,
        known: list[invariants.Known],
        step: Step,
        said: str,
        *,
        up: bool,
    ) -> list[str]:
        wrong = [] if _is_fine(world, step, said, up=up) else [f"{step}: {said}"]
        pages = known[step.clone].has_had_pages
        if step.op == "merge" and (world.rewritten or pages):
            # By plain git a person gave up what others had given up, has a log beside
            # a page now, or has rebased without wc's merge, which had made a log of
            # one: the next command tells.
            world.do(Step(step.number, "settle", step.clone))
        for one in known:
            own = said if one.clone.number == step.clone else ""
            wrong += [
                f"clone {one.clone.number} after {step}: {it}" for it in one.look(own)
            ]
        if step.op in {"settle", "sync"} and said == "ok":
            clone = world.clones[step.clone]
            wrong += [f"settled by {step}: {it}" for it in invariants.settled(clone)]
        return wrong


def _kind(said: str) -> str:
    first, _, rest = said.partition(" ")
    return f"{first} {rest.partition(':')[0]}" if first == "error" else first


def _is_fine(world: World, step: Step, said: str, *, up: bool) -> bool:
    """Whether a step may say that."""
    if step.hit:
        return said == "dead" or said.startswith(
            ("hit ok", "hit saved", "hit error", "hit problems")
        )
    if said.startswith(("ok", "saved", "git said")):
        return True
    if not world.clones[step.clone].store:
        return said.startswith(
            ("error CORRUPT", "error NOT_FOUND", "error OFFLINE", "ok")
        )
    if step.op == "write":
        # A thread whose log someone deleted takes no entries.
        missing = said.startswith("error CORRUPT") and said.endswith("log is missing.")
        return (missing and world.rewritten) or said.startswith(
            ("error CONFLICT", "error NOT_FOUND")
        )
    return (
        step.op in {"sync", "race", "meanwhile", "look"}
        and said.startswith("error OFFLINE")
        and not up
    )


def _finish(
    world: World,
    known: list[invariants.Known],
    counts: Counter[str],
    steps: Sequence[Step],
    *,
    loud: bool,
) -> list[str]:
    """All is well again, everyone syncs until nothing moves."""
    world.back()
    number = 10_000
    for clone in world.clones:
        if not clone.store:
            said = world.do(Step(number, "init", clone.number))
            if said != "ok":
                return [f"init of {clone.number} in the end: {said}"]
        invariants.age(clone)
        world.do(Step(number, "keep", clone.number))
        if clone.bare:
            world.do(Step(number, "repair", clone.number))
            clone.bare.clear()
    for turn in range(ROUNDS):
        wrong = _all_sync(world, known, number + turn, loud=loud)
        if wrong:
            return wrong
        if {one.tip for one in world.clones} == {world.tip}:
            counts[f"rounds {turn + 1}"] += 1
            break
    else:
        return ["it does not come to rest"]
    tip = world.tip
    wrong = _all_sync(world, known[:1], number + ROUNDS, loud=loud)
    if world.tip != tip:
        wrong.append("another sync moved the branch once more")
    once = not any(one.op in BY_HAND for one in steps)
    doubted = {one.clone for one in steps if one.hit or one.op == "gc"}
    return wrong + invariants.final(world, known, once=once, doubted=doubted)


def _all_sync(
    world: World, known: Sequence[invariants.Known], number: int, *, loud: bool
) -> list[str]:
    """Let these sync, one by one; what is wrong."""
    wrong = []
    for one in known:
        step = Step(number, "sync", one.clone.number)
        said = world.do(step)
        if loud:
            print(f"{step!r}\n    {said}")
        if said != "ok":
            wrong.append(f"the last {step}: {said}")
        wrong += [f"{step}: {it}" for it in one.look(said)]
    return wrong


def play(machinery: Machinery, seed: int, most: int, clones: int) -> tuple[Result, str]:
    """Play a seed; the result, and where it is wrong a script for it."""
    dice = random.Random(seed)
    start = chance.start_of(dice, clones)
    steps = list(chance.steps_of(dice, start, most))
    result = machinery.play(start, steps)
    if not result.wrong:
        return result, ""
    return result, script(start, shortened(machinery, start, steps[: result.steps]))


def shortened(
    machinery: Machinery, start: Start, steps: list[Step], seconds: float = 60.0
) -> list[Step]:
    """As few of the steps as still go wrong."""
    deadline = time.monotonic() + seconds
    size = len(steps) // 2
    while size and time.monotonic() < deadline:
        at = 0
        while at < len(steps) and time.monotonic() < deadline:
            fewer = steps[:at] + steps[at + size :]
            result = machinery.play(start, fewer)
            if result.wrong:
                steps = fewer[: result.steps] if result.steps else fewer
            else:
                at += size
        size //= 2
    return steps


def script(start: Start, steps: Sequence[Step]) -> str:
    """A program that takes these steps, and says what is wrong."""
    lines = "".join(f"    {one!r},\n" for one in steps)
    return (
        "# PYTHONPATH=src:. python this-file, in the root of the repository\n"
        "from tests.contract.simulation import Machinery\n"
        "from tests.contract.worlds import Start, Step\n"
        f"print(Machinery().play({start!r}, [\n{lines}], loud=True).wrong)\n"
    )


def main(first: int, count: int = 100, most: int = 20, clones: int = 3) -> None:
    """Play seeds, each with so many steps and clones at most, and tell."""
    machinery = Machinery()
    began = time.monotonic()
    counts: Counter[str] = Counter()
    steps = failed = 0
    for seed in range(first, first + count):
        result, program = play(machinery, seed, most, clones)
        counts += result.counts
        steps += result.steps
        if result.wrong:
            failed += 1
            print(f"=== seed {seed}:", *result.wrong, program, sep="\n", flush=True)
    machinery.close()
    seconds = time.monotonic() - began
    print(f"{count} seeds, {steps} steps, {failed} failed, {seconds:.1f} s, ", end="")
    print(f"CPU {sum(os.times()[:4]):.1f} s\n{dict(sorted(counts.items()))}")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

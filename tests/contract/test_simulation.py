"""People on several machines who write to the same threads, with all that may
go wrong: nothing that one of them was told or shown ever leaves their clone,
and in the end all of them have the same, every entry once, with its commit.

WC_TEST_ROUNDS worlds, the first one from WC_TEST_SEED; see `simulation` for more
by hand.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.contract import chance, invariants, simulation
from tests.contract.chance import PLAIN
from tests.contract.clones import REF
from tests.contract.simulation import Machinery
from tests.contract.worlds import Start, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Other tests have measured what these run, over and over.
pytestmark = pytest.mark.usefixtures("unmeasured")

SEED = int(amounts.seed())
ROUNDS = amounts.rounds(4, 600)
ALL = amounts.is_long()
# Settling an entry, and sending it, read fewer times.
LAST_READ = {"settle": 90, "sync": 160}
# So that several workers have something to do.
PARTS = 4
STEPS = 12
CLONES = 3
SAY = {"hours": 0, "agent": "Codex", "action": "say", "title": "x", "new": True}
OWN, ALPHA, OLD = ({**SAY, "topic": one} for one in ("own1", "alpha", "old"))
MERGE, REBASE = ({"words": PLAIN[one]} for one in (1, 5))

# What is distinguished from the dice: what was found before by the name of what was
# wrong, and what they come to too seldom.
STORIES: dict[str, tuple[Start, Sequence[Step]]] = {
    "the index did not know a file that came alone": (
        Start((True, True)),
        [Step(1, "put", 1, {"name": "docs/bin", "data": "\0", "commit": True})],
    ),
    "a new store did not show what a plain merge brought": (
        Start((True, False)),
        [
            Step(1, "write", 0, ALPHA),
            Step(2, "write", 1, OWN),
            Step(3, "sync", 0),
            Step(4, "merge", 1, MERGE),
        ],
    ),
    "a log that came took the place of an older tool's page": (
        Start((True, True), old=True),
        [
            Step(1, "write", 1, OLD),
            Step(2, "sync", 0),
            Step(3, "merge", 1, REBASE),
            Step(4, "sync", 1),
        ],
    ),
    "a page that git gave other line ends was there twice": (
        Start((True, True), old=True),
        [Step(1, "merge", 1, REBASE)],
    ),
    "a plain merge brings a log to an older tool's page": (
        Start((True, True), old=True),
        [
            Step(1, "write", 1, OLD),
            Step(2, "sync", 0),
            Step(3, "merge", 1, REBASE),
            Step(4, "sync", 1),
            Step(5, "merge", 0, MERGE),
            Step(6, "settle", 0),
        ],
    ),
    "someone deletes all logs": (
        Start((True, True)),
        [
            Step(1, "write", 0, ALPHA),
            Step(2, "sync", 0),
            Step(3, "sync", 1),
            Step(4, "rewrite", 0, {"how": "remove"}),
            Step(5, "merge", 1, MERGE),
            Step(6, "sync", 1),
        ],
    ),
    "a clone got a page without its log": (
        Start((True, True, False), old=True),
        [
            Step(1, "write", 0, ALPHA),
            Step(2, "race", 0, {"other": 1}),
            Step(3, "rewrite", 2, {"how": "restart"}),
            Step(4, "look", 2),
            Step(5, "write", 2, ALPHA),
        ],
    ),
    "git drops what it thinks that others dropped": (
        Start((True, True)),
        [
            Step(1, "write", 0, ALPHA),
            Step(2, "sync", 0),
            Step(3, "rewrite", 0, {"how": "back"}),
            Step(4, "write", 0, OWN),
            Step(5, "merge", 0, {"words": PLAIN[4]}),
        ],
    ),
}


@pytest.fixture(scope="module")
def machinery() -> Iterator[Machinery]:
    made = Machinery()
    yield made
    made.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_happens_nothing_is_lost_and_all_becomes_one(
    machinery: Machinery, part: int
) -> None:
    for seed in range(SEED + part, SEED + ROUNDS, PARTS):
        result, script = simulation.play(machinery, seed, STEPS, CLONES)
        assert result.wrong == (), f"WC_TEST_SEED={seed}\n{script}"


@pytest.mark.parametrize("name", STORIES)
def test_a_story(machinery: Machinery, name: str) -> None:
    assert machinery.play(*STORIES[name]).wrong == ()


@pytest.mark.parametrize("op", LAST_READ)
def test_a_file_that_cannot_be_read_for_a_moment_leaves_nothing_uncommitted(
    machinery: Machinery, op: str
) -> None:
    for at in range(1, LAST_READ[op], 1 if ALL else 17):
        hit = ("unreadable", "files", at)
        steps = [Step(1, "write", 0, ALPHA), Step(2, op, 0, {}, hit)]
        result = machinery.play(Start((True,)), steps)
        assert result.wrong == (), at


def test_the_simulation_sees_what_is_wrong(machinery: Machinery) -> None:
    world = machinery.world(Start((True, True)))
    known = [invariants.Known(clone) for clone in world.clones]
    one, other = world.clones
    told = []
    for step in (
        Step(1, "write", 0, ALPHA),
        Step(2, "write", 0, {**ALPHA, "title": "y"}),
    ):
        told.append(world.do(step))
        assert known[0].look(told[-1]) == []
    assert (one.sync(), other.sync()) == ("ok", "ok")
    assert invariants.settled(one) == known[1].look("") == []
    log = one.layout.log("alpha")
    with open(log, "rb") as file:
        first, second = file.read().splitlines(keepends=True)
    for lines in (first, first + second.replace(b"y", b"z"), first + second * 2):
        with open(log, "wb") as file:
            file.write(lines)
        assert [*known[0].look(""), *invariants.settled(one)]
    one.git("update-ref", REF, f"{REF}~1")
    assert invariants.final(world, known, once=True)


def test_a_script_does_what_its_seed_did(machinery: Machinery) -> None:
    dice = random.Random(SEED)
    start = chance.start_of(dice, CLONES)
    steps = list(chance.steps_of(dice, start, STEPS))
    program = simulation.script(start, steps)
    assert eval(program[program.index("[") : program.rindex("]") + 1]) == steps
    counts = [machinery.play(start, steps).counts for _ in range(2)]
    assert counts[0] == counts[1]

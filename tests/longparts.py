"""The parts of the long runs: the steps of each, the promises that it is about, and
what it covers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import longresults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
WORKERS = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
# As in `bin/test`: the usual tests wait for processes.
MORE_WORKERS = str(int(WORKERS) + 2)
# Longer than any single test of a long run takes.
PATIENCE = "faulthandler_timeout=14400"
WORLDS, WORLDS_IN_A_STEP = 20_000, 200
LARGE, LARGE_IN_A_STEP = 140, 10
CASES, CASES_IN_A_STEP = 20_000, 5_000
FUZZED = (
    *("codec", "markdown", "meta", "cursor", "settings", "git", "times", "text"),
    *("words", "statusline"),
)
MUTATED = (
    *("moves", "proposals", "model", "folding", "codec", "entryfields", "jsontext"),
    "plan",
)
# What tests start as programs. The commands are those that they use: others may change
# without a result becoming out of date.
COMMAND = (
    *("bin/wc", "wc_cli.start", "wc_cli.run.main", "wc_cli.run.background"),
    *(
        "wc_cli.run.exchanging",
        "wc_cli.run.table",
        "wc_cli.ledger.settle",
        "wc_cli.ledger.sync",
    ),
    *("wc_cli.commands.writing", "wc_cli.commands.reading", "wc_cli.commands.closing"),
    *("wc_cli.commands.correcting", "wc_cli.commands.doctor", "wc_cli.commands.sync"),
    *("wc_cli.commands.stores", "wc_cli.commands.session", "wc_cli.commands.edits"),
)
PROMPT = ("bin/wc-statusline", "wc_cli.commands.statusline")
SERVER = ("wc_observe",)
EVERYTHING = ("bin", "src", "pyproject.toml", "requirements-dev.lock")


class Step(NamedTuple):
    """A program that passes or fails, with numbers for it in the environment; how much
    it does, or 0 if its output says that."""

    name: str
    words: tuple[str, ...]
    numbers: Mapping[str, str] = {}
    amount: int = 0


class Part(NamedTuple):
    """Steps that prove some of the promises; none, if it is about all of them.

    ``unit`` is what they count, ``covers`` what they test beside what they import.
    """

    name: str
    promises: tuple[int, ...]
    about: str
    steps: tuple[Step, ...]
    covers: tuple[str, ...] = ()
    unit: str = "tests"

    def files(self) -> list[str]:
        """Return the files that this part covers."""
        tests = {
            word.partition("::")[0]
            for step in self.steps
            for word in step.words
            if word.startswith("tests/")
        }
        modules = {step.words[1] for step in self.steps} - {"pytest"}
        return longresults.files((*self.covers, *tests, *modules))


def _tests(*words: str, alone: bool = False, **numbers: str) -> Step:
    workers = () if alone else ("--numprocesses", WORKERS, "--dist", "worksteal")
    words = ("-m", "pytest", "--long", "-o", PATIENCE, "-s", *workers, *words)
    return Step("tests", words, numbers)


def _contract(*names: str, alone: bool = False) -> tuple[Step, ...]:
    """Return a step for each of these files in tests/contract."""
    return tuple(
        _tests(f"tests/contract/test_{name}.py", alone=alone)._replace(name=name)
        for name in names
    )


def _folders(*names: str) -> tuple[Step, ...]:
    """Return a step for each of these folders and for each folder in them."""
    steps = []
    for name in names:
        inner = sorted(path.parent for path in (ROOT / name).glob("*/__init__.py"))
        top = sorted((ROOT / name).glob("test_*.py"))
        groups = {name: top, **{f"{name}/{path.name}": [path] for path in inner}}
        for label, paths in groups.items():
            if paths:
                words = (str(path.relative_to(ROOT)) for path in paths)
                steps.append(_tests(*words)._replace(name=label))
    return tuple(steps)


def _worlds() -> Iterator[Step]:
    test = "test_whatever_happens_nothing_is_lost_and_all_becomes_one"
    for first in range(1, WORLDS, WORLDS_IN_A_STEP):
        count = str(WORLDS_IN_A_STEP)
        step = _tests(
            f"tests/contract/test_simulation.py::{test}",
            WC_TEST_SEED=str(first),
            WC_TEST_ROUNDS=count,
        )
        yield step._replace(name=f"from {first:05}", amount=WORLDS_IN_A_STEP)


def _large_worlds() -> Iterator[Step]:
    for first in range(1, LARGE, LARGE_IN_A_STEP):
        numbers = (str(first), str(LARGE_IN_A_STEP), "60", "6")
        words = ("-m", "tests.contract.simulation", *numbers)
        yield Step(f"from {first:03}", words, amount=LARGE_IN_A_STEP)


def _fuzzing() -> Iterator[Step]:
    cases = str(CASES_IN_A_STEP)
    words = ("-m", "tests.contract.fuzzer", "--cases", cases, "--seed", "long")
    for target in FUZZED:
        for first in range(0, CASES, CASES_IN_A_STEP):
            numbered = (*words, "--first", str(first), target)
            yield Step(f"{target} from {first:05}", numbered, amount=CASES_IN_A_STEP)


def _mutation() -> Iterator[Step]:
    for module in MUTATED:
        yield Step(module, ("-m", "tests.mutation", module))


PARTS = (
    Part(
        "crash",
        (1, 2, 5),
        "each call of a write, a settling, a repair fails or is the last",
        _contract("crash"),
        (*COMMAND, *PROMPT),
    ),
    Part("kernel", (1, 2), "the same by strace, in the real command, git included",
         _contract("kernel", "disk"), COMMAND),
    Part("kills", (1, 3, 5), "300 kills at random under load",
         _contract("kills", alone=True), COMMAND),
    Part("races", (3, 4), "crowds of writers; the same ball at the same instant",
         _contract("races", "same_instant", "clocks", "locks"), COMMAND),
    Part("claims", (), "8 processes claim at once, 50 times, here and at a remote",
         (_tests("tests/cli/claims"),), COMMAND),
    Part("readers", (6,), "every state seen while others write was one",
         _contract("readers_during_writes", "torn_states"),
         (*COMMAND, *PROMPT, *SERVER)),
    Part("damage", (6,), "every kind of damage; a log of 100 MB",
         _contract("damage", "one_bad_thing"),
         (*COMMAND, *PROMPT, *SERVER)),
    Part("outside", (7,), "links put there during commands; hostile text",
         (*_contract("outside", "hostile", "terminal"),
          _tests("tests/observe/test_hostile.py")._replace(name="server")),
         EVERYTHING),
    Part("fuzz", (6, 7), f"{CASES:,} cases of everything that reads others' bytes",
         tuple(_fuzzing()), ("wc_cli", *PROMPT), "cases"),
    Part("merge", (8,), "any two stores become one", (_tests("tests/cli/merge"),),
         COMMAND),
    Part("worlds", (8, 9), f"{WORLDS:,} simulated worlds of clones and a remote",
         tuple(_worlds()), (), "worlds"),
    Part("large-worlds", (8, 9),
         f"{LARGE} of them, with up to 60 steps and 6 clones",
         tuple(_large_worlds()), (), "worlds"),
    Part("simulation", (8, 9), "stories, and reads that fail one by one",
         (_tests("tests/contract/test_simulation.py", WC_TEST_ROUNDS="16"),)),
    Part("sync-kills", (8, 9, 11), "wc sync killed at each call of git",
         _contract("sync_kills"), COMMAND),
    Part("carrying", (8, 9, 11), "wc sync that carries, harvests, is killed; no rights",
         _contract("carrying"), COMMAND),
    Part("git", (8, 9, 10, 11), "users' git, hooks and settings; many remotes",
         _contract("plain_git", "git_around", "two_sides", "transports", "refusals",
                   "sending"), COMMAND),
    Part("coverage", (), "the usual tests reach 95 % of the code",
         (Step("tests", ("-m", "pytest", "-n", MORE_WORKERS, "--cov")),),
         (*EVERYTHING, "tests")),
    Part("properties", (), "1,000 examples of each property",
         _folders("tests/core", "tests/observe", "tests/cli"), EVERYTHING),
    Part("programs", (), "environments by pip and by uv; the server benches",
         _folders("tests/bin"), EVERYTHING),
    Part("clients", (), "every client, the large ones too (600 MB from npm)",
         (_tests("tests/clients"),), EVERYTHING),
    Part("mutation", (), "every small change to the core's rules turns a test red",
         tuple(_mutation()),
         ("wc_core.ledger.threads", "wc_cli.ledger.merge",
          "tests/core/threads", "tests/cli/merge"),
         "changes"),
)  # fmt: skip

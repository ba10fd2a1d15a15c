"""The long runs, part by part; run by ``bin/test --long``.

    bin/test --long              every part, from where it was stopped
    bin/test --long PART...      these parts
    bin/test --long --list       the parts, and what has passed

A part has steps. A step that passed is noted in ``.wc-long`` for the files of this
checkout as they are, and is not run again until one of them changes. The output
of each step is beside its note. The summary tells by promise, those of
docs/reliability.md, what passed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
NOTES = ROOT / ".wc-long"
WORKERS = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
# Longer than any single test of a long run takes.
PATIENCE = "faulthandler_timeout=14400"
WORLDS, WORLDS_IN_A_STEP = 20_000, 400
CASES = 20_000
FUZZED = (
    *("codec", "markdown", "meta", "cursor", "settings", "git", "times", "text"),
    *("words", "statusline"),
)
MUTATED = (
    *("moves", "proposals", "model", "folding", "codec", "entryfields", "jsontext"),
    "plan",
)
PASSED, FAILED, NOT_RUN = "passed", "FAILED", "not run"


class Step(NamedTuple):
    """A program that passes or fails, with numbers for it in the environment."""

    name: str
    words: tuple[str, ...]
    numbers: Mapping[str, str] = {}


class Part(NamedTuple):
    """Steps that prove some of the promises; none, if it is about all of them."""

    name: str
    promises: tuple[int, ...]
    about: str
    steps: tuple[Step, ...]


def _tests(*words: str, alone: bool = False, **numbers: str) -> Step:
    workers = () if alone else ("--numprocesses", WORKERS, "--dist", "worksteal")
    words = ("-m", "pytest", "--long", "-o", PATIENCE, "-s", *workers, *words)
    return Step("tests", words, numbers)


def _contract(*names: str, alone: bool = False) -> tuple[Step, ...]:
    files = (f"tests/contract/test_{name}.py" for name in names)
    return (_tests(*files, alone=alone),)


def _worlds() -> Iterator[Step]:
    for first in range(1, WORLDS, WORLDS_IN_A_STEP):
        test = "test_whatever_happens_nothing_is_lost_and_all_becomes_one"
        seed, count = str(first), str(WORLDS_IN_A_STEP)
        step = _tests(
            f"tests/contract/test_simulation.py::{test}",
            WC_TEST_SEED=seed,
            WC_TEST_ROUNDS=count,
        )
        yield step._replace(name=f"worlds-{first}")


def _fuzzing() -> Iterator[Step]:
    words = ("-m", "tests.contract.fuzzer", "--cases", str(CASES), "--seed", "long")
    for target in FUZZED:
        yield Step(target, (*words, target))


def _mutation() -> Iterator[Step]:
    for module in MUTATED:
        yield Step(module, ("-m", "tests.mutation", module))


PARTS = (
    Part(
        "crash",
        (1, 2, 5),
        "each call of a write, a settling, a repair fails or is the last",
        _contract("crash"),
    ),
    Part("kernel", (1, 2), "the same by strace, in the real command, git included",
         _contract("kernel", "disk")),
    Part("kills", (1, 3, 5), "300 kills at random under load",
         _contract("kills", alone=True)),
    Part("races", (3, 4), "crowds of writers; the same ball at the same instant",
         _contract("races", "same_instant", "clocks", "locks")),
    Part("claims", (), "8 processes claim at once, 50 times, here and at a remote",
         (_tests("tests/cli/claims"),)),
    Part("readers", (6,), "every state seen while others write was one",
         _contract("readers_during_writes", "torn_states")),
    Part("damage", (6,), "every kind of damage; a log of 100 MB",
         _contract("damage", "one_bad_thing", "faults_of_others")),
    Part("outside", (7,), "links put there during commands; hostile text",
         (_tests("tests/contract/test_outside.py", "tests/contract/test_hostile.py",
                 "tests/contract/test_terminal.py", "tests/observe/test_hostile.py"),)),
    Part("fuzz", (6, 7), f"{CASES:,} cases of everything that reads others' bytes",
         tuple(_fuzzing())),
    Part("merge", (8,), "any two stores become one", (_tests("tests/cli/merge"),)),
    Part("worlds", (8, 9), f"{WORLDS:,} simulated worlds of clones and a remote",
         tuple(_worlds())),
    Part("large-worlds", (8, 9), "140 of them, with up to 60 steps and 6 clones",
         (Step("seeds", ("-m", "tests.contract.simulation", "1", "140", "60", "6")),)),
    Part("simulation", (8, 9), "stories, and reads that fail one by one",
         (_tests("tests/contract/test_simulation.py", WC_TEST_ROUNDS="16"),)),
    Part("sync-kills", (8, 9, 11), "wc sync killed at each call of git",
         _contract("sync_kills")),
    Part("git", (8, 9, 10, 11), "users' git, hooks and settings; many remotes",
         _contract("plain_git", "git_around", "two_sides", "transports", "refusals",
                   "sending")),
    Part("coverage", (), "the usual tests reach 95 % of the code",
         (Step("tests", ("-m", "pytest", "-n", WORKERS, "--cov")),)),
    Part("properties", (), "1,000 examples of each property",
         (_tests("tests/core", "tests/observe", "tests/cli"),)),
    Part("programs", (), "environments by pip and by uv; the server benches",
         (_tests("tests/bin"),)),
    Part("recipes", (),
         "the changes that docs/architecture.md describes, made and tested",
         (_tests("tests/test_recipes.py"),)),
    Part("clients", (), "every client, the large ones too (500 MB from npm)",
         (_tests("tests/clients"),)),
    Part("mutation", (), "every small change to the core's rules turns a test red",
         tuple(_mutation())),
)  # fmt: skip


# --- what has passed -------------------------------------------------------------


def tree() -> str:
    """Return git's id of all files of this checkout as they are."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "GIT_INDEX_FILE": f"{folder}/index"}
        for words in (["add", "--all"], ["write-tree"]):
            done = subprocess.run(
                ["git", *words],
                cwd=ROOT,
                env=env,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
    return done.stdout.strip()


class Notes:
    """What became of each step, in files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def log(self, part: Part, step: Step) -> Path:
        """Return where the output of a step goes."""
        return self.folder / f"{part.name}-{step.name}.log"

    def state(self, part: Part, step: Step) -> str:
        """Return `PASSED`, `FAILED` or `NOT_RUN`."""
        note = self.log(part, step).with_suffix(".state")
        return note.read_text() if note.exists() else NOT_RUN

    def note(self, part: Part, step: Step, state: str) -> None:
        """Note what became of a step."""
        self.log(part, step).with_suffix(".state").write_text(state)

    def states(self, part: Part) -> str:
        """Return what became of a part, in words."""
        states = [self.state(part, step) for step in part.steps]
        if len(set(states)) == 1:
            return states[0]
        counts = ((state, states.count(state)) for state in (PASSED, FAILED, NOT_RUN))
        return ", ".join(f"{count} {state}" for state, count in counts if count)


# --- running ---------------------------------------------------------------------


def run(part: Part, step: Step, notes: Notes) -> bool:
    """Run a step, unless it has passed; return whether it has."""
    title = f"{part.name}/{step.name}"
    if notes.state(part, step) == PASSED:
        print(f"{title}: passed before", flush=True)
        return True
    print(f"{title}: ", end="", flush=True)
    begun = time.monotonic()
    log = notes.log(part, step)
    with log.open("wb") as output:
        code = subprocess.run(
            [sys.executable, *step.words],
            cwd=ROOT,
            env={**os.environ, **step.numbers, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    state = PASSED if code == 0 else FAILED
    notes.note(part, step, state)
    last = log.read_text(errors="replace").rstrip().rpartition("\n")[2]
    print(f"{state} in {time.monotonic() - begun:.0f} s: {last[:120]}", flush=True)
    if code:
        print(f"  {log}", flush=True)
    return code == 0


def promises() -> dict[int, str]:
    """Return the promises of docs/reliability.md by their numbers."""
    text = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    found = re.findall(r"^(\d+)\. \*\*(.+?)\*\*", text, re.MULTILINE)
    return {int(number): words for number, words in found}


def summary(notes: Notes) -> Iterator[str]:
    """Yield for each promise the parts that are about it, and how they ended."""
    for number, words in promises().items():
        yield f"{number}. {words}"
        for part in PARTS:
            if number in part.promises:
                yield f"   {part.name}: {notes.states(part)} ({part.about})"
    yield "All of it"
    for part in PARTS:
        if not part.promises:
            yield f"   {part.name}: {notes.states(part)} ({part.about})"


def main(words: Sequence[str]) -> int:
    """Run the parts of these names, or all; return an exit status."""
    names = {part.name for part in PARTS}
    unknown = [word for word in words if word not in {*names, "--list"}]
    if unknown:
        print(f"bin/test --long: no such part: {unknown[0]}", file=sys.stderr)
        print(f"There are: {', '.join(part.name for part in PARTS)}", file=sys.stderr)
        return 2
    notes = Notes(NOTES / tree())
    notes.folder.mkdir(parents=True, exist_ok=True)
    chosen = [part for part in PARTS if not words or part.name in words]
    failed = False
    try:
        for part in chosen:
            for step in part.steps:
                failed |= not run(part, step, notes)
    except KeyboardInterrupt:
        print("\nstopped; the same again goes on from here", file=sys.stderr)
        return 130
    print("\n".join(["", *summary(notes)]))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Changes the rules of the core bit by bit; each change must turn a test red.

Run by ``bin/test --long mutation``, as ``python -m tests.mutation MODULE``. mutmut
makes the changes in a copy of the checkout and runs the tests of the module for
each. A change that no test notices has to be explained in the table of
docs/reliability.md; what the table explains has to survive.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.longparts import WORKERS

ROOT = Path(__file__).resolve().parents[1]
# A change that lets a test wait forever is noticed as well.
NOTICED = frozenset({"killed", "timeout", "segfault"})
PAGE = ROOT / "docs/reliability.md"
MUTMUT = (sys.executable, "-m", "mutmut")


class Target(NamedTuple):
    """A module, and the tests that its changes have to turn red."""

    file: str
    tests: tuple[str, ...]


TARGETS = {
    "moves": Target("src/wc_core/ledger/threads/moves.py", ("tests/core/threads",)),
    "proposals": Target(
        "src/wc_core/ledger/threads/proposals.py", ("tests/core/threads",)
    ),
    "model": Target("src/wc_core/ledger/threads/model.py", ("tests/core/threads",)),
    "folding": Target("src/wc_core/ledger/threads/folding.py", ("tests/core/threads",)),
    "codec": Target("src/wc_core/ledger/threads/codec.py", ("tests/core/threads",)),
    "entryfields": Target(
        "src/wc_core/ledger/threads/entryfields.py", ("tests/core/threads",)
    ),
    "jsontext": Target(
        "src/wc_core/ledger/threads/jsontext.py", ("tests/core/threads",)
    ),
    "plan": Target("src/wc_cli/ledger/merge/plan.py", ("tests/cli/merge",)),
}


class Mutant(NamedTuple):
    """A change: in which function, what was there, and what is there instead."""

    function: str
    before: str
    after: str


def explained(module: str) -> set[Mutant]:
    """Return the changes to a module that need not turn a test red."""
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(
        rf"^\| `{module}\.(\w+)` \| `(.*?)` \| `(.*?)` \| .+ \|$", text, re.MULTILINE
    )
    return {Mutant(*(cell.replace("\\|", "|") for cell in row)) for row in rows}


def copy_to(folder: Path, target: Target) -> None:
    """Copy the checkout, with settings for mutmut."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(
            f"\n[tool.mutmut]\nsource_paths = [{str(Path(target.file).parents[1])!r}]\n"
            f"only_mutate = [{target.file!r}]\n"
            f"pytest_add_cli_args_test_selection = {list(target.tests)!r}\n"
            # To look for the smallest example that fails takes longer than all else.
            'pytest_add_cli_args = ["--hypothesis-profile=any"]\n'
            'also_copy = ["bin", "docs", "src", "tests", "pyproject.toml"]\n'
        )


def states(folder: Path) -> dict[str, str]:
    """Return what became of each change, by mutmut's names for both."""
    lines = _mutmut(folder, "results", "--all", "true").splitlines()
    named = (line.strip().partition(": ") for line in lines)
    return {name: state for name, separator, state in named if separator}


def mutant(name: str, diff: str) -> Mutant:
    """Return what mutmut shows as a difference between two functions."""
    # module.x_function__mutmut_1, or module.xǁClassǁmethod__mutmut_1
    mangled = name.rpartition("__mutmut_")[0].rpartition(".")[2]
    function = mangled.rpartition("ǁ")[2].removeprefix("x_")
    lines = diff.splitlines()
    before = [line[1:].strip() for line in lines if re.match(r"-(?!--)", line)]
    after = [line[1:].strip() for line in lines if re.match(r"\+(?!\+\+)", line)]
    return Mutant(function, " ".join(before), " ".join(after))


def _mutmut(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [*MUTMUT, *words], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def main(module: str) -> int:
    """Change a module in every way; return whether a change is not explained."""
    target = TARGETS[module]
    with tempfile.TemporaryDirectory(prefix="wc-mutation-") as name:
        folder = Path(name)
        copy_to(folder, target)
        words = [*MUTMUT, "run", "--max-children", WORKERS]
        subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        found = states(folder)
        alive = {
            mutant(name, _mutmut(folder, "show", name))
            for name, state in found.items()
            if state not in NOTICED
        }
    known = explained(module)
    for one in sorted(alive - known):
        print(f"not noticed in {one.function}:\n  - {one.before}\n  + {one.after}")
    for one in sorted(known - alive):
        print(f"explained, and noticed by a test: {one}")
    explained_ones = len(alive & known)
    print(f"{module}: {len(found)} changes, {len(alive)} not noticed", end=", ")
    print(f"{explained_ones} of these explained")
    return int(alive != known or not found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

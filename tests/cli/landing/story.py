"""A repository with approved branches, with which the tests of landing begin.

Most tests begin alike, so a beginning is made once and then copied. All have the same
path, because worktrees and the store know their absolute paths.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import Machine
from tests.contract.inprocess import Here
from wc_cli.edits.landing.building import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUMBERS = "".join(f"{number}\n" for number in range(1, 21))
CODEX = ("--as", "Codex")


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="wc-tests-begun-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def empty_machine() -> Machine:
    """A machine at the path that all of them have; the one before is gone."""
    shutil.rmtree(_folder() / "now", ignore_errors=True)
    return Machine(_folder() / "now")


@functools.cache
def _kept(beginning: Callable[[Machine], Here]) -> Path:
    """A copy of a machine after its beginning."""
    machine = empty_machine()
    beginning(machine).git("repack", "-adq")  # fewer files to copy
    copy = _folder() / f"{beginning.__module__}.{beginning.__name__}"
    return shutil.copytree(machine.root, copy, symlinks=True)


def begun(machine: Machine, beginning: Callable[[Machine], Here]) -> Here:
    """The main worktree of an `empty_machine` after a beginning."""
    copy = _kept(beginning)
    shutil.rmtree(machine.root)
    shutil.copytree(copy, machine.root, symlinks=True)
    return Here(machine, machine.root / "app")


def begin(machine: Machine) -> Here:
    """The main worktree, with two files on main."""
    here = Here(machine, machine.repo().path)
    write(here, "notes.txt", NUMBERS)
    write(here, "a.txt", "a\n")
    here.git("add", ".")
    here.git("commit", "-qm", "files")
    return here


def _begin_with_login(machine: Machine) -> Here:
    here = begin(machine)
    work(here, "login", 3)
    return here


def login(here: Here) -> Here:
    """Begin again, with an approved branch that changes line 3: as `work` does it, but
    copied. Returns its worktree."""
    return worktree_of(begun(here.machine, _begin_with_login), "login")


def worktree_of(here: Here, topic: str) -> Here:
    """The worktree that `work` has made."""
    return Here(here.machine, here.path.parent / f"app-wt-{topic}")


def write(here: Here, name: str, text: str) -> None:
    (here.path / name).write_text(text, "utf-8")


def change(here: Here, line: int, text: str, name: str = "notes.txt") -> None:
    """Commit a change of one line of a file."""
    path = here.path / name
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines[line - 1] = f"{text}\n"
    path.write_text("".join(lines), "utf-8")
    here.git("commit", "-qm", f"{text} in line {line}", "--", name)


def work(
    here: Here, topic: str, line: int, text: str = "", *, approved: bool = True
) -> Here:
    """A worktree with Codex's work on a topic, and its thread, approved by Pat."""
    tree = here.worktree(f"app-wt-{topic}", topic)
    change(tree, line, text or topic)
    tree.ok("new", topic, "-m", f"Do {topic}", "--to", "Pat", *CODEX)
    if approved:
        here.ok("say", topic, "--approve", "--to", "Pat")
    return tree


def approve(here: Here, topic: str = "login") -> None:
    """Approve what the branch of a topic has now, as Pat."""
    here.ok("say", topic, "--approve", "--to", "Pat")


def landed_in_each_way(here: Here, tree: Here) -> Iterator[tuple[str, str]]:
    """Land the branch of a worktree in each way, each time on the same commit, and for
    a thread of its own. Yields method and topic while it has landed."""
    before = head(here)
    for method in METHODS:
        topic = f"by-{method}"
        tree.ok("new", topic, "-m", topic, "--to", "Pat", *CODEX)
        here.ok("say", topic, "--approve", "--to", "Pat")
        here.ok("land", topic, f"--{method}")
        yield method, topic
        here.git("reset", "-q", "--hard", before)


def head(here: Here, ref: str = "main") -> str:
    return here.git("rev-parse", ref).strip()


def line_of(here: Here, number: int, ref: str = "main") -> str:
    return here.git("show", f"{ref}:notes.txt").splitlines()[number - 1]


def author(here: Here, name: str, subject: str = "") -> None:
    """Give the last commit another author, and perhaps another subject."""
    words = ("--no-edit",) if not subject else ("-m", subject, "-m", "Why.")
    here.git("commit", "-q", "--amend", *words, f"--author={name} <{name}@example.com>")

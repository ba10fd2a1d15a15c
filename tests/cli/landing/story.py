"""A repository with approved branches, with which the tests of landing begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

NUMBERS = "".join(f"{number}\n" for number in range(1, 21))
CODEX = ("--as", "Codex")


def begin(machine: Machine) -> Here:
    """The main worktree, with two files on main."""
    here = Here(machine, machine.repo().path)
    write(here, "notes.txt", NUMBERS)
    write(here, "a.txt", "a\n")
    here.git("add", ".")
    here.git("commit", "-qm", "files")
    return here


def write(here: Here, name: str, text: str) -> None:
    (here.path / name).write_text(text, "utf-8")


def change(here: Here, line: int, text: str, name: str = "notes.txt") -> None:
    """Commit a change of one line of a file."""
    path = here.path / name
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines[line - 1] = f"{text}\n"
    path.write_text("".join(lines), "utf-8")
    here.git("add", name)
    here.git("commit", "-qm", f"{text} in line {line}")


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


def head(here: Here, ref: str = "main") -> str:
    return here.git("rev-parse", ref).strip()


def line_of(here: Here, number: int, ref: str = "main") -> str:
    return here.git("show", f"{ref}:notes.txt").splitlines()[number - 1]


def author(here: Here, name: str, subject: str = "") -> None:
    """Give the last commit another author, and perhaps another subject."""
    words = ("--no-edit",) if not subject else ("-m", subject, "-m", "Why.")
    here.git("commit", "-q", "--amend", *words, f"--author={name} <{name}@example.com>")

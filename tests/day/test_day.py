"""The day in `day.toml`, typed into bash, zsh and fish."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.day.windows import SHELLS, Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Machine

STEPS = Path(__file__).with_name("day.toml")
# What a person's editor leaves behind.
_EDITOR = """#!/bin/sh
printf 'Down\\n\\nTo whole cents.\\n' >"$1"
"""
# Variables of the tests' machine that hold a person's wc back.
_HELD_BACK = ("WATERCOOLER_SYNC", "WATERCOOLER_MEANING", "WATERCOOLER_DETECT")


class Step(NamedTuple):
    """A table of the file; see its head."""

    window: str
    typed: str = ""
    seen: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    code: int = 0
    stays: bool = False


def steps(shell: str) -> Iterator[Step]:
    """The steps of the day, as they are in a shell."""
    text = STEPS.read_text(encoding="utf-8").replace("SHELL", shell)
    keys = {"in", "type", "see", "not", "exit", "stays"}
    for table in tomllib.loads(text)["step"]:
        assert table.keys() <= keys, table
        yield Step(
            table["in"],
            table.get("type", ""),
            tuple(table.get("see", ())),
            tuple(table.get("not", ())),
            table.get("exit", 0),
            table.get("stays", False),
        )


@pytest.fixture
def windows(machine: Machine, shell: str) -> Iterator[Windows]:
    for name in _HELD_BACK:
        del machine.env[name]
    program = shutil.which(shell) or ""
    machine.env |= {"PATH": "/usr/bin:/bin", "SHELL": program, "TERM": "xterm"}
    windows = Windows(machine, shell)
    editor = machine.home / ".local/bin/type-for-pat"
    editor.write_text(_EDITOR)
    editor.chmod(0o755)
    shop = machine.repo("shop")
    (shop.path / "README.md").write_text("# Shop\n\nPrices.\n")
    shop.git("add", "README.md")
    shop.git("commit", "-q", "-m", "Say what it is")
    for branch in ("login", "review"):
        shop.worktree(f"shop-wt-{branch}", branch)
    yield windows
    windows.close()


# One shell is enough for each run: the others take as long again.
@pytest.mark.parametrize(
    "shell",
    [
        pytest.param(name, marks=() if name == "bash" else pytest.mark.long)
        for name in SHELLS
    ],
)
def test_a_day(windows: Windows, shell: str) -> None:
    for step in steps(shell):
        shown, code = windows.do(step.window, step.typed, step.seen, stays=step.stays)
        report = f"{shell}, {step.window}: {step.typed}\n{shown}"
        flat = " ".join(shown.split())
        for text in step.seen:
            assert text in flat, f"no {text!r} at {report}"
        for text in step.unseen:
            assert text not in flat, f"{text!r} at {report}"
        assert code in {None, step.code}, f"exit {code} at {report}"


def test_a_day_has_forty_commands() -> None:
    assert sum(bool(step.typed) for step in steps("bash")) >= 40

"""The tests cannot reach the home folder of the person who runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import HomeTouchedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Machine

REACHING: dict[str, Callable[[str], object]] = {
    "open": lambda path: Path(path).read_text(),
    "os.open": lambda path: os.open(path, os.O_RDONLY),
    "listdir": os.listdir,
    "scandir": os.scandir,
    "mkdir": os.mkdir,
    "makedirs": lambda path: os.makedirs(f"{path}/deeper/still"),
    "remove": os.remove,
    "rename": lambda path: os.rename(path, f"{path}.old"),
    "rename onto": lambda path: os.rename("/nonexistent", path),
    "symlink": lambda path: os.symlink("/nonexistent", path),
    "rmtree": shutil.rmtree,
    "bytes": lambda path: os.listdir(os.fsencode(path)),
}


@pytest.mark.parametrize("name", [".watercooler", ".gitconfig", ".claude"])
@pytest.mark.parametrize("reach", REACHING)
def test_the_real_home_is_out_of_reach(
    real_homes: tuple[str, ...], name: str, reach: str
) -> None:
    for home in real_homes:
        with pytest.raises(HomeTouchedError, match=name):
            REACHING[reach](f"{home}/{name}")


def test_a_like_named_file_is_not_a_person_s(real_homes: tuple[str, ...]) -> None:
    with pytest.raises(FileNotFoundError):
        os.listdir(f"{real_homes[0]}/.watercooler-of-nobody")


def test_home_is_somewhere_else_for_us_and_our_children(
    real_homes: tuple[str, ...], machine: Machine
) -> None:
    words = [sys.executable, "-c", "import os; print(os.path.expanduser('~'))"]
    child = subprocess.run(words, capture_output=True, text=True, check=True)
    for home in (os.path.expanduser("~"), child.stdout.strip(), str(machine.home)):
        assert os.path.realpath(home) not in real_homes


def test_nothing_says_that_an_agent_runs_us(machine: Machine) -> None:
    names = ("WATERCOOLER_SYNC", "WATERCOOLER_DETECT", "WATERCOOLER_MEANING")
    allowed = dict.fromkeys(names, "off")
    for env in (dict(os.environ), machine.env):
        assert not [name for name in env if name.startswith(("CLAUDE", "CODEX"))]
        ours = {name for name in env if name.startswith("WATERCOOLER_")}
        assert not ours or {name: env[name] for name in ours} == allowed

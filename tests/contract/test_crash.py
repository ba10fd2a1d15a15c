"""Whatever goes wrong at whichever system call: what was acknowledged stays,
once; what was refused is not there; the next write works at once; no byte is
lost; in the end every projection is the fold of its log, and nothing is left
lying about.

Not by luck: calls are hit in turn, see `crasher`: some of them here, every one in the
long run, also those at which nothing can happen that did not happen before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.contract.scenes import TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MEMORY = "/dev/shm"
KILLS = ("die-before", "die-half")
GIT_KILLS = ("leave-git", "kill-git")
ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EROFS", "EACCES")
_NOTE = "note: there is no git repository here"
# The model of a disk has to know what a handle is of.
POWER = ("power",) if os.path.isdir("/proc/self/fd") else ()
EVERYTHING = ("die-before", "die-after", "die-half", "short", *ERRORS)


NAMES = ("crash", "threads", "baseline", "graph", ".watercooler")
MARKER, SYNC = f"/unsettled/{TOPIC}", "fsync"


class Plan(NamedTuple):
    """What happens in a scene, and how many calls it has at least."""

    calls: int
    actions: tuple[str, ...]


PLANS = {
    "first": Plan(60, (*EVERYTHING, *POWER)),
    "next": Plan(15, (*EVERYTHING, *POWER, "unreadable")),
    "import": Plan(60, (*KILLS, "short", "ENOSPC", *POWER)),
    "read": Plan(20, (*KILLS, "EIO", *POWER, "unreadable")),
    "checkout": Plan(20, (*KILLS, *GIT_KILLS, "EIO")),
    "adopt": Plan(40, (*KILLS, *GIT_KILLS, "EIO", "ENOSPC")),
    "settle": Plan(100, (*KILLS, *GIT_KILLS, "ENOSPC")),
    "repair": Plan(200, ("die-half",)),
    "repair-outside": Plan(200, ("die-before",)),
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: the calls are the same there,
    and a flush takes no time."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="wc-tests-", dir=MEMORY) as name:
        yield Path(name)


def crashed(folder: Path, scene: str, *actions: str) -> dict[str, Any]:
    """What the crasher reports, by action."""
    # Thousands of children, each measured, would tell nothing new.
    env = {k: v for k, v in os.environ.items() if not k.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.crasher", str(folder), scene, *actions],
        cwd=ROOT,
        env={**env, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    # The store is in a folder outside of git.
    lines = [line for line in done.stderr.splitlines() if not line.startswith(_NOTE)]
    assert lines == [], done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("scene", PLANS)
def test_every_call_may_go_wrong(folder: Path, scene: str) -> None:
    plan = PLANS[scene]
    report = crashed(folder, scene, *plan.actions)
    for action, found in report.items():
        assert found["wrong"] == []
        assert found["calls"] >= plan.calls
        assert found["hit"], action
        print(f"{scene} {action}: {found['hit']} of {found['calls']} calls")


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        # The bytes of a log that is made, then its name and those of its folders.
        ("first", ["half", *NAMES]),
        ("next", ["entries.jsonl"]),
        # First the page as it was.
        ("import", [".local", "half", "imported", "half", *NAMES]),
    ],
)
def test_the_flushes_come_in_the_order_a_power_cut_asks_for(
    folder: Path, scene: str, expected: list[str]
) -> None:
    """All before the write is acknowledged; projections are never flushed."""
    made = crashed(folder, scene, "record")["record"]
    marked = [at for at, (_, path) in enumerate(made) if path.endswith(MARKER)]
    names = [os.path.basename(path) for what, path in made[marked[0] :] if what == SYNC]
    flushed = ["half" if n.replace(".", "").isdecimal() else n for n in names]
    assert flushed == expected


def test_signals_interrupt_no_write(folder: Path) -> None:
    """A hundred entries, and a signal every millisecond."""
    report = crashed(folder, "next", "storm")["storm"]
    assert report["calls"] == 100
    assert report["hit"] > 20

"""Whatever goes wrong at whichever system call of a write: what was
acknowledged stays, once; what was refused is not there; the next write works.

Not by luck: every call is hit in turn, see `crasher`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CRASHER = Path(__file__).with_name("crasher.py")
# The first write of a store makes its folders; the next ones only append.
LEAST_CALLS = {"first": 60, "next": 15}
ACTIONS = (
    *("die-before", "die-after", "die-half", "short"),
    *("EIO", "ENOSPC", "EDQUOT", "EROFS", "EACCES"),
)


@pytest.mark.parametrize("scenario", LEAST_CALLS)
@pytest.mark.parametrize("action", ACTIONS)
def test_every_call_of_a_write_may_go_wrong(
    tmp_path: Path, action: str, scenario: str
) -> None:
    done = subprocess.run(
        [sys.executable, str(CRASHER), str(tmp_path), action, scenario],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    report = json.loads(done.stdout)
    assert report["wrong"] == []
    assert report["calls"] >= LEAST_CALLS[scenario]


def test_the_flushes_come_in_the_order_a_power_cut_asks_for(tmp_path: Path) -> None:
    """The log's bytes, then its name and the names of its folders, before the
    write is acknowledged; projections are never flushed."""
    done = subprocess.run(
        [sys.executable, str(CRASHER), str(tmp_path), "record", "first"],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    calls = json.loads(done.stdout)["calls"]
    log = next(n for n, one in enumerate(calls) if one == ["write", "entries.jsonl"])
    flushed = [name for what, name in calls[log:] if what == "fsync"]
    assert flushed[:6] == [
        *("entries.jsonl", "crash", "threads", "baseline", "graph"),
        ".watercooler",
    ]
    assert len(flushed) == 6

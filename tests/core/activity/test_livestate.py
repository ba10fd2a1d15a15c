"""What other tools' files say about the work, however they are written."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import relaxed
from wc_core.base.text import one_line
from wc_core.people import activity as activities
from wc_core.people.activity import StateFiles, listed

if TYPE_CHECKING:
    from pathlib import Path

STATE: dict[str, Any] = {
    "worktree_name": "app-wt-login",
    "change": "login",
    "task": "Log in with a passkey",
    "done_criteria": "all tests pass",
    "max_iterations": 10,
    "current_iteration": 3,
    "status": "running",
    "terminal_pid": None,
    "started_at": "2026-01-01T12:00:00+02:00",
    "iterations": [
        {
            "n": 1,
            "started": "2026-01-01T12:00:00+02:00",
            "ended": "2026-01-01T12:20:00+02:00",
            "done_check": False,
            "commits": ["1a2b3c", "4d5e6f"],
            "tokens_used": 120_000,
        },
        {"n": 2},
    ],
    "total_tokens": 240_000,
    "stall_reason": None,
    "waiting_since": None,
}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def put(top: Path, name: str, value: Any, *, ago: float = 0) -> None:
    path = top / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    if ago:
        os.utime(path, (time.time() - ago, time.time() - ago))


def loop(top: Path, *, ago: float = 0, **changed: Any) -> dict[str, Any]:
    put(top, "loop-state.json", STATE | changed, ago=ago)
    return activities.loop(StateFiles(), str(top), now_ms())


def test_a_loop_whose_process_is_gone_is_orphaned(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        pid = process.pid
        assert "orphaned" not in loop(tmp_path, terminal_pid=pid)
        # The number of a process that is gone, given to another one since.
        if os.path.exists("/proc/self/stat"):
            assert loop(tmp_path, terminal_pid=pid, ago=30)["orphaned"]
        process.kill()
    found = loop(tmp_path, terminal_pid=pid)
    assert listed(found)["orphaned"]
    assert found["says"] == "orphaned: its status is running but its process has ended"
    assert loop(tmp_path, terminal_pid=pid, status="starting")["orphaned"]
    assert "orphaned" not in loop(tmp_path, terminal_pid=pid, status="done")
    assert loop(tmp_path, terminal_pid=pid, status="waiting:human")["waits_for_human"]


@pytest.mark.parametrize("pid", [None, "7", -1, 1 << 40, True, 1.5, [1]])
def test_what_is_no_process_is_not_asked_for(tmp_path: Path, pid: Any) -> None:
    found = loop(tmp_path, terminal_pid=pid)
    assert not found.keys() & {"terminal_pid", "orphaned"}


def test_a_process_of_someone_else_runs(tmp_path: Path) -> None:
    assert "orphaned" not in loop(tmp_path, terminal_pid=1)


def test_a_loop_that_says_nothing_for_an_hour_is_old(tmp_path: Path) -> None:
    assert "stale" not in loop(tmp_path, ago=3500)
    old = listed(loop(tmp_path, ago=3700))
    assert (old["stale"], old["age_seconds"]) == (True, 3700)
    # To wait for someone is no less true for being long ago.
    assert "stale" not in loop(tmp_path, ago=99_999, status="waiting:human")


ACTIVITY = {"skill": "apply", "skill_args": "login", "broadcast": "tests next"}


def activity(top: Path, *, ago: float = 0, **changed: Any) -> dict[str, Any]:
    put(top, "activity.json", ACTIVITY | changed, ago=ago)
    return activities.activity(StateFiles(), str(top), now_ms())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [*STATE, "change_id", "skill", "modified_files", "updated_at", "members", "n"]
)


def lines(value: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in lines(one)]
    if isinstance(value, list):
        return [text for one in value for text in lines(one)]
    return [value] if isinstance(value, str) else []


@relaxed
@given(st.dictionaries(KEYS, JSON, max_size=12))
def test_whatever_a_file_says_is_answered_in_clean_short_lines(
    tmp_path_factory: pytest.TempPathFactory, said: dict[str, Any]
) -> None:
    top = tmp_path_factory.mktemp("tree")
    names = ("loop-state.json", "activity.json", "wt-tools/team_status.json")
    for name in names:
        (top / ".claude/wt-tools").mkdir(parents=True, exist_ok=True)
        put(top, name, said)
    files, now = StateFiles(), now_ms()
    found_loop = activities.loop(files, str(top), now)
    found_activity = activities.activity(files, str(top), now)
    env = {"XDG_CACHE_HOME": str(top / ".claude")}
    for fields in (
        found_loop,
        listed(found_loop),
        found_activity,
        activities.team(files, env, now),
    ):
        json.dumps(fields, allow_nan=False)
        assert all(text == one_line(text, 1000) for text in lines(fields))


def test_huge_values_are_cut(tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    found = loop(
        tmp_path, task="x" * 500_000, stall_reason=deep, iterations=[{"n": 1}] * 5000
    )
    assert len(json.dumps(found)) < 3000
    assert found["iteration_count"] == 5000

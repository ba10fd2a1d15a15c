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
from wc_core.people.activity import livestate, loops
from wc_core.people.activity.statefile import StateFiles

if TYPE_CHECKING:
    from pathlib import Path

    from wc_core.people.activity.loops import Loop

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


def loop(top: Path, *, ago: float = 0, **changed: Any) -> Loop:
    put(top, "loop-state.json", STATE | changed, ago=ago)
    found = loops.loop(StateFiles(), str(top), now_ms())
    assert found is not None
    return found


def test_a_loop_has_what_its_file_says(tmp_path: Path) -> None:
    assert loops.loop(StateFiles(), str(tmp_path), now_ms()) is None
    found = loop(tmp_path, ago=90)
    assert found.details() == {
        "change_id": "login",
        "status": "running",
        "says": "running",
        "iteration": 3,
        "max_iterations": 10,
        "task": "Log in with a passkey",
        "done_criteria": "all tests pass",
        "started_at": "2026-01-01T12:00:00+02:00",
        "total_tokens": 240_000,
        "iteration_count": 2,
        "iterations": [
            {
                "n": 1,
                "started": "2026-01-01T12:00:00+02:00",
                "ended": "2026-01-01T12:20:00+02:00",
                "done_check": False,
                "commits": ["1a2b3c", "4d5e6f"],
                "tokens_used": 120_000,
            },
            {"n": 2, "done_check": None, "commits": []},
        ],
        "age_seconds": 90,
    }
    assert found.turn == "3/10"


@pytest.mark.parametrize(
    ("written", "fields"),
    [
        ({"done_check": True}, {"done_check": True}),
        ({"done_check": None}, {}),
        ({"done_check": "yes"}, {}),
        ({"done_check": 1}, {}),
        ({"commits": ["1a", "", None, 7, "2b\n"]}, {"commits": ["1a", "7", "2b"]}),
        ({"commits": 2}, {}),
        ({"commits": "1a"}, {}),
    ],
)
def test_the_check_is_a_boolean_or_null_and_commits_are_a_list(
    tmp_path: Path, written: dict[str, Any], fields: dict[str, Any]
) -> None:
    (iteration,) = loop(tmp_path, iterations=[written]).details()["iterations"]
    assert iteration == {"done_check": None, "commits": []} | fields


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ("running", "running"),
        ("stalled", "stalled"),
        ("waiting:human", "waits for a human"),
        ("waiting:api", "waits for api"),
        ("waiting:budget", "waits for budget"),
        ("waiting:godot", "waits for godot"),
        ("done", "ended: done"),
        ("stopped", "ended: stopped"),
        ("hibernating", "hibernating"),
        ("\x1b[31mred\n", "red"),
        (None, "unknown"),
        (["a", 7, None, {}], "a; 7; …"),
    ],
)
def test_a_status_is_shown_as_it_is(tmp_path: Path, status: Any, says: str) -> None:
    found = loop(tmp_path, status=status)
    assert found.summary == says
    assert found.to_json().get("waits_for_human", False) == (status == "waiting:human")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"change": None, "change_id": "old"}, "old"),
        ({"change_id": "old"}, "login"),
        ({"change": 7}, "7"),
    ],
)
def test_both_names_of_a_change(
    tmp_path: Path, changed: dict[str, Any], expected: str
) -> None:
    assert loop(tmp_path, **changed).change_id == expected


def test_a_loop_whose_process_is_gone_is_orphaned(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        pid = process.pid
        assert not loop(tmp_path, terminal_pid=pid).orphaned
        # The number of a process that is gone, given to another one since.
        if os.path.exists("/proc/self/stat"):
            assert loop(tmp_path, terminal_pid=pid, ago=30).orphaned
        process.kill()
    found = loop(tmp_path, terminal_pid=pid)
    assert found.orphaned
    assert found.to_json()["orphaned"]
    assert found.summary == "orphaned: its status is running but its process has ended"
    assert loop(tmp_path, terminal_pid=pid, status="starting").orphaned
    assert not loop(tmp_path, terminal_pid=pid, status="done").orphaned
    assert loop(tmp_path, terminal_pid=pid, status="waiting:human").waits_for_human


@pytest.mark.parametrize("pid", [None, "7", -1, 1 << 40, True, 1.5, [1]])
def test_what_is_no_process_is_not_asked_for(tmp_path: Path, pid: Any) -> None:
    found = loop(tmp_path, terminal_pid=pid)
    assert (found.terminal_pid, found.orphaned) == (None, False)


def test_a_process_of_someone_else_runs(tmp_path: Path) -> None:
    assert not loop(tmp_path, terminal_pid=1).orphaned


def test_a_loop_that_says_nothing_for_an_hour_is_old(tmp_path: Path) -> None:
    assert not loop(tmp_path, ago=3500).state_age.stale
    old = loop(tmp_path, ago=3700).to_json()
    assert (old["stale"], old["age_seconds"]) == (True, 3700)
    # To wait for someone is no less true for being long ago.
    assert not loop(tmp_path, ago=99_999, status="waiting:human").state_age.stale


def test_a_loop_that_cannot_be_read_is_none_that_runs(tmp_path: Path) -> None:
    put(tmp_path, "loop-state.json", {})
    path = tmp_path / ".claude/loop-state.json"
    path.write_bytes(b'{"status": "done"')
    files = StateFiles()
    found = loops.loop(files, str(tmp_path), now_ms())
    assert found is not None
    assert found.to_json() == {
        "says": "its state is being rewritten right now",
        "age_seconds": 0,
        "problem": "is being rewritten right now",
    }
    put(tmp_path, "loop-state.json", STATE, ago=7)
    loops.loop(files, str(tmp_path), now_ms())
    path.write_bytes(b"")
    found = loops.loop(files, str(tmp_path), now_ms())
    assert found is not None
    assert found.status == "running"
    assert found.state_age.to_json() == {
        "age_seconds": 7,
        "last_good": True,
        "problem": "is being rewritten right now",
    }


ACTIVITY = {"skill": "apply", "skill_args": "login", "broadcast": "tests next"}


def activity(top: Path, *, ago: float = 0, **changed: Any) -> dict[str, Any]:
    put(top, "activity.json", ACTIVITY | changed, ago=ago)
    found = livestate.activity(StateFiles(), str(top), now_ms())
    assert found is not None
    return found.to_json()


def stamp(ago: float, zone: str = "+00:00") -> str:
    """The time so many seconds ago, as clocks of that zone show it."""
    hours = int(zone[:3])
    moment = time.gmtime(time.time() - ago + hours * 3600)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', moment)}{zone}"


@pytest.mark.parametrize("zone", ["+00:00", "+02:00", "-11:00"])
def test_activity_is_stale_after_five_minutes(tmp_path: Path, zone: str) -> None:
    new, old = stamp(240, zone), stamp(400, zone)
    said = activity(tmp_path, updated_at=new, modified_files=["a.py", "b.py"])
    assert 240 <= said.pop("age_seconds") < 250
    assert said == ACTIVITY | {
        "modified_files": ["a.py", "b.py"],
        "modified_count": 2,
        "updated_at": new,
    }
    said = activity(tmp_path, updated_at=old)
    assert said["stale"]
    assert (said["updated_at"], said["age_seconds"] // 10) == (old, 40)


@pytest.mark.parametrize("said", ["", "soon", "2026-01-01 12:00", "2999-01-01T00:00Z"])
def test_where_no_time_is_to_be_had_the_file_has_one(tmp_path: Path, said: str) -> None:
    """Without a zone it may be anyone's; from the future it is nobody's."""
    assert activity(tmp_path, updated_at=said, ago=400)["age_seconds"] == 400
    assert "stale" not in activity(tmp_path, updated_at=said)


def test_the_team(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "XDG_CACHE_HOME": "relative"}
    path = tmp_path / ".cache/wt-tools/team_status.json"
    assert livestate.team_path(env) == str(path)
    own = {"XDG_CACHE_HOME": str(tmp_path / "own")}
    assert livestate.team_path(own) == f"{tmp_path}/own/wt-tools/team_status.json"
    assert livestate.team_path({}) == ""
    for nowhere in (env, {}):
        found = livestate.team(StateFiles(), nowhere, now_ms()).to_json()
        assert found == {"found": False, "members": [], "age_seconds": None}
    path.parent.mkdir(parents=True)
    fresh, old = stamp(10), stamp(4000, "+02:00")
    members: list[Any] = [
        {
            "member": "pat",
            "member_full": "pat@desk",
            "agent_status": "waiting",
            "change_id": "login",
            "project": "app",
            "broadcast": None,
            "activity": {"skill": "apply", "files": ["a"]},
            "last_seen": fresh,
        },
        {"member": "alex", "agent_status": "running", "last_seen": old},
        "sam",
    ]
    path.write_text(json.dumps({"members": members, "updated_at": fresh}))
    found = livestate.team(StateFiles(), env, now_ms()).to_json()
    pat, alex, sam = found["members"]
    assert pat.pop("age_seconds") in range(10, 20)
    assert pat == {
        "member": "pat",
        "member_full": "pat@desk",
        "agent_status": "waiting",
        "change_id": "login",
        "project": "app",
        "activity": "skill: apply; files: …",
        "last_seen": fresh,
    }
    assert (alex["stale"], alex["last_seen"]) == (True, old)
    assert sam.pop("age_seconds") in range(10, 20)  # the file's
    assert sam == {"member": "sam"}
    assert "stale" not in found
    many = {"members": {f"m{n}": {"agent_status": "idle"} for n in range(300)}}
    path.write_text(json.dumps(many))
    found = livestate.team(StateFiles(), env, now_ms()).to_json()
    assert (len(found["members"]), found["total"], found["truncated"]) == (
        200,
        300,
        True,
    )
    assert found["members"][0]["member"] == "m0"


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
    found_loop = loops.loop(files, str(top), now)
    found_activity = livestate.activity(files, str(top), now)
    assert found_loop is not None
    assert found_activity is not None
    env = {"XDG_CACHE_HOME": str(top / ".claude")}
    for fields in (
        found_loop.details(),
        found_loop.to_json(),
        found_activity.to_json(),
        livestate.team(files, env, now).to_json(),
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
    assert len(json.dumps(found.details())) < 3000
    assert found.iteration_count == 5000

"""The lines of the log of activity, and how two logs become one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.base.ulid import successor
from wc_core.edits.activitylog import record
from wc_core.edits.activitylog.record import Announcement
from wc_core.people.activity.presence import Note

NOW = 1_767_225_600_000
NOTE = Note(
    *("app-wt-login", "login", "Codex@login (pat)", "running", "the form", NOW),
    seconds=1800,
    intent="refactor",
    thread="login",
    scope=("src/auth.py", "src/ui.py::Form"),
    session="0123456789abcdef:12:345",
)
CLONE = "0123456789abcdef"


def line_id(number: int, at_ms: int = NOW) -> str:
    return successor("", at_ms, number)


def made(number: int, at_ms: int = NOW, clone: str = CLONE) -> Announcement:
    return Announcement(line_id(number, at_ms), clone, NOTE)


def test_a_line_is_read_back() -> None:
    line = record.encode(made(1))
    assert line.endswith(b"\n")
    assert record.decode(line) == made(1)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "short"},
        {"id": 5},
        {"clone": "../../x"},
        {"clone": None},
        {"version": 2},
        {"agent": 5},
        {"at": "yesterday"},
        {"seconds": "30"},
    ],
)
def test_what_is_not_valid_is_left_out(changes: dict[str, object]) -> None:
    fields = json.loads(record.encode(made(1)))
    assert record.decode(json.dumps(fields | changes).encode()) is None


def test_hostile_values_are_made_harmless() -> None:
    fields = json.loads(record.encode(made(1)))
    fields |= {
        "scope": ["../../etc/passwd", "/etc", "src/a.py", 5, "a\x1b[31m"],
        "worktree": "a\x1b[2Jb\n" + "x" * 900,
        "intent": ["no text"],
    }
    decoded = record.decode(json.dumps(fields).encode())
    assert decoded is not None
    assert "src/a.py" in decoded.note.scope
    assert not any(path.startswith(("/", "..")) for path in decoded.note.scope)
    assert len(decoded.note.worktree) <= 210
    assert "\x1b" not in decoded.note.worktree
    assert decoded.note.intent == ""


@given(st.binary(max_size=400))
def test_any_bytes_are_read(data: bytes) -> None:
    record.fold(data)
    assert record.lines(record.union((data,), NOW)).keys() <= record.lines(data).keys()


LOG = st.lists(
    st.integers(0, 40).map(
        lambda number: record.encode(made(number, clone=(CLONE, "f" * 16)[number % 2]))
    ),
    max_size=30,
).map(b"".join)


@given(LOG, LOG, LOG)
def test_logs_merge_in_any_order_to_the_same_bytes(
    one: bytes, two: bytes, three: bytes
) -> None:
    left = record.union((record.union((one, two), NOW), three), NOW)
    right = record.union((two, record.union((three, one), NOW)), NOW)
    assert left == right == record.union((three, two, one), NOW)
    assert record.union((left, left), NOW) == left
    assert not record.lacks(left, one)
    assert {*record.lines(left)} == {*record.lines(one + two + three)}


def test_the_log_is_bounded() -> None:
    day = 24 * 3600 * 1000
    recent = b"".join(record.encode(made(number)) for number in range(700))
    old = record.encode(made(1, NOW - 8 * day))
    ahead = record.encode(made(1, NOW + 2 * day))
    merged = record.union((recent + old + ahead,), NOW)
    kept = sorted(record.lines(merged))
    assert kept == sorted(line_id(number) for number in range(200, 700))


def test_lines_of_a_newer_version_are_passed_on() -> None:
    fields = json.loads(record.encode(made(1)))
    newer = json.dumps(fields | {"version": 2, "new": [1]}).encode() + b"\n"
    assert record.union((newer,), NOW) == newer
    assert record.fold(newer) == {}


def test_an_unfinished_line_and_a_long_one_are_left_out() -> None:
    whole = record.encode(made(1))
    long = record.encode(made(2)._replace(note=NOTE._replace(branch="x" * 9000)))
    assert record.union((whole + long + record.encode(made(3))[:-5],), NOW) == whole


def test_the_latest_line_of_a_participant_counts() -> None:
    ended = made(2)._replace(note=NOTE._replace(seconds=0))
    elsewhere = made(3, clone="f" * 16)
    data = b"".join(map(record.encode, (ended, made(1), elsewhere)))
    latest = list(record.fold(data).values())
    assert latest == [ended, elsewhere]
    assert [item.is_current(NOW) for item in latest] == [False, True]
    assert not made(1).is_current(NOW + 1800_000)

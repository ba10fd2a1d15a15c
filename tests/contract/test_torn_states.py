"""Reading what someone truncates and writes again, over and over.

Read 600 times in `bin/test`, 5,000 times in the long run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests import amounts
from tests.observe.stores import Session, structured
from wc_core.people.activity import StateFiles, activity, loop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("unmeasured")

ROUNDS = amounts.rounds(300, 5000)

# Every state that is ever written says its number six times, at both ends and
# in between, and is longer or shorter than the one before.
WRITER = """
import json, sys
number = 0
while True:
    number += 1
    state = {
        "change": f"change-{number}",
        "task": f"{number} " + "x" * (number * 37 % 3000),
        "status": "running",
        "current_iteration": number,
        "max_iterations": number,
        "iterations": [{"n": number, "tokens_used": number}] * (number % 40 + 1),
        "total_tokens": number,
        "skill": f"skill-{number}",
        "updated_at": None,
    }
    for path in sys.argv[1 : 2 + (number % 10 == 0)]:
        with open(path, "w") as file:
            json.dump(state, file, indent=2)
    if number == 1:
        print("ready", flush=True)
"""


@pytest.fixture
def rewritten(tmp_path: Path) -> Iterator[Path]:
    """A worktree whose loop is rewritten without a pause, and what its agent is
    at every tenth time."""
    folder = tmp_path / "work/.claude"
    folder.mkdir(parents=True)
    paths = [str(folder / name) for name in ("loop-state.json", "activity.json")]
    words = [sys.executable, "-c", WRITER, *paths]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        yield folder.parent
        assert writer.poll() is None
        writer.kill()


def number_in(loop: dict[str, Any]) -> int:
    """The one number of a state, which is all from one moment."""
    number: int = loop["iteration"]
    turns = loop.get("iterations", [])
    assert loop["status"] == "running"
    assert loop["max_iterations"] == number
    assert loop["task"].split()[0] == str(number)
    for turn in turns:
        unknown: dict[str, Any] = {"commits": [], "done_check": None}
        assert turn == {"n": number, "tokens_used": number, **unknown}
    if turns:
        assert loop["total_tokens"] == number
        assert len(turns) == min(20, number % 40 + 1)
        assert loop["change_id"] == f"change-{number}"
    return number


def first(files: StateFiles, top: Path) -> None:
    """Until one state could be read: before, each error says that none could."""
    for _ in range(1000):
        found = loop(files, str(top), 0)
        if "status" in found:
            return
        assert found["problem"] == "is being rewritten right now"
    raise AssertionError("nothing could ever be read")


def torn(path: Path) -> bool:
    """Whether whoever just reads a file gets half of it."""
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return True
    return False


def test_what_is_read_is_whole_and_never_older_than_before(rewritten: Path) -> None:
    files = StateFiles()
    first(files, rewritten)
    last = kept = changes = halves = 0
    longest = 0.0
    since = time.monotonic()
    for turn in range(ROUNDS):
        if turn % 2 == 0:
            halves += torn(rewritten / ".claude/loop-state.json")
        now = time.time_ns() // 1_000_000
        found = loop(files, str(rewritten), now)
        number = number_in(found)
        assert number >= last
        if number > last:
            longest = max(longest, time.monotonic() - since)
            since = time.monotonic()
        kept += "last_good" in found
        changes += number > last
        last = number
        assert found["age_seconds"] is not None
        if turn % 10 == 0:
            seen = activity(files, str(rewritten), now)
            assert not seen or seen.keys() & {"skill", "problem"}
    # A plain reader would have met halves; how many is the machine's affair.
    assert halves > 0
    assert changes > 3
    report = {
        "reads": ROUNDS,
        "torn for a plain reader": f"{halves / (ROUNDS / 2):.0%}",
        "fresh": ROUNDS - kept,
        "last good": kept,
        "oldest shown, seconds": round(longest, 3),
    }
    sys.stdout.write(json.dumps(report))


def test_the_server_answers_nothing_else(rewritten: Path) -> None:
    session = Session(rewritten, {"HOME": str(rewritten.parent), "USER": "pat"})
    # The writer may be stopped in the middle of a file for as long as a session takes.
    assert any(_last_number(session) for _ in range(100)), "nothing could ever be read"


def _last_number(session: Session) -> int:
    """The last number that one server answers with; 0 if nothing could be read."""
    forms = [{"show": show, "format": "json"} for show in ("loops", "worktrees")]
    wanted = [("list_worktrees", form) for form in forms] * max(2, ROUNDS // 50)
    last = 0
    for result in session.calls(*wanted):
        assert not result.is_error, result.content
        fields = structured(result)
        said = fields.get("loops") or [fields["worktrees"][0]["loop"]]
        (loop,) = said
        if "status" not in loop:
            # Only before anything could be read at all.
            assert (last, loop["problem"]) == (0, "is being rewritten right now")
            continue
        number = number_in(loop)
        assert number >= last
        last = number
    return last


def test_a_writer_that_is_careful_is_always_read(tmp_path: Path) -> None:
    """Files that are replaced at one moment are never taken for half of one."""
    path = tmp_path / ".claude/loop-state.json"
    path.parent.mkdir()
    program = """
import json, os, sys
path, number = sys.argv[1], 0
while True:
    number += 1
    with open(path + ".new", "w") as file:
        json.dump({"status": "running", "current_iteration": number}, file)
    os.replace(path + ".new", path)
    number == 1 and print("ready", flush=True)
"""
    words = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        files, seen = StateFiles(), []
        for _ in range(ROUNDS // 4):
            found = loop(files, str(tmp_path), 0)
            assert found["status"] == "running"
            seen.append(found.get("iteration", 0))
            time.sleep(0.0002)  # lets the writer run, also on a busy machine
        writer.kill()
    assert seen == sorted(seen)
    assert len(set(seen)) > 3

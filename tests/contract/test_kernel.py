"""Faults that the kernel makes, and kills at its calls, in the real command:
strace(1) lets a call fail, or kills at it.

A few of them here; in the long run every call of a write with its
settling is a place to be killed at, git's own included.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.conftest import THREADS, Machine, Repo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.conftest import Done

SAY = ("say", "auth", "--title")
# Of these three each first call matters most: the log, projections, markers.
CHANGES = (
    # The log, projections and markers; what is enough for an ordinary run.
    *("rename", "unlink", "fsync"),
    *("write", "pwrite64", "ftruncate", "flock", "link", "close", "pipe2"),
)
SWEEP = amounts.is_long()
KILLED = (-9, 137)


@pytest.fixture(autouse=True)
def _strace() -> None:
    words = ["strace", "-qq", "-e", "inject=fsync:error=EIO", "true"]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NO STRACE: faults of the kernel are not tested ({error})")


@pytest.fixture
def place(machine: Machine) -> Repo:
    """A store outside git, with one entry."""
    place = machine.folder("notes")
    place.ok("say", "auth", "--title", "first")
    return place


def traced(repo: Repo, options: Sequence[str], *words: str, **env: str) -> Done:
    """Run wc under strace."""
    trace = ["strace", "-f", "-o", os.devnull, *options]
    # What measures coverage makes calls of its own.
    given = [name for name in repo.machine.env if name.startswith("COV")]
    argv = [*trace, *repo.machine.wc_words, *words]
    return repo.machine.run(argv, repo.path, env=env, without=given)


def titles(repo: Repo) -> list[str]:
    entries = repo.json("read", "auth", "--peek")["entries"]
    return [one["title"] for one in entries]


def local(repo: Repo, name: str) -> str:
    return str(repo.store / ".local" / name)


def test_a_first_write_flushes_the_folders_above_the_store(
    repo: Repo, tmp_path: Path
) -> None:
    """The names of the store and of the folders that were made for it."""
    output = tmp_path / "calls"
    calls = ["-y", "-e", "trace=fsync,write"]
    trace = ["strace", "-f", "-o", str(output), *calls, *repo.machine.wc_words]
    done = repo.machine.run([*trace, "new", "auth", "--title", "x"], repo.path)
    assert done.code == 0, done
    before, _, _ = output.read_text().partition('"saved auth')
    folder = repo.store
    for _ in range(3):
        folder = folder.parent
        assert re.search(rf"fsync\(\d+<{re.escape(str(folder))}>\)", before), folder
    assert folder == repo.machine.home


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        ("write", "ENOSPC", "The disk is full"),
        ("write", "EDQUOT", "Your quota is used up"),
        ("fsync", "EIO", "Input/output error"),
    ],
)
def test_an_error_up_to_the_flush_leaves_the_log_as_it_was(
    place: Repo, call: str, error: str, says: str
) -> None:
    log = place.log("auth")
    was = log.read_bytes()
    inject = ["-P", str(log), "-e", f"inject={call}:error={error}:when=1"]
    done = traced(place, inject, "say", "auth", "--title", "second")
    assert (done.code, done.out) == (7, ""), done
    assert says in done.err
    assert log.read_bytes() == was
    place.ok("say", "auth", "--title", "second", "--lock-timeout", "0")
    assert titles(place) == ["first", "second"]


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        # Who holds a lock need not be said.
        ("pwrite64", "ENOSPC", 0),
        ("flock", "ENOLCK", 7),
    ],
)
def test_an_error_of_the_lock(place: Repo, call: str, error: str, code: int) -> None:
    was = place.log("auth").read_bytes()
    lock = local(place, "locks/threads/auth")
    inject = ["-P", lock, "-e", f"inject={call}:error={error}"]
    done = traced(place, inject, "say", "auth", "--title", "second")
    assert done.code == code, done
    assert (place.log("auth").read_bytes() == was) == bool(code)


def test_a_repetition_under_a_key_flushes_what_a_dead_writer_did_not(
    place: Repo,
) -> None:
    log = place.log("auth")
    words = (*SAY, "second", "--key", "k")
    inject = ["-P", str(log), "-e", "inject=fsync:signal=KILL:when=1"]
    assert traced(place, inject, *words).code in KILLED
    assert titles(place) == ["first", "second"]
    trace = place.machine.root / "trace"
    done = traced(place, ["-o", str(trace), "-y", "-e", "trace=fsync"], *words)
    assert done.code == 0
    flushed = re.findall(r"fsync\(\d+<(.*?)>", trace.read_text())
    assert str(log) in flushed
    assert str(log.parent) in flushed
    assert titles(place) == ["first", "second"]


def test_what_is_written_to_a_log_that_is_removed_in_the_meantime_is_not_saved(
    place: Repo,
) -> None:
    log = place.log("auth")
    was = log.stat().st_size
    slow = ["-P", str(log), "-e", "inject=fsync:delay_enter=1000000:when=1"]

    def remove() -> None:
        while log.stat().st_size == was:
            time.sleep(0.01)
        log.unlink()

    with ThreadPoolExecutor(1) as pool:
        removed = pool.submit(remove)
        done = traced(place, slow, "say", "auth", "--title", "second")
        removed.result()
    assert (done.code, done.out) == (7, ""), done
    assert "No such file" in done.err


def test_after_the_flush_an_error_is_a_note(place: Repo) -> None:
    inject = ["-e", "inject=rename,renameat,renameat2:error=EIO"]
    done = traced(place, inject, "say", "auth", "--title", "second")
    assert done.code == 0, done
    assert "saved, but its projections are not up to date" in done.err
    assert titles(place) == ["first", "second"]


@pytest.mark.parametrize(
    ("call", "there"), [("write", ["first"]), ("fsync", ["first", "second"])]
)
def test_a_kill_at_the_commit_point(place: Repo, call: str, there: list[str]) -> None:
    inject = ["-P", str(place.log("auth")), "-e", f"inject={call}:signal=KILL:when=1"]
    done = traced(place, inject, "say", "auth", "--title", "second")
    assert done.code in KILLED
    assert titles(place) == there
    place.ok("say", "auth", "--title", "after", "--lock-timeout", "0")
    assert titles(place) == [*there, "after"]


def killed_at(repo: Repo, call: str, number: int) -> bool:
    """Say something and settle it, every process killed at its so-manieth call
    of that kind; whether any had that many."""
    trace = repo.machine.root / "trace"
    inject = ["-q", "-o", str(trace), "-e", f"inject={call}:signal=KILL:when={number}"]
    words = (*SAY, f"{call} {number}", "--key", f"{call} {number}")
    traced(repo, inject, *words, WATERCOOLER_SYNC="inline")
    return "+++ killed by SIGKILL" in trace.read_text()


@pytest.mark.parametrize("call", CHANGES if SWEEP else CHANGES[:3])
def test_a_kill_at_a_change_of_a_write_and_its_settling(repo: Repo, call: str) -> None:
    """Git is killed as well as we are. Whoever was: a repetition under the
    same key writes it once, and finishes everything."""
    repo.settled(*SAY, "first")
    numbers = range(1, 1000 if SWEEP else 4)
    kills = 0
    for number in numbers:
        if not killed_at(repo, call, number):
            break
        kills += 1
        words = (*SAY, f"{call} {number}", "--key", f"{call} {number}")
        said = repo.settled(*words, "--lock-timeout", "0", "--json").json
        assert said["committed"]
        assert [one for one in said["notes"] if "settling" in one] == []
        assert titles(repo).count(f"{call} {number}") == 1
    assert kills
    ids = [one["entry_id"] for one in repo.entries("auth")]
    text = repo.git("log", "--format=%B", THREADS)
    assert [text.count(one) for one in ids] == [1] * len(ids)
    assert repo.machine.git("status", "--porcelain", cwd=repo.store) == ""
    assert repo.json("doctor")["findings"] == []
    repo.machine.git("fsck", "--strict", cwd=repo.store)
    print(f"{call}: killed at {kills}")

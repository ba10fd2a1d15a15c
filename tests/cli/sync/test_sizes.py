"""However much is pushed, a sync takes little memory, loses nothing, and holds up
nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.cli.sync import pushes
from tests.cli.sync.pushes import THREADS
from wc_core.base.layout import BRANCH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Repo

_MEGABYTE = 1_000_000
_LONG = 50
# 62 as a rule, and 82 where the sync also commits what was just written. A copy of the
# line is 50 more.
_MOST_MEMORY = 100
# One that is not read.
_LARGE = 540
_AUTH = f"{THREADS}/auth/entries.jsonl"
_OTHER = f"{THREADS}/other/entries.jsonl"


class Pushed(NamedTuple):
    """A person's clone, and its remote, to which something large was pushed."""

    repo: Repo
    hub: Path


def line(entry_id: str, topic: str, title: str) -> bytes:
    fields = {
        "id": f"entry:{entry_id}",
        "type": "entry",
        "entry_id": entry_id,
        "thread_topic": topic,
        "agent": "Codex",
        "entry_type": "Note",
        "title": title,
        "timestamp": "2026-11-28T14:04:08.864Z",
        "action": "say",
        "parents": [],
    }
    return json.dumps(fields).encode() + b"\n"


def begun(repo: Repo, tmp_path: Path) -> Pushed:
    hub = pushes.new_hub(repo, tmp_path / "hub.git")
    repo.ok("new", "auth", "-m", "Use a passkey")
    repo.ok("new", "other", "-m", "Something else")
    repo.ok("sync")
    return Pushed(repo, hub)


def long_line() -> Iterator[bytes]:
    yield b'{"entry_id":"01KWNH0000000000000000000A","body":"'
    for _ in range(_LONG):
        yield b"x" * _MEGABYTE
    yield b'"}\n'


def large_log(log: bytes) -> Iterator[bytes]:
    yield log
    for _ in range(_LARGE):
        yield (b"x" * 9_999 + b"\n") * 100


def push(pushed: Pushed, *, large: bool = False, after: bytes = b"") -> None:
    """Push a line or a log that is too long, and a good entry beside it."""
    log = pushed.repo.log("auth").read_bytes()
    colleague = pushed.repo.log("other").read_bytes()
    new = line("01KWNH0000000000000000000B", "other", "Beside it")
    pieces = large_log(log) if large else (log, *long_line(), after)
    third = line("01KWNH0000000000000000000C", "third", "New")
    third_path = f"{THREADS}/third/entries.jsonl"
    files = {_AUTH: pieces, _OTHER: (colleague, new), third_path: (third,)}
    pushes.push(pushed.hub, files)


def committed(pushed: Pushed, path: str) -> tuple[int, list[str]]:
    """The size of a log at the hub, and the digests of its lines."""
    words = ["git", "-C", str(pushed.hub), "cat-file", "blob", f"{BRANCH}:{path}"]
    done = subprocess.run(words, capture_output=True, check=True)
    return len(done.stdout), digests(done.stdout)


def digests(log: bytes) -> list[str]:
    return [hashlib.sha256(row).hexdigest() for row in log.splitlines() if row]


def memory(repo: Repo, *words: str) -> int:
    """The megabytes that a command takes, which must succeed: its own process, not
    those of git, some of which are the remote's."""
    words = (*repo.machine.wc_words, *words)
    most = 0
    with subprocess.Popen(
        words, cwd=repo.path, env=repo.machine.env, stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as file:
                    rows = [row for row in file if row.startswith("VmHWM")]
            except OSError:
                continue
            most = max([most, *(int(row.split()[1]) // 1000 for row in rows)])
            time.sleep(0.002)
    assert process.returncode == 0, words
    return most


def titles(repo: Repo, topic: str) -> set[str]:
    entries = repo.json("read", topic, "--peek")["entries"]
    return {entry["title"] for entry in entries}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
@pytest.mark.long
@pytest.mark.parametrize("own", [(), ("Ours",)])
def test_a_line_that_is_too_long(
    repo: Repo, tmp_path: Path, own: tuple[str, ...]
) -> None:
    """It is named, and stays here and at the remote; the short form: `test_repair`."""
    pushed = begun(repo, tmp_path)
    expected = {"Use a passkey", "After it"}
    for title in own:
        repo.ok("say", "auth", "-m", title)
        repo.ok("say", "other", "-m", title)
        expected.add(title)
    push(pushed, after=line("01ZWNH0000000000000000000D", "auth", "After it"))
    (digest,) = digests(b"".join(long_line()))
    assert memory(repo, "sync") < _MOST_MEMORY
    assert memory(repo, "read", "auth", "--peek") < _MOST_MEMORY
    assert memory(repo, "search", "passkey") < _MOST_MEMORY
    message = repo.ok("read", "auth", "--peek").out
    assert (
        f"a line of {_LONG * _MEGABYTE + 51} bytes is longer than any entry" in message
    )
    assert titles(repo, "auth") == expected
    assert "Beside it" in titles(repo, "other")
    assert titles(repo, "third") == {"New"}
    repo.ok("say", "auth", "-m", "Later")
    assert memory(repo, "sync") < _MOST_MEMORY
    for _ in range(2):
        doctor = repo.wc("doctor", "--repair")
        assert doctor.code == 9
        assert "It stays in the log" in doctor.out
        assert not os.path.exists(repo.store / ".local/quarantine")
    repo.ok("sync")
    size, lines = committed(pushed, _AUTH)
    assert lines == digests(repo.log("auth").read_bytes())
    assert size == repo.log("auth").stat().st_size
    assert lines.count(digest) == 1
    assert len(lines) == 1 + len(expected) + 1
    assert titles(repo, "auth") == {*expected, "Later"}
    assert repo.machine.git("status", "--short", cwd=repo.store) == ""


@pytest.mark.long
@pytest.mark.parametrize("own", [(), ("Ours",)])
def test_a_log_that_is_too_large(
    repo: Repo, tmp_path: Path, own: tuple[str, ...]
) -> None:
    """It stays on the branch and is not applied; all else of the push is. The short
    form of it, with a smaller limit, is in tests/cli/merge/test_plan.py."""
    pushed = begun(repo, tmp_path)
    expected = {"Use a passkey"}
    for title in own:
        repo.ok("say", "auth", "-m", title)
        expected.add(title)
    push(pushed, large=True)
    size = pushed_size(pushed, _AUTH)
    assert size > 512 << 20
    message = repo.ok("sync")
    reason = f"its log on the branch has {size} bytes, more than is read"
    assert f"auth: not committed: {reason}" in message.err
    assert titles(repo, "auth") == expected
    assert "Beside it" in titles(repo, "other")
    assert titles(repo, "third") == {"New"}
    repo.ok("say", "auth", "-m", "Waits")
    repo.ok("say", "other", "-m", "Goes")
    message = repo.ok("sync")
    assert "1 entry (other) went" in message.out
    assert reason in message.err
    assert pushed_size(pushed, _AUTH) == size
    for words in (("doctor",), ("doctor", "--repair")):
        doctor = repo.wc(*words)
        assert doctor.code == 9
        assert f"{_AUTH}: {reason}" in doctor.out
    assert titles(repo, "auth") == {*expected, "Waits"}
    # Someone puts the log right again, and what waited goes.
    before = subprocess.run(
        ["git", "-C", str(pushed.hub), "log", "--format=%H", BRANCH, "--", _AUTH],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    small = min(
        (f"{commit}:{_AUTH}" for commit in before),
        key=lambda name: int(repo.machine.git("cat-file", "-s", name, cwd=pushed.hub)),
    )
    blob = repo.machine.git("rev-parse", small, cwd=pushed.hub)
    pushes.push(pushed.hub, {}, [("100644", blob, _AUTH)])
    repo.ok("sync")
    assert titles(repo, "auth") == {*expected, "Waits"}
    _, lines = committed(pushed, _AUTH)
    assert lines == digests(repo.log("auth").read_bytes())
    assert len(lines) == len(expected) + 1
    assert repo.ok("sync").err == ""
    assert "more than is read" not in repo.wc("doctor").out


def pushed_size(pushed: Pushed, path: str) -> int:
    words = ("cat-file", "-s", f"{BRANCH}:{path}")
    return int(pushed.repo.machine.git(*words, cwd=pushed.hub))


def test_a_file_that_is_too_large(repo: Repo, tmp_path: Path) -> None:
    """Anything else on the branch is no different."""
    pushed = begun(repo, tmp_path)
    page = "threads/auth.md"
    file = [b"x" * _MEGABYTE] * 70
    pushes.push(pushed.hub, {"picture.bin": file, page: file, "small.bin": [b"x"]})
    size = pushed_size(pushed, "picture.bin")
    message = repo.ok("sync")
    assert f"picture.bin, {page}: has {size} bytes, more than is read" in message.err
    assert not (repo.store / "picture.bin").exists()
    assert (repo.store / "small.bin").exists()
    assert (repo.store / page).stat().st_size < 10_000
    repo.ok("say", "auth", "-m", "More")
    repo.ok("sync")
    assert pushed_size(pushed, "picture.bin") == size
    assert pushed_size(pushed, page) < 10_000
    assert titles(repo, "auth") == {"Use a passkey", "More"}

"""Programs with pipes: they get what is fed, and end with the one who started them."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from wc_cli.ledger.branch.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENV = {"PATH": os.environ["PATH"]}
MEGABYTE = 1 << 20


@contextmanager
def started(*words: str, handle: int | None = None) -> Iterator[Process]:
    handles = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc") else set()
    process = Process(words, ENV, handle)
    try:
        yield process
    finally:
        process.end()
    if handles:
        assert set(os.listdir("/proc/self/fd")) <= handles


def answered(script: str, feed: bytes = b"") -> tuple[int, bytes, bytes]:
    with started("sh", "-c", script) as process:
        return process.communicate(feed, 10)


@pytest.mark.parametrize(
    ("script", "feed", "expected"),
    [
        ("cat; echo no >&2; exit 3", b"fed", (3, b"fed", b"no\n")),
        ("cat", b"", (0, b"", b"")),
        ("kill -KILL $$", b"", (-signal.SIGKILL, b"", b"")),
        ("kill -PIPE $$", b"", (-signal.SIGPIPE, b"", b"")),
        ("exec <&-; sleep 0.05; echo done", b"x" * MEGABYTE, (0, b"done\n", b"")),
        ("exec >&- 2>&-; sleep 0.05; exit 4", b"", (4, b"", b"")),
    ],
)
def test_what_a_program_answers(
    script: str, feed: bytes, expected: tuple[int, bytes, bytes]
) -> None:
    assert answered(script, feed) == expected


def test_much_is_fed_and_read_at_the_same_time() -> None:
    feed = os.urandom(3 * MEGABYTE)
    code, out, err = answered("tee /dev/stderr", feed)
    assert (code, out == feed, err == feed) == (0, True, True)


@pytest.mark.parametrize("script", ["sleep 9", "exec >&- 2>&- <&-; sleep 9"])
def test_a_program_that_takes_too_long_ends_with_its_children(
    tmp_path: Path, script: str
) -> None:
    note = tmp_path / "pid"
    began = time.monotonic()
    with started("sh", "-c", f"sleep 9 & echo $! >{note}; {script}") as process:
        while not note.exists() or not note.read_text().endswith("\n"):
            time.sleep(0.01)
        with pytest.raises(TimeoutError):
            process.communicate(b"", 0.1)
    assert time.monotonic() - began < 5
    for pid in (process.pid, int(note.read_text())):
        deadline = time.monotonic() + 5
        while _runs(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not _runs(pid)


def _runs(pid: int) -> bool:
    """Whether a process exists, and is not only waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_may_tidy_up_when_it_is_ended(tmp_path: Path) -> None:
    note, ready = tmp_path / "tidied", tmp_path / "ready"
    script = (
        f"trap 'echo >{note}; exit' TERM; echo >{ready}; while :; do sleep 0.01; done"
    )
    with started("sh", "-c", script):
        while not ready.exists():
            time.sleep(0.01)
    assert note.exists()


def test_what_it_started_may_tidy_up_as_well(tmp_path: Path) -> None:
    note, ready = tmp_path / "tidied", tmp_path / "ready"
    child = (
        f"trap 'sleep 0.1; echo >{note}; exit' TERM; echo >{ready}; "
        "while :; do sleep 0.01; done"
    )
    with started("sh", "-c", 'sh -c "$0" & wait', child):
        while not ready.exists():
            time.sleep(0.01)
    assert note.exists()


def test_it_inherits_one_handle_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    handles = [os.open(path, os.O_RDONLY) for _ in range(4)]
    try:
        for handle in handles:
            script = "import os; print([n for n in range(3, 64) if is_open(n)])"
            is_open = (
                "def is_open(n):\n"
                " try: return os.readlink(f'/proc/self/fd/{n}') == sys.argv[1]\n"
                " except OSError: return False\n"
            )
            program = f"import os, sys\n{is_open}{script}"
            words = (sys.executable, "-I", "-S", "-c", program, str(path))
            with started("env", *words, handle=handle) as process:
                code, out, err = process.communicate(b"", 10)
            assert (code, err) == (0, b"")
            assert len(eval(out)) == 1
    finally:
        for handle in handles:
            os.close(handle)


def test_signals_that_python_ignores_work_in_it() -> None:
    with open("/proc/self/status", encoding="utf-8") as file:
        assert "SigIgn" in file.read()
    _, out, _ = answered("grep SigIgn /proc/self/status")
    ignored = int(out.split()[1], 16)
    assert not ignored & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)


def test_it_leads_a_session_of_its_own() -> None:
    with started("sh", "-c", "ps -o sid= -p $$ || echo $$") as process:
        _, out, _ = process.communicate(b"", 10)
    assert int(out) == process.pid


def test_a_program_is_found_in_its_own_path(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()  # no program, though of its name
    second = tmp_path / "second"
    second.mkdir()
    tool = second / "tool"
    tool.write_text("#!/bin/sh\necho found\n")
    env = {"PATH": f"{tmp_path}:{second}"}
    with pytest.raises(FileNotFoundError):
        Process(["tool"], env)
    tool.chmod(0o755)
    process = Process(["tool"], env)
    try:
        assert process.communicate(b"", 10) == (0, b"found\n", b"")
    finally:
        process.end()
    with pytest.raises(FileNotFoundError):
        Process(["no-such-tool"], env)

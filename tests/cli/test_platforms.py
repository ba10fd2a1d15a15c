"""What macOS lacks: each test removes ways of Linux, which fail as they would there.

Real commands run without ``/proc``, hidden by an empty file system where the kernel
allows that, and in a Python that has none of Linux's functions.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SOURCE, Machine, Repo
from wc_cli.agents.wake import sleeper
from wc_core.base import mounts, processes
from wc_core.edits.claims import sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

HIDDEN = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"')
# Removes what Python has on Linux only, and what the C library has.
NOT_LINUX = """\
import ctypes, os, sys, time
sys.platform = "darwin"
del os.pidfd_open, time.CLOCK_BOOTTIME
class MacLibrary(ctypes.CDLL):
    def __getattr__(self, name):
        if name.startswith("inotify"):
            raise AttributeError(name)
        return super().__getattr__(name)
ctypes.CDLL = MacLibrary
"""
COMMAND = "from wc_cli.run.main import main; main()"


def hidden(words: Sequence[str]) -> tuple[str, ...]:
    return (*HIDDEN, "sh", *words)


@pytest.fixture
def without_proc() -> Callable[[Sequence[str]], tuple[str, ...]]:
    done = subprocess.run(
        hidden(("sh", "-c", "test ! -e /proc/self")), capture_output=True, check=False
    ) if shutil.which("unshare") else None  # fmt: skip
    if done is None or done.returncode:
        pytest.skip("NOT TESTED: /proc cannot be hidden here")
    return hidden


def plain(repo: Repo, *words: str) -> str:
    """A command's exit status, and what it prints."""
    done = repo.wc(*words, env={"WATERCOOLER_SYNC": "inline"})
    return f"{done.code} {done.out}"


def play(repo: Repo) -> list[str]:
    """Everyday commands, and what they say."""
    repo.ok("new", "login", "--title", "Which hash?", "--to", "Codex", "--force")
    repo.ok("say", "login", "--title", "argon2", "--to", "Pat", "--as", "Codex")
    repo.ok("claim", "code.txt", "--as", "Codex")
    said = [
        *(plain(repo, "list", "--as", name) for name in ("Pat", "Codex")),
        plain(repo, "brief", "--as", "Pat"),
        plain(repo, "claims"),
        plain(repo, "doctor"),
        plain(repo, "wait", "--as", "Pat", "--timeout", "5"),
        plain(repo, "statusline", "--color=never"),
        repo.git("log", "--format=%s", "watercooler/threads"),
    ]
    return [
        re.sub(r"app-[0-9a-f]{12}|just now.* left|\b(?:now|\d+s)\b", "…", line)
        for text in said
        for line in text.splitlines()
        if not re.search("01[0-9A-Z]{24}", line)
    ]


def test_commands_say_the_same_without_proc(
    tmp_path: Path, without_proc: Callable[[Sequence[str]], tuple[str, ...]]
) -> None:
    usual, there = Machine(tmp_path / "usual"), Machine(tmp_path / "there")
    there.wc_words = without_proc(there.wc_words)
    assert play(there.repo()) == play(usual.repo())


def test_ps_shows_the_agent_above_without_proc(
    tmp_path: Path, without_proc: Callable[[Sequence[str]], tuple[str, ...]]
) -> None:
    machine = Machine(tmp_path)
    # ps of Linux needs /proc itself. What stands for it prints a line as ps of macOS.
    program = "/opt/homebrew/bin/cline --yolo"
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "ps").write_text(f"#!/bin/sh\necho {os.getpid()} 1 S ?? {program}\n")
    (bin_folder / "ps").chmod(0o755)
    del machine.env["WATERCOOLER_DETECT"]
    machine.env["PATH"] = f"{bin_folder}:{machine.env['PATH']}"
    machine.wc_words = without_proc(machine.wc_words)
    assert machine.repo().json("whoami")["agent"] == "Cline"


def test_commands_say_the_same_without_functions_of_linux(tmp_path: Path) -> None:
    usual, there = Machine(tmp_path / "usual"), Machine(tmp_path / "there")
    there.wc_words = (sys.executable, "-c", NOT_LINUX + COMMAND)
    assert play(there.repo()) == play(usual.repo())


def test_the_background_of_macos_commits(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.wc_words = (sys.executable, "-c", NOT_LINUX + COMMAND)
    repo = machine.repo()
    repo.ok("new", "login", "--title", "T", env={"WATERCOOLER_SYNC": "background"})
    deadline = time.monotonic() + 20
    while "login" not in repo.git("log", "--format=%s", "--all"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_session_looks_once_a_second_without_inotify(tmp_path: Path) -> None:
    folder, waiter, rung = tmp_path / "balls", tmp_path / "waiter", tmp_path / "rung"
    folder.mkdir()
    waiter.write_text("token")
    before = sleeper.fingerprint([str(folder)], "")
    words = (str(waiter), "token", "0", "30", str(before))
    program = (
        f"{NOT_LINUX}from wc_cli.agents.wake import sleeper; sleeper.main(sys.argv[1:])"
    )
    ringing = ("", "1", str(folder), shutil.which("touch") or "", str(rung))
    sleeping = subprocess.Popen(
        [sys.executable, "-c", program, *words, *ringing],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    try:
        time.sleep(0.5)
        assert sleeping.poll() is None
        (folder / "a.ball").touch()
        assert sleeping.wait(5) == 0
        assert rung.exists()
    finally:
        sleeping.kill()
        sleeping.wait()


def test_the_session_of_a_process_is_unknown_without_proc(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("builtins.open", _no_proc)
    assert processes.started(os.getpid()) is None
    assert mounts.mount_table() == ""
    assert sessions.session_of(os.getpid()) == ""
    assert sessions.state("host:1:2") == sessions.UNKNOWN


def _no_proc(path: object, *_: object, **__: object) -> None:
    raise FileNotFoundError(2, "No such file or directory", path)


# --- names that macOS takes for one ---------------------------------------------

# The same word with a composed and a decomposed letter, and in capitals.
COMPOSED, DECOMPOSED, CAPITALS = "caf\u00e9", "cafe\u0301", "CAF\u00c9"


@pytest.mark.parametrize("name", [DECOMPOSED, CAPITALS])
def test_topics_that_macos_takes_for_one_are_one(machine: Machine, name: str) -> None:
    repo = machine.repo()
    repo.ok("new", COMPOSED, "--title", "T")
    assert f"already a thread {COMPOSED}" in repo.fails(4, "new", name, "--title", "U")
    repo.ok("say", name, "--title", "U")
    assert [entry["title"] for entry in repo.entries(COMPOSED)] == ["T", "U"]
    assert os.listdir(repo.store / "graph/baseline/threads") == [COMPOSED]


@pytest.mark.parametrize("name", [DECOMPOSED, CAPITALS])
def test_branches_of_such_names_have_their_own_threads(
    machine: Machine, name: str
) -> None:
    repo = machine.repo()
    for branch, topic in ((COMPOSED, "one"), (name, "two")):
        repo.git("checkout", "-q", "-b", branch)
        repo.ok("new", topic, "--title", "T")
    for branch, topic in ((COMPOSED, "one"), (name, "two")):
        repo.git("checkout", "-q", branch)
        assert repo.json("whose")["topic"] == topic
        assert f"you · {topic} ·" in repo.ok("statusline", "--color=never").out


def test_a_file_is_claimed_by_both_forms_of_its_name(machine: Machine) -> None:
    repo = machine.repo()
    repo.ok("claim", f"{COMPOSED}.py", "--as", "Codex")
    refused = repo.fails(20, "claim", f"{DECOMPOSED}.py", "--as", "Claude Code")
    assert "Codex (Pat) edits" in refused

"""``wc demo`` tells the whole story, and leaves nothing behind."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Machine

BIN = Path(__file__).resolve().parents[3] / "bin"


def test_the_demo(machine: Machine) -> None:
    place = machine.folder("anywhere")
    temporary = machine.root / "tmp"
    temporary.mkdir()
    env = {"TMPDIR": str(temporary), "PATH": f"{BIN}:{machine.env['PATH']}"}
    done = place.ok("demo", "--all", env=env)
    told = [
        "wc new login",
        "🎾",
        "Codex",
        "wc brief",
        "first come, first served",
        "tools/call read_thread login",
        "wc say login",
        "wc wait --hook wake",
        "This came while you were idle.",
        "(2)",
        "hot      auth.py · in login",
        "⚠ auth.py with Codex@login",
        "claimed for 15m: auth.py",
        "SWITCH_TASK",
        "(32)",
        "No two of them change the same file.",
        "wc new logout -m 'Log out everywhere' --body '- [ ] one button'",
        "wc ready logout",
        "it waits for login",
        "wc handoff login",
        "wc done login -m Merged",
        "wc done login -m 'It works'",
        "login is closed: logout can begin",
        "wc stats login",
        "git log",
        "cat ../bin/codex",
        "wc run --once",
        "▶ export · Codex · started in ",
        "✓ export · Codex · passed to dev",
        "Export the list\n",
        "OPEN · ball: dev · 3 entries",
        "wc land export --clean",
        "export: landed on main as ",
        "wc sync",
        "origin: 14 entries (login 6, export 5, docs, logout, release) went",
        "git clone",
        "wc ack release",
        "1 entry (release) came · 1 entry (release) went",
        "release ⑂",
        "wc read release --commits",
        "The phone is not tested",
        "The notes are written",
    ]
    places = [done.out.find(one) for one in told]
    assert -1 not in places, dict(zip(told, places, strict=True))
    assert not re.search("Traceback|broke", done.out + done.err)
    assert os.listdir(temporary) == []
    assert os.listdir(place.path) == []
    assert not (machine.home / ".watercooler").exists()


@pytest.mark.long
def test_the_demo_stops_after_six_scenes(machine: Machine) -> None:
    place = machine.folder("anywhere")
    out = place.ok("demo", env={"PATH": f"{BIN}:{machine.env['PATH']}"}).out
    assert len(re.findall("^# ", out, re.MULTILINE)) == 6
    assert "Claude Code has the ball" in out or "🎾" in out
    assert out.endswith("wc demo --all\n")


def test_at_a_terminal_it_waits_for_enter_after_each_scene(machine: Machine) -> None:
    place = machine.folder("anywhere")
    ours, theirs = pty.openpty()
    env = {**machine.env, "TERM": "xterm", "PATH": f"{BIN}:{machine.env['PATH']}"}
    with subprocess.Popen(
        [*machine.wc_words, "demo"],
        cwd=place.path,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.STDOUT,
    ) as process:
        shown = _until(ours, "--fast)")
        assert shown.count("# ") == 1
        os.write(ours, b"\n")
        shown = _until(ours, "--fast)")
        assert "wc new login" in shown
        process.send_signal(signal.SIGINT)
        process.wait(30)
    os.close(ours)
    os.close(theirs)


def _until(terminal: int, text: str) -> str:
    shown = ""
    while text not in shown:
        assert select.select([terminal], [], [], 30)[0], shown
        shown += os.read(terminal, 65536).decode(errors="replace")
    return shown

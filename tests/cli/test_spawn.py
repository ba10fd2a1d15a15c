"""A process that outlives its command keeps nothing of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Seconds after which what should happen soon is taken for failed.
LONG = 20
STARTS = ["spawn.start_detached(task, env)"]
if sys.platform == "linux":
    STARTS.append("spawn.fork_detached([task], env)")
    STARTS.append("spawn.fork_detached([task, spawn.Task('nothing', ())], env)")
MODULE = """
import os, sys
def main():
    opened = []
    for handle in range(64):
        try:
            os.fstat(handle)
        except OSError:
            continue
        opened.append(handle)
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(repr(opened))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
"""
PROGRAM = """
import os, sys
sys.path.insert(0, {folder!r})
from wc_cli.ledger import spawn
spawn._HANDLES = {handles!r} or spawn._HANDLES
files = [os.open(os.devnull, os.O_RDONLY) for _ in range(6)]
for file in files[:4]:
    os.set_inheritable(file, True)
env = os.environ | {{"PYTHONPATH": {folder!r}}}
task = spawn.Task("reporter", ({report!r},), files[1])
{start}
print(files[1])
"""


def run(program: str) -> str:
    words = [sys.executable, "-c", program]
    return subprocess.run(
        words, stdout=subprocess.PIPE, check=True, timeout=LONG, text=True
    ).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked here")
def test_the_last_task_is_done_without_room_for_another_process(
    tmp_path: Path,
) -> None:
    (tmp_path / "reporter.py").write_text(MODULE)
    report = tmp_path / "report"
    program = f"""
import os, sys
sys.path.insert(0, {str(tmp_path)!r})
from wc_cli.ledger import spawn
fork, command = os.fork, os.getpid()
def one_fork():
    if os.getpid() != command:
        raise BlockingIOError("no room")
    return fork()
os.fork = one_fork
tasks = [spawn.Task("nothing", ()), spawn.Task("reporter", ({str(report)!r},))]
spawn.fork_detached(tasks, os.environ)
"""
    run(program)
    deadline = time.monotonic() + LONG
    while not report.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("handles", ["", "/no such folder"])
def test_only_the_file_that_is_kept_is_open(
    tmp_path: Path, start: str, handles: str
) -> None:
    """A pipe or a lock of the calling script ends with the command."""
    (tmp_path / "reporter.py").write_text(MODULE)
    report, folder = tmp_path / "report", str(tmp_path)
    program = PROGRAM.format(
        folder=folder, handles=handles, start=start, report=str(report)
    )
    kept = int(run(program))
    deadline = time.monotonic() + LONG
    while not report.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert json.loads(report.read_text()) == [0, 1, 2, kept]


def test_a_program_that_writes_again_has_few_processes_to_wait_for() -> None:
    program = """
import os
from wc_cli.ledger import spawn
spawn.start_detached(spawn.Task("wc_cli", ()), os.environ)
ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
spawn.start_detached(spawn.Task("wc_cli", ()), os.environ)
try:
    os.waitpid(ended, os.WNOHANG)
except ChildProcessError:
    print("gone")
"""
    assert run(program) == "gone\n"

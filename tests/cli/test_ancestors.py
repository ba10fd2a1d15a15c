"""Who a command is for whose program sets no variable: with real processes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.conftest import Repo

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="processes are looked up in /proc"
)

# Runs the words in its arguments as an agent does: none of the three is a terminal.
# With "raw" it has its terminal's keys for itself in the meantime; with "detached" the
# command has no terminal at all; "serve" starts our server first, "page" the one with
# the web page. "start" starts the server without a connection to it, and "adopt" has
# adopted it from a client that has ended.
PROGRAM = """\
import ctypes, os, subprocess, sys, tty
modes, words = sys.argv[1].split(","), sys.argv[2:]
if "raw" in modes:
    tty.setraw(0)
server = None
if "serve" in modes or "start" in modes:
    pipe = subprocess.PIPE if "serve" in modes else None
    server = subprocess.Popen(["wc-observe"], stdin=pipe)
if "adopt" in modes:
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
    child = os.fork()
    if not child:
        subprocess.Popen(["wc-observe"], stdin=subprocess.PIPE)
        os._exit(0)
    os.waitpid(child, 0)
if "page" in modes:
    server = subprocess.Popen(["wc-observe", "web", "--port", "0"])
pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
done = subprocess.run(
    words, stderr=subprocess.STDOUT, start_new_session="detached" in modes, **pipes
)
if server:
    server.kill()
with open("said", "wb") as file:
    file.write(done.stdout)
"""
PAT, UNKNOWN = "Pat", "Agent (Pat)"


class Stage:
    """A folder with programs of other names, and a repository to run them in."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.bin = repo.machine.root / "bin"
        self.bin.mkdir()
        self.env = {**repo.machine.env, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        del self.env["WATERCOOLER_DETECT"]
        self.script("wc-observe", "#!/bin/sh\nsleep 60\n:\n")
        whoami = f'exec {sys.executable} -c "$MAIN" whoami --json "$@"\n'
        self.env["MAIN"] = "from wc_cli.run.main import main; main()"
        self.script("who", f"#!/bin/sh\n{whoami}")

    def script(self, path: str, text: str) -> Path:
        """A script in the folder of programs, or below it."""
        file = self.bin / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def program(self, name: str) -> str:
        """Python by another name, which is what the kernel shows."""
        path = self.bin / name
        if not path.exists():
            path.symlink_to(sys.executable)
        return str(path)

    def name(
        self, words: list[str], env: Mapping[str, str] = {}, *, terminal: bool = False
    ) -> str:
        """Who a command is in a session of its own that nobody waits for, with a
        terminal or without."""
        answer = self.repo.path / "said"
        answer.unlink(missing_ok=True)
        full = {**self.env, **env}
        with _orphan(words, str(self.repo.path), full, terminal=terminal):
            deadline = time.monotonic() + 30
            while not (answer.exists() and answer.read_text().endswith("\n")):
                assert time.monotonic() < deadline
                time.sleep(0.02)
        name: str = json.loads(answer.read_text())["name"]
        return name


@contextlib.contextmanager
def _orphan(
    words: list[str], cwd: str, env: Mapping[str, str], *, terminal: bool
) -> Iterator[None]:
    """A process in a session of its own, whose parent has ended. It is ended with the
    block, and so is everything in its group."""
    master, slave = os.openpty() if terminal else (-1, os.open(os.devnull, os.O_RDWR))
    reading, writing = os.pipe()
    middle = os.fork()
    if not middle:
        leader = os.fork()
        if not leader:
            _become(words, cwd, env, slave)
        os.write(writing, str(leader).encode())
        os._exit(0)
    os.waitpid(middle, 0)
    leader = int(os.read(reading, 20))
    for handle in (reading, writing, slave):
        os.close(handle)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader, signal.SIGKILL)
        if terminal:
            os.close(master)


def _become(words: list[str], cwd: str, env: Mapping[str, str], slave: int) -> None:
    """Make this process the leader of a session, and then another program."""
    try:
        os.setsid()
        if os.isatty(slave):
            # Opened by the leader of a session, it becomes the session's terminal.
            os.close(os.open(os.ttyname(slave), os.O_RDWR))
        for handle in range(3):
            os.dup2(slave, handle)
        os.chdir(cwd)
        os.execvpe(words[0], words, env)
    finally:
        os._exit(127)


@pytest.fixture
def stage(repo: Repo) -> Stage:
    repo.ok("init")
    return Stage(repo)


@pytest.fixture
def runner(stage: Stage) -> str:
    return str(stage.script("lib/runner.py", PROGRAM))


@pytest.mark.parametrize(
    "modes", ["plain", "detached", "plain,tty", "detached,tty", "raw,tty"]
)
def test_an_agent_of_the_table_by_its_program(
    stage: Stage, runner: str, modes: str
) -> None:
    # A login shell, as Codex and others start it, replaces PATH.
    stage.script("../home/.bash_profile", f"PATH={stage.env['PATH']}\n")
    words = [stage.program("cline"), runner, modes, "bash", "-lc", "who"]
    assert stage.name(words, terminal="tty" in modes) == "Cline (Pat)"


@pytest.mark.parametrize("title", ["kimi-code", "kimi-co"])
def test_an_agent_that_renames_its_process(stage: Stage, title: str) -> None:
    """Its command line has nothing but the title, cut to the room that there is."""
    kimi = stage.bin / "kimi"
    shutil.copy(shutil.which("bash") or "", kimi)
    start = f"exec -a {title} {kimi} -c 'who >said; :'"
    assert stage.name(["bash", "-c", start]) == "Kimi Code (Pat)"


@pytest.mark.parametrize("name", ["cn", "node_modules/@continuedev/cli/dist/cn.js"])
def test_an_agent_of_the_table_by_its_package(stage: Stage, name: str) -> None:
    script = stage.script("node_modules/@continuedev/cli/dist/cn.js", PROGRAM)
    (stage.bin / "cn").symlink_to(script)
    words = [stage.program("node"), str(stage.bin / name), "plain", "who"]
    assert stage.name(words, terminal=True) == "Continue (Pat)"
    # A given name wins over a detected one.
    assert stage.name(words, {"WATERCOOLER_AGENT": "Pat"}) == PAT
    assert stage.name(words, {"CLAUDECODE": "1"}) == "Claude Code (Pat)"
    assert stage.name([*words, "--as", "Codex"]) == "Codex (Pat)"
    assert stage.name(words, {"WATERCOOLER_DETECT": "off"}) == PAT


@pytest.mark.parametrize(
    ("program", "modes", "env", "expected"),
    [
        # Agents that nobody knows: they have the terminal, or there is none.
        ("node", "plain", {}, UNKNOWN),
        ("node", "detached", {}, UNKNOWN),
        ("bun", "raw,tty", {}, UNKNOWN),
        ("node", "raw,detached,tty", {}, UNKNOWN),
        ("newagent", "serve", {}, UNKNOWN),
        ("newagent", "serve,detached,tty", {}, UNKNOWN),
        # Scripts, cron, CI and tests of people.
        ("node", "plain,tty", {}, PAT),
        ("node", "detached,tty", {}, PAT),
        ("python3", "plain", {}, PAT),
        ("python3", "raw,tty", {}, PAT),
        ("cron", "detached", {}, PAT),
        ("node", "plain", {"CI": "true"}, PAT),
        ("node", "plain", {"NODE_ENV": "test"}, PAT),
        ("newagent", "plain", {}, PAT),
        ("emacs", "serve,tty", {}, PAT),
        ("newagent", "page", {}, PAT),
        # What starts everything, and what adopts what others started.
        ("newagent", "start", {}, PAT),
        ("newagent", "start,detached", {}, PAT),
        ("newagent", "adopt", {}, PAT),
        ("supervisord", "serve", {}, PAT),
    ],
)
def test_others(
    stage: Stage, program: str, modes: str, env: Mapping[str, str], expected: str
) -> None:
    runner = str(stage.script("lib/runner.py", PROGRAM))
    words = [stage.program(program), runner, modes, "sh", "-c", "who; :"]
    assert stage.name(words, env, terminal="tty" in modes) == expected


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_pipeline_in_a_terminal_that_an_agent_opened_is_a_persons(
    stage: Stage, shell: str
) -> None:
    """The editor that has the terminal is an agent as well; a person types into it."""
    typed = "who </dev/null 2>&1 | cat >said; sleep 60"
    assert stage.name([shell, "-c", typed], terminal=True) == PAT


def test_a_terminal_makes_a_person(stage: Stage) -> None:
    """Even below an agent's program: one that opens a terminal for its commands sets
    a variable."""
    program = "import subprocess; subprocess.run('who >said', shell=True)"
    words = [stage.program("cline"), "-c", program]
    assert stage.name(words, terminal=True) == PAT


def test_an_agent_that_the_prompt_cannot_know_leaves_no_file_there(
    stage: Stage, runner: str
) -> None:
    folder = stage.repo.store / ".local/me/=main"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    words = [stage.program("cline"), runner, "plain", "who"]
    assert stage.name(words) == "Cline (Pat)"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_explained(stage: Stage, runner: str) -> None:
    words = [stage.program("cline"), runner, "plain", "who", "--explain"]
    stage.name(words)
    said = json.loads((stage.repo.path / "said").read_text())
    rules = said["explanation"]["agent"]
    assert [(rule["rule"], rule["found"]) for rule in rules if rule["won"]] == [
        ("program", "Cline")
    ]
    assert said["source"] == "program"
    # The script at the prompt looks at no processes.
    assert not said["explanation"]["status_line"]["same"]

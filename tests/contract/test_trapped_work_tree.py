"""A work tree holds what was pushed to it: nothing that we start imports a module or
runs a program from there.

It has a module with the name of each module of Python, of our libraries and of our own
packages, and a program with the name of each that we start. All they do is write their
name into a file, which must not come to be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import amounts
from tests.cli.carry.places import new_hub
from tests.cli.runs.running import ask_for, events, names, state
from tests.cli.runs.test_running import with_standins
from tests.clients.conftest import installed
from tests.conftest import SOURCE, Repo
from tests.observe.serving import HELLO
from wc_cli.run.table import COMMANDS
from wc_core.base.programs import own_words

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTALLED = Path(sys.executable).parent
LIBRARIES = {"anyio", "fastmcp", "httpx", "mcp", "pydantic", "rich", "typer", "uvicorn"}
OURS = {"wc_cli", "wc_core", "wc_observe"}
STARTED = ("bash", "claude", "gh", "git", "grep", "less", "lsof", "notify-send", "ps")
MORE_STARTED = ("python3", "readlink", "sh", "ssh", "tmux", "wc-cli", "wc-observe")
# What runs in the background, by its module; without arguments it only imports.
BACKGROUND = (
    "wc_cli.agents.wake.waiting",
    "wc_cli.bridges.enrich.following",
    "wc_cli.bridges.notify.notifying",
    "wc_cli.edits.graph.refreshing",
    "wc_cli.edits.radar.refreshing",
    "wc_cli.edits.review.seeing",
    "wc_cli.ledger.index.refreshing",
    "wc_cli.run.background",
)
# Entries of a person's own settings that stand for the current folder.
RELATIVE = {"PATH": ".:bin::", "PYTHONPATH": ":.:"}
WAKES = 2
SESSION = {"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}


class Trapped(Repo):
    """A repository with traps in its work tree, and the commands as installed."""

    @property
    def mark(self) -> Path:
        return self.machine.root / "sprung"

    def sprung(self) -> list[str]:
        return self.mark.read_text().split() if self.mark.exists() else []

    def set_traps(self) -> None:
        """Make the traps, in a commit, so that each new worktree has them, too."""
        module = f"open({str(self.mark)!r}, 'a').write(__file__ + '\\n')\n"
        for name in (sys.stdlib_module_names | LIBRARIES | OURS) - {"__main__"}:
            (self.path / f"{name}.py").write_text(module)
        for name in (*STARTED, *MORE_STARTED):
            program = self.path / name
            program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$0" >>"{self.mark}"\n')
            program.chmod(0o755)
        self.git("add", "-A")
        self.git("commit", "-qm", "traps")

    def processes(self, *words: str, **env: str) -> subprocess.Popen[bytes]:
        """Start a program in the work tree."""
        return subprocess.Popen(
            words,
            cwd=self.path,
            env={**self.machine.env, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Trapped]:
    machine = with_standins(installed(tmp_path))
    machine.wc_words = (str(SOURCE.parent / "bin/wc"),)
    # As for a person: with what runs in the background.
    for name in ("PYTHONPATH", "PYTHONWARNINGS", "WATERCOOLER_SYNC"):
        machine.env.pop(name, None)
    trapped = Trapped(machine, machine.repo().path)
    trapped.set_traps()
    yield trapped
    assert trapped.sprung() == []


def relative(repo: Trapped) -> dict[str, str]:
    env = repo.machine.env
    return {**RELATIVE, "PATH": RELATIVE["PATH"] + env["PATH"]}


def test_the_traps_work(repo: Trapped) -> None:
    """Each would be noticed by the other tests."""
    done = repo.machine.run([sys.executable, "-c", "import json"], repo.path)
    assert not done.code
    repo.machine.run(["/bin/sh", "-c", "git"], repo.path, env=relative(repo))
    assert repo.sprung() == [str(repo.path / "json.py"), "./git"]
    repo.mark.unlink()


@pytest.mark.parametrize("program", ["wc", "wc-cli"])
def test_the_help_of_every_command(repo: Trapped, program: str) -> None:
    start = (
        str(SOURCE.parent / "bin/wc") if program == "wc" else str(INSTALLED / "wc-cli")
    )
    chosen = list(COMMANDS)[:: 1 if amounts.is_long() else 8]

    def fails(name: str) -> str:
        done = repo.machine.run([start, name, "--help"], repo.path)
        return f"{name}: {done.err}" if done.code or not done.out else ""

    with ThreadPoolExecutor(2) as threads:
        assert [*filter(None, threads.map(fails, chosen))] == []


@pytest.mark.parametrize("settings", ["usual", "relative"])
def test_a_day(repo: Trapped, settings: str) -> None:
    new_hub(repo, repo.machine.root / "hub.git")
    env = relative(repo) if settings == "relative" else {}
    hook = json.dumps({**SESSION, "cwd": str(repo.path)}).encode()
    for words in (
        ("new", "login", "-m", "Log in", "--to", "Codex"),
        ("say", "login", "-m", "More", "--as", "Codex"),
        ("list",),
        ("read", "login"),
        ("search", "log"),
        ("claim", "code.txt", "-m", "why", "--thread", "login"),
        ("claims",),
        ("radar",),
        ("neighbors", "."),
        ("read", "--commits"),
        ("whoami",),
        ("worktrees",),
        ("review", "login"),
        ("land", "--all", "--dry-run"),
        ("run", "--dry-run"),
        ("inbox",),
        ("statusline",),
        ("sync",),
        ("doctor",),
        ("close", "login", "-m", "Done"),
    ):
        done = repo.wc(*words, env=env)
        assert "Traceback" not in done.err, (words, done)
        assert done.code in {0, 4, 9}, (words, done)
    for event in ("session-start", "stop", "before-tool", "after-tool"):
        brief = ("brief", "--hook", event, "--client", "claude")
        assert not repo.wc(*brief, env=env, feed=hook).code
    for script in ("wc-guard", "wc-statusline"):
        words = (str(SOURCE.parent / "bin" / script), "after-tool", "claude")
        if settings == "usual":
            assert not repo.machine.run(words, repo.path, feed=hook).code
    settled(repo)


def settled(repo: Trapped) -> None:
    """Wait until the background has committed what was written."""
    deadline = time.monotonic() + amounts.patience(20)
    while os.listdir(repo.store / ".local/unsettled"):
        assert time.monotonic() < deadline, "the background did not settle"
        time.sleep(0.05)


def test_background_processes(repo: Trapped) -> None:
    for module in BACKGROUND:
        for env in ({}, relative(repo)):
            words = own_words(module, (), {**repo.machine.env, **env})
            done = repo.machine.run(words, repo.path, env=env)
            assert "ModuleNotFoundError" not in done.err, done


def test_what_waits_for_a_ball(repo: Trapped) -> None:
    """It executes a sleeper, and that one it again."""
    repo.ok("new", "login", "-m", "Log in", "--as", "Codex", "--to", "Codex")
    hook = json.dumps({"session_id": "s1", "cwd": str(repo.path)}).encode()
    words = ("wait", "--hook", "wake", "--client", "claude")
    agent = {"WATERCOOLER_AGENT": "Claude Code"}
    with repo.processes(*repo.machine.wc_words, *words, **agent) as idle:
        try:
            assert idle.stdin is not None
            idle.stdin.write(hook)
            idle.stdin.close()
            idle.stdin = None
            commands = Path(f"/proc/{idle.pid}/cmdline")
            deadline = time.monotonic() + amounts.patience(20)
            while b"sleeper" not in commands.read_bytes():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            ball = ("say", "login", "-m", "Yours", "--to", "Claude Code")
            repo.ok(*ball, "--as", "Codex")
            assert idle.wait(amounts.patience(30)) == WAKES
        finally:
            idle.kill()


def test_an_agent_runs_and_its_work_lands(repo: Trapped) -> None:
    """The landing is a process of its own."""
    ask_for(repo, "login", "work done")
    assert names(events(repo))[0] == ("started", "login")
    repo.ok("say", "login", "--approve", "--to", "Pat")
    assert ("landed", "login") in names(events(repo, "--land"))
    assert state(repo, "login")["status"] == "CLOSED"


def test_the_server(repo: Trapped) -> None:
    repo.ok("new", "login", "-m", "Log in")
    with repo.processes(str(INSTALLED / "wc-observe")) as server:
        try:
            assert request(server, HELLO)["result"]["serverInfo"]
            call = {"name": "watercooler_v1_list_threads", "arguments": {}}
            fields = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
            answer = request(server, {**fields, "params": call})
            assert "login" in json.dumps(answer["result"])
        finally:
            server.kill()


def request(server: subprocess.Popen[bytes], message: dict[str, Any]) -> Any:
    """The server's answer to a message."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


@pytest.mark.parametrize("kind", ["http", "web"])
def test_the_page_and_the_server_over_http(repo: Trapped, kind: str) -> None:
    repo.ok("new", "login", "-m", "Log in")
    options = ("--transport", "http") if kind == "http" else ("web",)
    words = (str(INSTALLED / "wc-observe"), *options, "--port", "0")
    with repo.processes(*words) as server:
        try:
            stream = server.stderr if kind == "http" else server.stdout
            assert stream is not None
            assert b"http://" in stream.readline()
        finally:
            server.kill()

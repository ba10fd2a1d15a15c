"""A repository with threads, and the commands as a person has them installed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests import forking
from tests.clients.asking import (
    ARGUMENTS,
    PROMPT_ARGUMENTS,
    SAID,
    TOPIC,
    WATCHED,
    WRONG,
)
from tests.conftest import SOURCE, Done, Machine, Repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_ADDRESS = re.compile(r"store: (http://\S+)")
SECONDS = 60.0
# No client may call home, look for a newer version, or wait for a person.
SILENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DO_NOT_TRACK": "1",
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "NO_COLOR": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "QWEN_TELEMETRY_ENABLED": "false",
}


class Place(NamedTuple):
    """A repository with a store; its machine has ``wc-observe`` on PATH."""

    repo: Repo

    @property
    def server(self) -> list[str]:
        """The command that a client is told to start."""
        return [str(self.repo.machine.root / "bin/wc-observe")]

    @property
    def env(self) -> dict[str, str]:
        """What a client is started with: nothing of these tests but the place."""
        mine = self.repo.machine.env
        kept = ("HOME", "PATH", "LC_ALL", "GIT_CONFIG_NOSYSTEM", "TMPDIR")
        return {name: mine[name] for name in kept if name in mine} | SILENT

    def run(self, words: Sequence[str], **more: str) -> Done:
        """Run a client's program in the repository."""
        machine = self.repo.machine
        env = self.env | more
        return machine.run(
            words, self.repo.path, env=env, without=[*(set(machine.env) - set(env))]
        )

    def question(self, **more: Any) -> dict[str, Any]:
        """What a client library is asked to do; the server is started outside
        of the repository, which only the client's root names."""
        return {
            "command": self.server[0],
            "cwd": str(self.repo.machine.home),
            "env": self.env,
            "root": self.repo.path.as_uri(),
            "arguments": ARGUMENTS,
            "prompts": PROMPT_ARGUMENTS,
            "wrong": WRONG,
            "thread": f"watercooler://threads/{TOPIC}",
            "completing": TOPIC[:4],
            "missing": "watercooler://threads/no-such-thread",
        } | more


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """One store for all clients: they only read it."""
    repo = installed(tmp_path_factory.mktemp("clients")).repo()
    repo.ok("init")
    repo.ok("new", TOPIC, "--title", "Sign in with a passkey")
    repo.ok("say", TOPIC, "--title", "The plan", "--body", SAID, "--to", "Codex")
    repo.ok(
        *("say", TOPIC, "--title", "Done", "--body", "src/auth.py has it.", "--to"),
        *("Pat", "--as", "Codex"),
    )
    repo.ok("new", WATCHED, "--title", "Notes")
    return Place(repo)


def installed(root: Path, *, starts: bool = False) -> Machine:
    """A machine that has our commands on PATH. With ``starts`` its server starts as
    anyone starts it, and is not forked."""
    machine = Machine(root)
    folder = machine.root / "bin"
    folder.mkdir()
    wc = [sys.executable, "-c", "from wc_cli.run.main import main; main()"]
    for name in ("wc", "wc-cli"):
        _command(folder / name, wc)
    observe = [sys.executable, "-c", "from wc_observe.main import main; main()"]
    _command(folder / "wc-observe", observe if starts else forking.observing({}))
    shutil.copy(SOURCE.parent / "bin/wc-guard", folder)
    machine.env["PATH"] = f"{folder}:{machine.env['PATH']}"
    return machine


def _command(path: Path, words: list[str]) -> None:
    text = (
        # The second line is that of our own programs.
        "#!/bin/sh\n# watercooler-launcher\n"
        f"PYTHONPATH={shlex.quote(str(SOURCE))} PYTHONWARNINGS=error \\\n"
        f'exec {shlex.join(words)} "$@"\n'
    )
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture(scope="session")
def address(place: Place) -> Iterator[str]:
    """Where the server listens, in the repository, with the limits of everyone."""
    told = place.repo.machine.root / "listening"
    with (
        told.open("w") as errors,
        subprocess.Popen(
            [*place.server, "--transport", "http", "--port", "0"],
            cwd=place.repo.path,
            env=place.env,
            stdin=subprocess.DEVNULL,
            stderr=errors,
        ) as server,
    ):
        try:
            yield _address(server, told)
        finally:
            server.terminate()
    assert server.returncode == 0


def _address(server: subprocess.Popen[bytes], told: Path) -> str:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        if found := _ADDRESS.search(told.read_text()):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(told.read_text())

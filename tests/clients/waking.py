"""Agents at their prompt in a terminal, as people have them: how each is started, told
something, and ended."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import amounts
from tests.clients import installing
from tests.clients.coding import AGENTS
from tests.clients.scripted import PROMPT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tests.clients.conftest import Place
    from tests.clients.scripted import Call, Service

SECONDS = amounts.patience(40.0)
_CAME = "This came while you were idle."
_KEY = "sk-none-none-none-none-none"


def until(
    met: Callable[[], bool], what: str, about: object = "", seconds: float = SECONDS
) -> float:
    """Wait for something; return after how many seconds it was so. ``about`` is shown
    if it never is."""
    begun = time.monotonic()
    while not met():
        assert time.monotonic() - begun < seconds, f"{what}\n{about}"
        time.sleep(0.05)
    return time.monotonic() - begun


def processes_of(place: Place) -> list[str]:
    """The processes that wait for balls in a repository."""
    store = str(place.repo.store)
    lines = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    ours = (line for line in lines if "wc_cli.agents.wake.waiting" in line)
    return [line for line in ours if store in line]


class Terminal:
    """A terminal of tmux in which a program runs."""

    def __init__(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], socket: Path
    ) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        pairs = [f"{name}={value}" for name, value in env.items()]
        command = shlex.join(["env", "-i", "TERM=xterm-256color", *pairs, *words])
        size = ("-x", "140", "-y", "50")
        self._run("new-session", "-d", *size, "-c", str(folder), command)
        self._run("set-option", "-g", "remain-on-exit", "on")

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [*self._tmux, *words], capture_output=True, text=True, check=False
        )
        return done.stdout

    @property
    def screen(self) -> str:
        """What it shows."""
        return self._run("capture-pane", "-p")

    @property
    def has_ended(self) -> bool:
        """Whether the program has."""
        return self._run("list-panes", "-F", "#{pane_dead}").strip() != "0"

    @property
    def pid(self) -> int:
        """The program's process."""
        return int(self._run("list-panes", "-F", "#{pane_pid}"))

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._run("send-keys", *keys)

    def say(self, text: str) -> None:
        """Type a prompt and send it; agents take what comes too fast for pasted."""
        self._run("send-keys", "-l", text)
        time.sleep(0.6)
        self.press("Enter")

    def close(self) -> None:
        """End everything that runs in it."""
        self._run("kill-server")


class IdleAgent(NamedTuple):
    """An agent that can be woken. ``prepare`` makes its settings and returns its
    command line and variables, ``ready`` is on the screen when it takes a prompt,
    ``answers`` are keys for questions that it asks first; ``leave`` ends it.
    ``latest`` is how many seconds it may take from the call to its turn."""

    client: str
    name: str
    prepare: Callable[[Service, Place], tuple[list[str], dict[str, str]]]
    ready: str
    leave: str
    latest: float
    answers: Mapping[str, tuple[str, ...]] = {}


def _claude(service: Service, place: Place) -> tuple[list[str], dict[str, str]]:
    (program,) = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude"
    )
    home, folder = place.repo.machine.home, str(place.repo.path)
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
        "projects": {folder: {"hasTrustDialogAccepted": True}},
    }
    file = home / ".claude.json"
    file.write_text(json.dumps(settings))
    env = {"ANTHROPIC_API_KEY": _KEY, "ANTHROPIC_BASE_URL": service.address}
    env |= {"ENABLE_TOOL_SEARCH": "false", "IS_SANDBOX": "1"}
    mode = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash(sleep:*)")
    return [program, *mode], env


def _codex(service: Service, place: Place) -> tuple[list[str], dict[str, str]]:
    (program,) = installing.agent("@openai/codex").binary(
        "@openai/codex-*/vendor/*/bin/codex"
    )
    config = place.repo.machine.home / ".codex/config.toml"
    before = config.read_text() if config.exists() else ""
    ours = (
        'model_provider = "stand-in"',
        "[model_providers.stand-in]",
        'name = "stand-in"',
        f'base_url = "{service.address}/v1"',
        'wire_api = "responses"',
        'env_key = "OPENAI_API_KEY"',
        f'[projects."{place.repo.path}"]',
        'trust_level = "trusted"',
    )
    config.write_text("\n".join((*ours, before)))
    words = ("--dangerously-bypass-hook-trust", "-m", "gpt-6-sol")
    access = "--dangerously-bypass-approvals-and-sandbox"
    return [program, *words, access], {"OPENAI_API_KEY": "none"}


def _opencode(service: Service, place: Place) -> tuple[list[str], dict[str, str]]:
    (program,) = installing.agent("opencode-ai").binary(
        "opencode-linux-x64/bin/opencode"
    )
    options = {"baseURL": f"{service.address}/v1", "apiKey": "none"}
    model = "anthropic/stand-in"
    settings = {
        "autoupdate": False,
        "provider": {"anthropic": {"options": options, "models": {"stand-in": {}}}},
        "model": model,
        "small_model": model,
    }
    file = place.repo.machine.home / ".config/opencode/opencode.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(before | settings))
    return [program], {}


CLAUDE = IdleAgent("claude", "Claude Code", _claude, "shift+tab to cycle", "/exit", 5.0)
# Codex looks into its queue every ten seconds.
CODEX = IdleAgent("codex", "Codex", _codex, "Ask Codex", "/quit", 15.0)
OPENCODE = IdleAgent("opencode", "opencode", _opencode, "Ask anything", "/exit", 5.0)
IDLE_AGENTS = {agent.client: agent for agent in (CLAUDE, CODEX, OPENCODE)}


class Session:
    """An agent at its prompt, with its model."""

    def __init__(
        self, agent: IdleAgent, place: Place, service: Service, socket: Path
    ) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("NO TMUX: agents in a terminal are not tested")
        words, env = agent.prepare(service, place)
        self.agent, self.place, self.service = agent, place, service
        whole = {**place.env, **env}
        self.terminal = Terminal(words, place.repo.path, whole, socket)

    def agent_shell(self, command: str) -> Call:
        """The call by which its model runs a command."""
        name = "codex-scripts" if self.agent.client == "codex" else self.agent.client
        return AGENTS[name].shell(command)

    @property
    def turns(self) -> list[str]:
        """What the model was sent for each turn."""
        return self.service.read["main"]

    @property
    def wakes(self) -> int:
        """How often the model was told that something came while it was idle."""
        return self.turns[-1].count(_CAME) if self.turns else 0

    @property
    def told(self) -> bool:
        """Whether the model knows of the ball of ``login``, from waking or a hook."""
        return "- login · OPEN" in self.turns[-1] or 'ball of "login"' in self.turns[-1]

    @property
    def waiters(self) -> list[str]:
        """The processes that wait for balls here."""
        return processes_of(self.place)

    def begin(self) -> None:
        """Take a first turn, after which it is idle and is waited for."""
        ready = self.agent.ready
        # The first start of opencode takes half a minute, on a busy machine longer.
        until(lambda: ready in self.terminal.screen, "no prompt", self, 3 * SECONDS)
        time.sleep(1)
        self.terminal.say(PROMPT)
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        """Wait until a turn is over, and something waits for balls."""
        until(lambda: bool(self.turns), "no turn", self)
        until(lambda: len(self.waiters) == 1, "nothing waits", self)
        time.sleep(2.5)  # the hooks of the stop
        until(lambda: len(self.waiters) == 1, "nothing waits", self)

    def __str__(self) -> str:
        return "\n".join((self.terminal.screen, *self.waiters))

"""Agents run the hooks that `wc install` sets up, and read what these say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.clients import installing, one_answer, scripted, stand_in
from tests.clients.coding import QWEN
from tests.clients.conftest import Place
from tests.clients.test_agents import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long
WAITS = "This is not ready"
REMINDED = 'Watercooler: you have the ball of \\"'


class Connected(NamedTuple):
    """A place in which one agent is connected, and has a ball."""

    place: Place
    topic: str

    @property
    def home(self) -> Path:
        return self.place.repo.machine.home

    @property
    def sessions(self) -> list[str]:
        """The sessions that were told something, by client."""
        folder = self.place.repo.private / "sessions"
        return [one.name.partition(":")[0] for one in folder.iterdir()]


@pytest.fixture
def connected(place: Place, request: pytest.FixtureRequest) -> Iterator[Connected]:
    """The agent that the test is about."""
    client, agent = request.param
    repo = place.repo.machine.repo(f"app-of-{client}")  # the others' is read only
    topic = f"hooks-of-{client}"
    words = ("--title", "Look at me", "--to", f"{agent} (Pat)", "--force")
    repo.ok("new", topic, *words)
    # Work that waits is not named by the brief.
    waits = ("--title", WAITS, "--to", f"{agent} (Pat)", "--blocked-by", topic)
    repo.ok("new", f"later-for-{client}", *waits, "--force")
    repo.ok("install", client, "--yes", "--only", "hooks")
    yield Connected(Place(repo), topic)
    repo.ok("uninstall", client, "--yes")


@pytest.mark.parametrize("connected", [("gemini", "Gemini CLI")], indirect=True)
def test_gemini_runs_them(connected: Connected) -> None:
    gemini = installing.agent("@google/gemini-cli")
    settings = connected.home / ".gemini/settings.json"
    fields = json.loads(settings.read_text())
    fields["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    settings.write_text(json.dumps(fields))
    with one_answer.serving(one_answer.GEMINI) as service:
        run(
            connected.place,
            gemini.words("gemini", "-m", "gemini-2.5-flash", "-p", "What waits?"),
            GEMINI_API_KEY="none",
            GOOGLE_GEMINI_BASE_URL=service.address,
            GEMINI_CLI_TRUST_WORKSPACE="true",
        )
    begun, *_, stopped = service.told
    assert "<hook_context>Watercooler: you are Gemini CLI (Pat)." in begun
    assert f"- {connected.topic} · OPEN · " in begun
    assert WAITS not in begun
    assert f"{REMINDED}{connected.topic}" in stopped
    assert stopped.count(REMINDED) == 1
    assert "gemini" in connected.sessions


@pytest.mark.parametrize("connected", [("qwen", "Qwen Code")], indirect=True)
def test_qwen_code_runs_them(connected: Connected) -> None:
    with scripted.serving() as service:
        words, env = QWEN.start(service, connected.home)
        run(connected.place, words, **env)
    begun, stopped = service.read[scripted.MAIN]
    assert "Watercooler: you are Qwen Code (Pat)." in begun
    assert f"- {connected.topic} · OPEN · " in begun
    assert WAITS not in begun
    reminder = f'Watercooler: you have the ball of "{connected.topic}"'
    assert reminder not in begun
    assert stopped.count(reminder) == 1
    assert "qwen" in connected.sessions


@pytest.mark.parametrize("connected", [("claude", "Claude Code")], indirect=True)
def test_claude_code_runs_them(connected: Connected) -> None:
    (program,) = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude"
    )
    with stand_in.serving() as service:
        run(
            connected.place,
            [program, "-p", "What waits for me?"],
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_BASE_URL=service.address,
        )
    told = json.dumps(service.asked, ensure_ascii=False)
    assert "Watercooler: you are Claude Code (Pat)." in told
    assert f"- {connected.topic} · OPEN · " in told
    assert WAITS not in told
    assert f"Stop hook feedback:\\n{REMINDED}{connected.topic}" in told
    assert len(service.asked) == 2
    assert "claude" in connected.sessions


@pytest.mark.parametrize("connected", [("codex", "Codex")], indirect=True)
def test_codex_runs_them(connected: Connected) -> None:
    codex = installing.agent("@openai/codex")
    with one_answer.serving(one_answer.RESPONSES) as service:
        provider = {
            "name": json.dumps("stand-in"),
            "base_url": json.dumps(f"{service.address}/v1"),
            "wire_api": json.dumps("responses"),
            "env_key": json.dumps("OPENAI_API_KEY"),
        }
        fields = ", ".join(f"{key} = {value}" for key, value in provider.items())
        words = (
            *("exec", "--dangerously-bypass-hook-trust", "-m", "stand-in"),
            *("-c", f"model_providers.stand-in = {{ {fields} }}"),
            *("-c", 'model_provider = "stand-in"', "What waits for me?"),
        )
        env = {"OPENAI_API_KEY": "none"}
        run(connected.place, codex.words("codex", *words), **env)
    begun, stopped = service.told
    assert "Watercooler: you are Codex (Pat)." in begun
    assert f"- {connected.topic} · OPEN · " in begun
    assert WAITS not in begun
    assert f"{REMINDED}{connected.topic}" in stopped


def test_copilot_runs_those_of_claude_code(place: Place) -> None:
    """Those of the project, in a folder that it trusts. It is not Claude Code there."""
    repo = place.repo.machine.repo("app-of-copilot")
    to = ("--to", "Copilot CLI (Pat)", "--force")
    repo.ok("new", "for-copilot", "--title", "Mine", *to)
    repo.ok("new", "for-claude", "--title", "Theirs", "--to", "Claude Code", "--force")
    repo.ok("install", "claude", "--yes", "--scope", "project", "--only", "hooks")
    repo.ok("install", "copilot", "--yes", "--only", "server")
    asked = scripted.Call("watercooler-watercooler_v1_whoami", {})
    words = ("copilot", "--trust-folder", "--allow-all-tools", "-p", scripted.PROMPT)
    with scripted.serving(asked) as service:
        run(
            Place(repo),
            installing.agent("@github/copilot").words(*words),
            COPILOT_OFFLINE="true",
            COPILOT_MODEL="stand-in",
            COPILOT_PROVIDER_BASE_URL=f"{service.address}/v1",
        )
    repo.ok("uninstall", "copilot", "--yes")
    begun, answered, stopped = service.read[scripted.MAIN]
    assert "Watercooler: you are Copilot CLI (Pat)." in begun
    assert "- for-copilot · OPEN · " in begun
    assert "additionalContext" not in begun  # read, not shown
    assert "you: Copilot CLI (Pat) (by: client" in answered
    reminder = 'Watercooler: you have the ball of "{}"'
    assert stopped.count(reminder.format("for-copilot")) == 1
    assert reminder.format("for-claude") not in stopped


@pytest.mark.parametrize("connected", [("opencode", "opencode")], indirect=True)
def test_opencode_loads_the_plugin(connected: Connected) -> None:
    opencode = installing.agent("opencode-ai").binary("opencode-*/bin/opencode")
    with stand_in.serving() as service:
        options = {"baseURL": f"{service.address}/v1", "apiKey": "none"}
        anthropic = {"options": options, "models": {"stand-in": {"name": "Stand-in"}}}
        settings = {
            "autoupdate": False,
            "provider": {"anthropic": anthropic},
            "model": "anthropic/stand-in",
            "small_model": "anthropic/stand-in",
        }
        file = connected.home / ".config/opencode/opencode.json"
        before = file.read_text() if file.exists() else ""
        file.write_text(json.dumps(settings))
        words = [*opencode, "run", "What waits for me?"]
        run(connected.place, words)
        file.write_text(before or "{}")
    told = json.dumps(service.asked, ensure_ascii=False)
    assert "Watercooler: you are opencode (Pat)." in told
    assert f"- {connected.topic} · OPEN · " in told
    assert WAITS not in told

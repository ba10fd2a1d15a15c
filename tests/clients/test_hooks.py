"""Agents run the hooks that `wc install` sets up, and read what these say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients import installing, scripted
from tests.clients.coding import AGENTS
from tests.clients.conftest import Place
from tests.clients.test_agents import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo

pytestmark = pytest.mark.long
WAITS = "This is not ready"
REMINDER = 'Watercooler: you have the ball of "{}"'


@pytest.fixture
def repo(place: Place, client: str) -> Iterator[Repo]:
    """A place in which one agent is connected, and has a ball."""
    repo = place.repo.machine.repo(f"app-of-{client}")  # the others' is read only
    to = ("--to", f"{AGENTS[client].name} (Pat)", "--force")
    repo.ok("new", "login", "--title", "Look at me", *to)
    # Work that waits is not named by the brief.
    repo.ok("new", "later", "--title", WAITS, "--blocked-by", "login", *to)
    repo.ok("install", client, "--yes", "--only", "hooks")
    yield repo
    repo.ok("uninstall", client, "--yes")


@pytest.mark.parametrize("client", ["claude", "gemini", "qwen", "codex", "opencode"])
def test_an_agent_runs_them(repo: Repo, client: str) -> None:
    agent = AGENTS[client]
    with scripted.serving() as service:
        words, env = agent.start(service, repo.machine.home)
        run(Place(repo), words, **env)
    begun, *stopped = service.read[scripted.MAIN]
    assert f"Watercooler: you are {agent.name} (Pat)." in begun
    assert "- login · OPEN · " in begun
    assert WAITS not in begun
    # The plugin of opencode has no part in the end of a turn.
    reminded = [REMINDER.format("login") in text for text in stopped]
    assert reminded == ([] if client == "opencode" else [True])
    sessions = (repo.private / "sessions").iterdir()
    assert client in {one.name.partition(":")[0] for one in sessions}


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
    assert stopped.count(REMINDER.format("for-copilot")) == 1
    assert REMINDER.format("for-claude") not in stopped

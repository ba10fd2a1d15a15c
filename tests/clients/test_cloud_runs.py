"""``wc run`` with the real clients that start sessions in the cloud, without an
account: they refuse, and the ball is where it was."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.carry.places import new_hub
from tests.clients import installing
from tests.clients.conftest import SILENT, installed
from wc_cli.agents.runs.choosing import RunRequest
from wc_cli.agents.runs.runner import RunEvent, RunLimits, Runner
from wc_cli.run.context import Context
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long
CLIENTS = {
    "Codex": ("codex", "@openai/codex", "@openai/codex-*/vendor/*/bin/codex"),
    "Claude Code": (
        "claude",
        "@anthropic-ai/claude-code",
        "@anthropic-ai/claude-code-*/claude",
    ),
}


@pytest.mark.parametrize("agent", CLIENTS)
def test_a_client_without_an_account_starts_nothing(agent: str, tmp_path: Path) -> None:
    name, package, pattern = CLIENTS[agent]
    (program,) = installing.agent(package).binary(pattern)
    person = installed(tmp_path / "person").repo()
    person.machine.env |= SILENT | {"WATERCOOLER_SYNC": "inline"}
    (person.machine.root / "bin" / name).symlink_to(program)
    new_hub(person, tmp_path / "hub.git")
    person.ok("config", "--global", "set", "run.environment", "acme/app")
    person.ok("new", "login", "-m", "Use a passkey", "--to", f"{agent}@cloud")
    person.ok("sync")
    told: list[RunEvent] = []
    limits = RunLimits(1, once=True, until=time.monotonic() + 90, seconds=60)
    Runner(
        lambda: Context(person.machine.env, str(person.path), Asked()),
        RunRequest(),
        limits._replace(cloud_seconds=30.0),
        told.append,
    ).run(lambda _: None)
    (event,) = told
    assert event.name == "failed"
    if agent == "Codex":
        assert "Please run 'codex login'" in event.text
        assert person.ball("login") == "Codex@cloud"
    # At a terminal, Claude Code may ask a person who is not there how to sign in.
    assert person.ball("login") in {f"{agent}@cloud", "Pat"}
    assert event.text.endswith(f"{person.ball('login')} has the ball")
    assert "cloud/session" not in person.ok("list").out

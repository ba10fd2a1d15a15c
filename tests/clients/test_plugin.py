"""The plugin as Claude Code takes it: checked, installed, started.

The long run downloads its program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients import installing, stand_in
from tests.clients.conftest import Place, installed
from tests.clients.test_agents import run
from tests.conftest import SOURCE

if TYPE_CHECKING:
    from pathlib import Path

ROOT = SOURCE.parent
ID = "watercooler@watercooler"


@pytest.fixture
def program() -> str:
    (found,) = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude"
    )
    return found


@pytest.mark.long
@pytest.mark.parametrize("folder", ["", "src/wc_cli/agents/skill"])
def test_claude_code_finds_nothing_wrong(
    place: Place, program: str, folder: str
) -> None:
    said = run(place, [program, "plugin", "validate", "--strict", str(ROOT / folder)])
    assert "Validation passed" in said


@pytest.mark.long
def test_claude_code_installs_and_uses_it(tmp_path: Path, program: str) -> None:
    # A machine of its own: a plugin's server is not listed beside the same one that
    # another test has set up.
    place = Place(installed(tmp_path).repo())
    place.repo.ok("init")
    plugin = [program, "plugin"]
    run(place, [*plugin, "marketplace", "add", str(ROOT)])
    run(place, [*plugin, "install", ID])
    details = run(place, [*plugin, "details", "watercooler"])
    assert "Skills (1)  watercooler" in details
    assert "Hooks (5)" in details
    listed = run(place, [program, "mcp", "list"])
    assert "plugin:watercooler:watercooler: wc-observe  - ✔ Connected" in listed
    with stand_in.serving() as service:
        run(
            place,
            [program, "-p", "What waits for me?"],
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_BASE_URL=service.address,
            MCP_CONNECTION_NONBLOCKING="false",
        )
        told = service.told
    # The brief of the hook, and that there is a skill.
    assert "Watercooler: nothing waits for you, Claude Code (Pat)." in told
    assert "Hand work over between coding agents and people" in told
    run(place, [*plugin, "uninstall", ID])
    run(place, [*plugin, "marketplace", "remove", "watercooler"])
    assert "watercooler" not in run(place, [*plugin, "list"])

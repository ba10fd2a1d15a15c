"""Who an agent is to the command that it runs, and to the server it starts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.clients import installing, stand_in
from tests.clients.test_agents import NAME, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.conftest import Place


@pytest.mark.long
@pytest.mark.parametrize("seat", ["", "session", "left"])
def test_claude_code_is_one_to_both(place: Place, tmp_path: Path, seat: str) -> None:
    (program,) = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude"
    )
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {NAME: {"command": "wc-observe"}}}))
    calls: tuple[stand_in.Call, ...] = (
        ("Bash", {"command": "wc whoami --json; echo $CLAUDE_CODE_SESSION_ID"}),
        ("whoami", {}),
    )
    # An agent that started this one has left its mark.
    more = {"WATERCOOLER_SEAT": seat, "COPILOT_AGENT": "1"}
    with stand_in.serving(*calls) as service:
        words = ("-p", "Who are you?", "--strict-mcp-config", "--mcp-config")
        allowed = ("--allowedTools", f"mcp__{NAME}__*", "Bash")
        run(
            place,
            [program, *words, str(file), *allowed],
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_BASE_URL=service.address,
            MCP_CONNECTION_NONBLOCKING="false",
            ENABLE_TOOL_SEARCH="false",
            **more,
        )
        said, answered = service.read
    line, session = said.splitlines()
    here, there = json.loads(line), json.loads(answered)
    # What its commands and its server are told agrees.
    assert (here["agent"], here["source"]) == ("Claude Code", "CLAUDECODE")
    assert (there["agent"], there["source"]) == ("Claude Code", "client")
    wanted = {"": None, "left": "left", "session": session[-6:]}[seat]
    assert (here["seat"], there["seat"] or None) == (wanted, wanted)
    assert here["name"] == there["you"]

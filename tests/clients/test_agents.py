"""Coding agents that start an MCP server, without a login and without a model.

Most of their programs are large: the long run downloads 600 MB for them.
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import IO, TYPE_CHECKING, Any

import pytest

from tests.clients import installing, stand_in
from tests.clients.asking import TOPIC, WATCHED
from wc_core.base.toolnames import PREFIX, TOOLS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.conftest import Place

NAME = "watercooler"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run(place: Place, words: list[str], **more: str) -> str:
    """What a command that must succeed says, wherever and however coloured."""
    done = place.run(words, **more)
    assert done.code == 0, done
    return _COLOUR.sub("", done.out + done.err)


@pytest.mark.long
def test_claude_code_connects(place: Place) -> None:
    claude = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude", "mcp"
    )
    run(place, [*claude, "add", "--scope", "user", NAME, "--", "wc-observe"])
    assert "wc-observe  - ✔ Connected" in run(place, [*claude, "list"])
    assert "Status: ✔ Connected" in run(place, [*claude, "get", NAME])


@pytest.mark.long
def test_what_claude_code_puts_before_a_model(place: Place, tmp_path: Path) -> None:
    (program,) = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude"
    )
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {NAME: {"command": "wc-observe"}}}))
    calls: tuple[stand_in.Call, ...] = (
        ("read_thread", {"topic": TOPIC}),
        ("list_threads", {"format": "json"}),
        ("whoami", {}),
        ("read_thread", {"topic": "no-such-thread", "entry": "#0"}),
    )
    with stand_in.serving(*calls) as service:
        words = ("-p", "What waits for me?", "--strict-mcp-config", "--mcp-config")
        allowed = ("--allowedTools", f"mcp__{NAME}__*")
        run(
            place,
            [program, *words, str(file), *allowed],
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_BASE_URL=service.address,
            MCP_CONNECTION_NONBLOCKING="false",
            ENABLE_TOOL_SEARCH="false",
        )
        thread, threads, you, missing = service.read
    assert "resource watercooler://instructions" in service.told
    assert "> src/auth.py comes first." in thread
    # Of an answer that has structured content, that alone.
    assert {one["topic"] for one in json.loads(threads)["threads"]} == {TOPIC, WATCHED}
    assert json.loads(you)["agent"] == "Claude Code"
    assert "NOT_FOUND" in missing


@pytest.mark.parametrize(
    ("package", "command"),
    [
        # After `wc install` it is asked in test_installed, always.
        pytest.param("@google/gemini-cli", "gemini", marks=pytest.mark.long),
        pytest.param("@qwen-code/qwen-code", "qwen", marks=pytest.mark.long),
    ],
)
def test_gemini_and_what_is_made_of_it_connect(
    place: Place, package: str, command: str
) -> None:
    agent = installing.agent(package)
    add = ("mcp", "add", "--scope", "user", NAME, "wc-observe")
    run(place, agent.words(command, *add))
    # Servers are started only in a folder that the person has said to trust.
    listed = run(
        place, agent.words(command, "mcp", "list"), GEMINI_CLI_TRUST_WORKSPACE="true"
    )
    assert f"✓ {NAME}: wc-observe  (stdio) - Connected" in listed


@pytest.mark.long
def test_opencode_connects(place: Place) -> None:
    opencode = installing.agent("opencode-ai").binary("opencode-*/bin/opencode")
    folder = place.repo.machine.home / ".config/opencode"
    folder.mkdir(parents=True)
    server = {"type": "local", "command": ["wc-observe"], "enabled": True}
    settings = {"autoupdate": False, "mcp": {NAME: server}}
    (folder / "opencode.json").write_text(json.dumps(settings))
    listed = run(place, [*opencode, "mcp", "list"])
    assert f"✓ {NAME}" in listed
    assert "connected" in listed


@pytest.mark.long
def test_codex_lists_the_server(place: Place) -> None:
    codex = installing.agent("@openai/codex")
    run(place, codex.words("codex", "mcp", "add", NAME, "--", "wc-observe"))
    (listed,) = place.run(codex.words("codex", "mcp", "list", "--json")).json
    assert (listed["name"], listed["enabled"]) == (NAME, True)
    assert "command: wc-observe" in run(place, codex.words("codex", "mcp", "get", NAME))


class AppServer:
    """What Codex's editors talk to: it starts MCP servers like Codex itself."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._number = 0

    def call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        to, source = self._pipe(self._process.stdin), self._pipe(self._process.stdout)
        to.write(json.dumps(message) + "\n")
        to.flush()
        for line in source:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer["result"]
        raise AssertionError(f"no answer to {method}")

    @staticmethod
    def _pipe(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream


@pytest.mark.long
def test_codex_calls_a_tool_and_reads_a_resource(place: Place, tmp_path: Path) -> None:
    codex = installing.agent("@openai/codex")
    home = tmp_path / "codex"
    home.mkdir()
    (home / "config.toml").write_text(f'[mcp_servers.{NAME}]\ncommand = "wc-observe"\n')
    with subprocess.Popen(
        codex.words("codex", "app-server"),
        cwd=place.repo.path,
        env=place.env | {"CODEX_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        server = AppServer(process)
        server.call("initialize", clientInfo={"name": "editor", "version": "1"})
        (status,) = server.call("mcpServerStatus/list")["data"]
        assert set(status["tools"]) == {f"{PREFIX}{name}" for name in TOOLS}
        started = server.call("thread/start", cwd=str(place.repo.path))
        mine = {"threadId": started["thread"]["id"], "server": NAME}
        you = server.call("mcpServer/tool/call", **mine, tool=f"{PREFIX}whoami")
        assert you["structuredContent"]["agent"] == "Codex"
        address = f"watercooler://threads/{TOPIC}"
        read = server.call("mcpServer/resource/read", **mine, uri=address)
        assert "> src/auth.py comes first." in read["contents"][0]["text"]
        process.kill()

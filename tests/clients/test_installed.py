"""What agents themselves say they have after `wc install`, in a home that someone
lives in; and that they say nothing of it after `wc uninstall`."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.install.test_clients import LIVED_IN
from tests.cli.install.test_engine import tree
from tests.clients import installing, scripted, stand_in
from tests.clients.asking import TOPIC
from tests.clients.coding import QWEN
from tests.clients.scripted import PROMPT, Call
from tests.clients.test_agents import AppServer, run
from wc_cli.agents.install.permissions import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.clients.conftest import Place


@pytest.fixture
def home(tmp_path: Path, place: Place) -> Iterator[Path]:
    """A home where we are installed; at the end nothing is left of us."""
    path = tmp_path / "home"
    shutil.copytree(LIVED_IN, path)
    before = tree(path)
    env = {"HOME": str(path)}
    place.repo.ok("install", "claude", "codex", "gemini", "qwen", "opencode", env=env)
    yield path
    place.repo.ok("uninstall", "--yes", env=env)
    after = tree(path)
    # Claude Code rewrites its settings when it starts, and keeps copies; Qwen Code adds
    # their version.
    ours = {n: one for n, one in after.items() if "/backups/" not in n}
    for name, (data, _) in ours.items():
        assert b"wc-observe" not in (data or b""), name
        assert b"Bash(wc say:*)" not in (data or b""), name
        assert "skills/watercooler" not in name
    rewritten = {".claude.json", ".claude/settings.json", ".qwen/settings.json"}
    for name in before.keys() - rewritten:
        assert after.get(name) == before[name], name


@pytest.mark.long
def test_gemini_connects_and_knows_the_skill(place: Place, home: Path) -> None:
    gemini = installing.agent("@google/gemini-cli")
    env = {"HOME": str(home), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    connected = "✓ watercooler: wc-observe  (stdio) - Connected"
    # It waits for five seconds, which a busy machine may take to start a server.
    listed = (run(place, gemini.words("gemini", "mcp", "list"), **env) for _ in "123")
    assert any(connected in one for one in listed)
    skills = run(place, gemini.words("gemini", "skills", "list"), **env)
    assert "watercooler" in skills
    assert str(home / ".agents/skills/watercooler/SKILL.md") in skills


@pytest.mark.long
def test_claude_code_connects(place: Place, home: Path) -> None:
    claude = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude", "mcp", "get", "watercooler"
    )
    said = run(place, claude, HOME=str(home))
    assert "Status: ✔ Connected" in said
    assert "Scope: User config" in said


@pytest.mark.long
def test_claude_code_asks_about_no_command_and_no_tool_of_ours(
    place: Place, home: Path
) -> None:
    (program,) = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude"
    )
    calls: tuple[stand_in.Call, ...] = (
        ("watercooler_v1_whoami", {}),
        ("Bash", {"command": "wc list", "description": "threads"}),
        # It takes wc for the one that counts words, and that for harmless.
        ("Bash", {"command": "wc install --check", "description": "not allowed"}),
    )
    with stand_in.serving(*calls) as service:
        run(
            place,
            [program, "-p", "What waits for me?"],
            HOME=str(home),
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_BASE_URL=service.address,
            MCP_CONNECTION_NONBLOCKING="false",
            ENABLE_TOOL_SEARCH="false",
        )
        whoami, listed, refused = service.read
    assert json.loads(whoami)["agent"] == "Claude Code"
    assert TOPIC in listed
    assert "you haven't granted it yet" in refused


@pytest.mark.long
def test_qwen_code_asks_about_no_tool_of_ours(place: Place, home: Path) -> None:
    # Without a person at it, it runs no command at all in this mode.
    whoami = Call("mcp__watercooler__watercooler_v1_whoami", {})
    with scripted.serving(whoami) as service:
        words, env = QWEN.start(service, home)
        words[words.index("yolo")] = "default"
        run(place, words, HOME=str(home), **env)
    assert "you: Qwen Code (Pat) (by: client" in service.after(whoami)


@pytest.mark.long
def test_gemini_asks_about_no_tool_of_ours(place: Place, home: Path) -> None:
    # Without a person at it, it refuses what it would have to ask about.
    gemini = installing.agent("@google/gemini-cli")
    whoami = Call("mcp_watercooler_watercooler_v1_whoami", {})
    env = {"HOME": str(home), "GEMINI_API_KEY": "none"}

    def answer() -> str:
        with scripted.serving(whoami) as service:
            run(
                place,
                gemini.words("gemini", "-m", "gemini-2.5-flash", "-p", PROMPT),
                GOOGLE_GEMINI_BASE_URL=service.address,
                GEMINI_CLI_TRUST_WORKSPACE="true",
                **env,
            )
            return service.after(whoami)

    assert "you: Gemini CLI (Pat)" in answer()
    place.repo.ok("uninstall", "gemini", "--only", "tools", env=env)
    assert "you: Gemini CLI (Pat)" not in answer()


@pytest.mark.long
def test_codex_has_server_rules_and_skill(place: Place, home: Path) -> None:
    codex = installing.agent("@openai/codex")
    env = {"HOME": str(home)}
    done = place.run(codex.words("codex", "mcp", "list", "--json"), **env)
    servers = {one["name"]: one for one in done.json}
    assert servers["watercooler"]["transport"]["command"] == "wc-observe"
    assert servers["watercooler"]["startup_timeout_sec"] == 20
    assert "context7" in servers
    rules = str(home / ".codex/rules/watercooler.rules")
    check = codex.words("codex", "execpolicy", "check", "--rules", rules, "--", "wc")
    said = place.run([*check, "say", "login", "--title", "x"], **env)
    assert said.json["decision"] == "allow"
    words = ["-l", "file"]
    assert place.run([*check, *words], **env).json == {"matchedRules": []}
    for words in (["install"], ["sync"], ["doctor", "--repair"], ["export"]):
        assert place.run([*check, *words], **env).json["decision"] == "prompt"
    with subprocess.Popen(
        codex.words("codex", "app-server"),
        cwd=place.repo.path,
        env=place.env | env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        server = AppServer(process)
        server.call("initialize", clientInfo={"name": "editor", "version": "1"})
        (found,) = server.call("skills/list", cwds=[str(place.repo.path)])["data"]
        names = {one["name"]: one["path"] for one in found["skills"]}
        config = server.call("config/read", includeLayers=False)["config"]
        process.kill()
    approved = config["mcp_servers"]["watercooler"]["tools"]
    assert approved == {tool: {"approval_mode": "approve"} for tool in TOOLS}
    assert names["watercooler"] == str(home / ".agents/skills/watercooler/SKILL.md")
    assert config["sandbox_workspace_write"]["writable_roots"] == [
        *("/home/pat/.cache/build", str(home / ".watercooler/worktrees")),
        # Of another home: the one that the repository was made in.
        str(place.repo.store),
    ]


@pytest.mark.long
def test_opencode_connects_and_asks_about_no_command_of_ours(
    place: Place, home: Path
) -> None:
    (program,) = installing.agent("opencode-ai").binary("opencode-*/bin/opencode")
    env = {"HOME": str(home)}
    listed = run(place, [program, "mcp", "list"], **env)
    assert "✓ watercooler" in listed
    config = json.loads(place.run([program, "debug", "config"], **env).out)
    assert config["permission"]["bash"]["wc say *"] == "allow"
    skills = json.loads(place.run([program, "debug", "skill"], **env).out)
    assert "watercooler" in {one["name"] for one in skills}

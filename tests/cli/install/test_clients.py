"""``wc install`` in a home that is lived in: what it changes, and back."""

from __future__ import annotations

import importlib
import json
import os
import pty
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from tests.cli.install.test_engine import tree
from wc_cli.agents import launcher
from wc_cli.agents.install import changes, engine, ledger, permissions
from wc_cli.agents.install.changes import Client, InstallSite, OwnFile, Part
from wc_cli.agents.install.clients import codex, common, registry, shells
from wc_cli.agents.install.formats import jsonc
from wc_cli.agents.install.ledger import Owner
from wc_cli.run import table
from wc_core.base import toolnames
from wc_core.base.agents import AGENTS as AGENT_ROWS
from wc_observe.mcp.server import all_tools

if TYPE_CHECKING:
    from tests.conftest import Repo

yaml: Any = importlib.import_module("yaml")  # it has no types

# Settings of every client, as someone has them who uses all.
LIVED_IN = Path(__file__).with_name("home")
ROOT = Path(__file__).resolve().parents[3]
AGENTS = tuple(client.name for client in registry.AGENT_CLIENTS)


@pytest.fixture
def lived_in(repo: Repo) -> Repo:
    """A repository whose owner's home has settings of everything, and where our
    programs are on PATH; nobody else's are."""
    machine = repo.machine
    shutil.copytree(LIVED_IN, machine.home, dirs_exist_ok=True)
    folder = machine.root / "bin"
    folder.mkdir()
    for name in ("wc-observe", "wc-statusline"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    source = Path(__file__).parents[3] / "bin"
    (folder / "wc").symlink_to(source / "wc")
    machine.env["PATH"] = f"{folder}:/usr/bin:/bin"
    return repo


def read(repo: Repo, name: str) -> Any:
    """The values of one of the home's files."""
    text = (repo.machine.home / name).read_text()
    if name.endswith(".toml"):
        return tomllib.loads(text)
    node = jsonc.parse(text)
    return None if node is None else node.value


def test_everything_is_connected_and_disconnected_without_a_trace(
    lived_in: Repo,
) -> None:
    home = lived_in.machine.home
    before = tree(home)
    said = lived_in.ok("install", "--yes").out
    assert "refused" not in said
    assert "there already" not in said  # also the skill that four of them share
    assert all(one.title in said for one in registry.CLIENTS if one.name in AGENTS)
    there = tree(home)
    assert lived_in.ok("install", "--yes").out.count("there already")
    assert tree(home) == there
    found = lived_in.json("install", "--check")["parts"]
    assert {one["state"] for one in found} == {"installed"}
    assert {one["client"] for one in found} >= set(AGENTS)
    # Shells that were asked for PATH keep files of their own, as at any start.
    (home / ".zcompdump").unlink(missing_ok=True)
    shutil.rmtree(home / ".local", ignore_errors=True)
    for name, (data, mode) in before.items():
        if data is not None:
            _only_grew(name, data, there[name][0] or b"")
            assert there[name][1] == mode
    assert "removed" in lived_in.ok("uninstall", "--yes").out
    assert tree(home) == before
    lock = home / ".watercooler/install/lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("")
    assert lived_in.ok("uninstall", "--yes").out == "None of this is installed.\n"
    assert tree(home) == before


def _only_grew(name: str, before: bytes, after: bytes) -> None:
    """Every line is there still; but a status line has one put before it, and the
    last element of something now has a comma."""
    lines = iter(after.splitlines())
    for line in before.splitlines():
        if b'"command": "printf' in line or line.strip() in {b"{}", b"{ }"}:
            continue
        kept = (line, line + b",", line.replace(b" //", b", //"))
        grown = line.rstrip(b"]},")
        assert any(one in kept or one.startswith(grown) for one in lines), (name, line)


# client: file, keys, what is there
SERVERS: dict[str, tuple[str, str, Any]] = {
    "claude": (
        *(".claude.json", "mcpServers"),
        {"type": "stdio", "command": "wc-observe", "args": [], "env": {}},
    ),
    "claude-desktop": (
        *(".config/Claude/claude_desktop_config.json", "mcpServers"),
        {"command": "BIN/wc-observe", "args": []},
    ),
    "codex": (
        *(".codex/config.toml", "mcp_servers"),
        {
            "command": "wc-observe",
            "args": [],
            "startup_timeout_sec": 20,
            "tools": {tool: {"approval_mode": "approve"} for tool in permissions.TOOLS},
        },
    ),
    "gemini": (
        *(".gemini/settings.json", "mcpServers"),
        {"command": "wc-observe", "args": []},
    ),
    "qwen": (
        *(".qwen/settings.json", "mcpServers"),
        {"command": "wc-observe", "args": []},
    ),
    "opencode": (
        *(".config/opencode/opencode.jsonc", "mcp"),
        {"type": "local", "command": ["wc-observe"], "enabled": True},
    ),
    "copilot": (
        *(".copilot/mcp-config.json", "mcpServers"),
        {"tools": ["*"], "type": "local", "command": "wc-observe", "args": []},
    ),
    "cursor": (
        *(".cursor/mcp.json", "mcpServers"),
        {"command": "wc-observe", "args": []},
    ),
    "vscode": (
        *(".config/Code/User/mcp.json", "servers"),
        {"type": "stdio", "command": "wc-observe", "args": []},
    ),
    "zed": (
        *(".config/zed/settings.json", "context_servers"),
        {"source": "custom", "command": "wc-observe", "args": [], "env": {}},
    ),
    "windsurf": (
        *(".codeium/windsurf/mcp_config.json", "mcpServers"),
        {"command": "wc-observe", "args": []},
    ),
    "cline": (
        *(".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
        {"transport": {"type": "stdio", "command": "wc-observe"}},
    ),
    "jetbrains": (
        *(".junie/mcp/mcp.json", "mcpServers"),
        {"command": "wc-observe", "args": []},
    ),
}


# client: a file of ours with the server
SERVER_FILES = {"continue": ".continue/mcpServers/watercooler.yaml"}


def test_each_client_has_the_server_beside_those_it_had(lived_in: Repo) -> None:
    servers = lived_in.json("install", *SERVERS, "--only", "server")["parts"]
    assert [one["client"] for one in servers] == list(SERVERS)
    for name, keys, server in SERVERS.values():
        found = read(lived_in, name)[keys]
        if "BIN" in str(server.get("command")):
            server["command"] = f"{lived_in.machine.root}/bin/wc-observe"
        assert found["watercooler"] == server
        old = tomllib.loads if name.endswith(".toml") else jsonc.parse
        node = old((LIVED_IN / name).read_text())
        theirs = node.value if isinstance(node, jsonc.Node) else node
        assert theirs is not None
        assert found == {**theirs.get(keys, {}), "watercooler": server}


def test_a_server_in_a_file_of_ours(lived_in: Repo) -> None:
    home = lived_in.machine.home
    for client, name in SERVER_FILES.items():
        lived_in.ok("install", client, "--only", "server")
        found = yaml.safe_load((home / name).read_text())
        assert {"name", "version", "schema"} < found.keys()
        server = {"name": "watercooler", "command": "wc-observe"}
        assert found["mcpServers"] == [server]
        lived_in.ok("uninstall", client)
        assert not (home / name).exists()


def test_a_server_in_continue_s_settings_is_not_entered_twice(lived_in: Repo) -> None:
    home = lived_in.machine.home
    config = home / ".continue/config.yaml"
    before = config.read_text()
    entry = "mcpServers:\n  - name: watercooler\n    command: wc-observe\n"
    config.write_text(before + entry)
    parts = lived_in.json("install", "continue")["parts"]
    assert [part["part"] for part in parts] == ["skill"]
    config.write_text(before + entry.replace("command:", "command: other #"))
    parts = lived_in.json("install", "continue", "--only", "server")["parts"]
    assert [part["state"] for part in parts] == ["installed"]
    assert lived_in.ok("uninstall", "--yes").out
    assert not (home / ".continue/mcpServers").exists()


def test_no_client_asks_about_commands_and_tools_of_ours(lived_in: Repo) -> None:
    lived_in.ok("install", *AGENTS)
    rules = read(lived_in, ".claude/settings.json")["permissions"]
    assert {"Bash(wc say:*)", "Read(~/.zshrc)"} < {*rules["allow"]}
    assert rules["deny"] == ["Bash(curl *)", "Read(./.env)"]
    assert "Bash(wc install:*)" in rules["ask"]
    roots = read(lived_in, ".codex/config.toml")["sandbox_workspace_write"]
    stores = f"{lived_in.machine.home}/.watercooler/worktrees"
    assert roots["writable_roots"] == ["/home/pat/.cache/build", stores]
    policy = read(lived_in, ".gemini/policies/watercooler.toml")["rule"]
    assert [one["decision"] for one in policy] == ["allow"]
    assert "wc say" in policy[0]["commandPrefix"]
    bash = read(lived_in, ".config/opencode/opencode.jsonc")["permission"]["bash"]
    assert [*bash][:2] == ["*", "git status *"]
    assert bash["wc say *"] == "allow"
    qwen = read(lived_in, ".qwen/settings.json")["permissions"]
    assert {"Bash(git *)", "Bash(wc say *)"} < {*qwen["allow"]}
    assert "Bash(wc install *)" in qwen["ask"]
    cursor = read(lived_in, ".cursor/permissions.json")
    assert "wc say" in cursor["terminalAllowlist"]
    code = read(lived_in, ".config/Code/User/settings.json")
    approved = code["chat.tools.terminal.autoApprove"]
    assert approved[f"/{permissions.pattern()}/"] is True
    asked = permissions.pattern(permissions.ASKED, ("wc",))
    assert approved[f"/{asked}/"] is False
    tools = read(lived_in, ".config/zed/settings.json")["agent"]["tool_permissions"]
    assert {"pattern": permissions.pattern()} in tools["tools"]["terminal"][
        "always_allow"
    ]
    windsurf = read(lived_in, ".config/Windsurf/User/settings.json")
    assert "wc say" in windsurf["windsurf.cascadeCommandsAllowList"]


@pytest.mark.parametrize("path", ["wc", "wc-cli"])
def test_a_client_gets_24_rules_for_commands_and_none_for_all_of_them(
    lived_in: Repo, path: str
) -> None:
    home = lived_in.machine.home
    if path == "wc-cli":  # PATH leads to the system's wc
        (lived_in.machine.root / "bin/wc").unlink()
    before = tree(home)
    lived_in.ok("install", *AGENTS, "--only", "permissions")
    allowed = {
        "claude": [rule for rule in claude_rules(lived_in) if "(wc" in rule],
        "qwen": [rule for rule in qwen_rules(lived_in) if "(wc" in rule],
        "gemini": read(lived_in, ".gemini/policies/watercooler.toml")["rule"][0][
            "commandPrefix"
        ],
        "cursor": [
            rule
            for rule in read(lived_in, ".cursor/permissions.json")["terminalAllowlist"]
            if rule.startswith("wc")
        ],
        "opencode": [
            rule
            for rule in read(lived_in, ".config/opencode/opencode.jsonc")["permission"][
                "bash"
            ]
            if rule.startswith("wc")
        ],
    }
    for client, rules in allowed.items():
        names = [re.sub(r"^Bash\(|[:)* ]+$", "", rule) for rule in rules]
        assert names == [f"{path} {name}" for name in permissions.COMMANDS], client
    # Only clients that run every `wc` are told what to ask for.
    prompted = [f"Bash(wc {name}:*)" for name in permissions.ASKED]
    assert read(lived_in, ".claude/settings.json")["permissions"]["ask"] == prompted
    for client in ("gemini", "cursor", "opencode", "zed", "windsurf"):
        for change in _part(lived_in, client, "permissions").changes:
            assert "sync" not in str(change[1:]), client
    lived_in.ok("uninstall", "--yes")
    assert tree(home) == before


def test_rules_of_older_versions_go_and_the_user_s_stay(lived_in: Repo) -> None:
    lived_in.ok("init")
    home = lived_in.machine.home
    settings = home / ".claude/settings.json"
    fields = json.loads(settings.read_text())
    fields["permissions"]["allow"].append("Bash(wc stats:*)")
    settings.write_text(json.dumps(fields))
    before = settings.read_bytes()
    old = [
        changes.Add(settings, ("permissions", key), f"Bash({rule}:*)")
        for key, rules in {
            "allow": ("wc say", "wc tag", "wc ls", "wc-cli tag", "wc stats"),
            "ask": ("wc publish", "wc-cli install", "wc install"),
        }.items()
        for rule in rules
    ]

    def install_old() -> None:
        owner, part = Owner("claude", "permissions"), Part("permissions", (*old,))
        with ledger.open_ledger(home) as book:
            engine.carry_out(engine.plan_install(book, [engine.Want(owner, part)]))

    install_old()
    (note,) = re.findall(r"agents: (.*)", lived_in.wc("doctor").out)
    assert note == (
        "Claude Code has permissions of another version of wc: wc install claude"
    )
    lived_in.ok("install", "claude")
    rules = read(lived_in, ".claude/settings.json")["permissions"]
    assert sorted(rule for rule in rules["allow"] if "(wc" in rule) == sorted(
        f"Bash(wc {name}:*)" for name in ("stats", *permissions.COMMANDS)
    )
    assert sorted(rules["ask"]) == sorted(
        f"Bash(wc {name}:*)" for name in permissions.ASKED
    )
    assert "agents: " not in lived_in.wc("doctor").out
    lived_in.ok("uninstall", "claude")
    assert settings.read_bytes() == before
    install_old()
    lived_in.ok("uninstall", "claude")
    assert settings.read_bytes() == before


def claude_rules(repo: Repo) -> list[str]:
    return list(read(repo, ".claude/settings.json")["permissions"]["allow"])


def qwen_rules(repo: Repo) -> list[str]:
    return list(read(repo, ".qwen/settings.json")["permissions"]["allow"])


def gemini_rules(repo: Repo) -> list[str]:
    """The names of servers with those of tools, from all policies."""
    folder = repo.machine.home / ".gemini/policies"
    rules = [
        rule
        for path in sorted(folder.glob("*.toml"))
        for rule in tomllib.loads(path.read_text())["rule"]
    ]
    assert all(rule["decision"] == "allow" for rule in rules)
    # Without the name of a server, a rule is about the program's own tools.
    assert {rule["toolName"] for rule in rules if "mcpName" not in rule} <= {
        "run_shell_command"
    }
    return [
        f"{rule['mcpName']} {name}"
        for rule in rules
        if "mcpName" in rule
        for name in rule["toolName"]
    ]


def cursor_rules(repo: Repo) -> list[str]:
    return list(read(repo, ".cursor/permissions.json")["mcpAllowlist"])


def zed_rules(repo: Repo) -> list[str]:
    rules = read(repo, ".config/zed/settings.json")["agent"]["tool_permissions"]
    allowed = {"default": "allow"}
    return [name for name, rule in rules["tools"].items() if rule == allowed]


# client: the rules about tools of servers, the form of one of ours, where its servers
# are, and a rule as an older version wrote it
ToolRules = tuple[Any, str, str, str]
TOOL_RULES: dict[str, ToolRules] = {
    "claude": (*(claude_rules, "mcp__watercooler__{}", ".claude.json", "mcpServers"),),
    "gemini": (
        *(gemini_rules, "watercooler {}", ".gemini/settings.json", "mcpServers"),
    ),
    "qwen": (
        *(qwen_rules, "mcp__watercooler__{}", ".qwen/settings.json", "mcpServers"),
    ),
    "cursor": (*(cursor_rules, "watercooler:{}", ".cursor/mcp.json", "mcpServers"),),
    "zed": (
        zed_rules,
        "mcp:watercooler:{}",
        ".config/zed/settings.json",
        "context_servers",
    ),
}


def our_rules(repo: Repo, client: str) -> list[str]:
    """What a client allows of a server with our name."""
    rules, _, _, _ = TOOL_RULES[client]
    return [rule for rule in rules(repo) if "watercooler" in rule]


def enter_another_server(repo: Repo, client: str) -> None:
    """Somebody else's server, under our name, in the file of a client's servers."""
    _, _, name, key = TOOL_RULES[client]
    path = repo.machine.home / name
    fields = read(repo, name)
    fields.setdefault(key, {})["watercooler"] = {"command": "other", "args": []}
    path.write_text(json.dumps(fields))


@pytest.mark.parametrize("client", TOOL_RULES)
def test_each_tool_of_our_server_is_allowed_by_its_name(
    lived_in: Repo, client: str
) -> None:
    _, form, _, _ = TOOL_RULES[client]
    lived_in.ok("install", client)
    rules = our_rules(lived_in, client)
    assert rules == [form.format(tool) for tool in permissions.TOOLS]
    assert len(rules) == 12
    lived_in.ok("uninstall", client, "--only", "server")
    assert our_rules(lived_in, client) == []
    assert "say" in "".join(
        path.read_text()
        for change in _part(lived_in, client, "permissions").changes
        if (path := change.path).exists()
    )


def _part(repo: Repo, client: str, name: str) -> Part:
    here = InstallSite(repo.machine.home, repo.machine.env, "linux", repo.path, None)
    (found,) = (one for one in registry.CLIENTS if one.name == client)
    (part,) = (one for one in registry.parts(found, here) if one.name == name)
    return part


@pytest.mark.parametrize("client", TOOL_RULES)
def test_no_tool_of_another_server_with_our_name_is_allowed(
    lived_in: Repo, client: str
) -> None:
    enter_another_server(lived_in, client)
    done = lived_in.wc("install", client)
    assert done.code == 4
    assert "already has another server called 'watercooler'" in done.out
    assert "does not start our server, so none of its tools is allowed" in done.out
    assert our_rules(lived_in, client) == []
    # Commands are another thing.
    assert _states(lived_in, client)["permissions"] == "installed"
    assert lived_in.wc("install", client, "--only", "tools").code == 4
    assert our_rules(lived_in, client) == []


@pytest.mark.parametrize(
    ("client", "only"),
    [
        *((client, ()) for client in TOOL_RULES),
        ("claude", ("--only", "server")),
        ("claude", ("--only", "tools")),
    ],
)
def test_our_rules_go_when_another_server_takes_our_name(
    lived_in: Repo, client: str, only: tuple[str, ...]
) -> None:
    lived_in.ok("install", client)
    enter_another_server(lived_in, client)
    assert _states(lived_in, client)["tools"] == "outdated"
    done = lived_in.wc("install", client, *only)
    assert done.code == 4
    assert our_rules(lived_in, client) == []
    assert _states(lived_in, client)["tools"] == "not installed"


def _states(repo: Repo, client: str) -> dict[str, str]:
    done = repo.wc("install", client, "--check", "--json")
    return {part["part"]: part["state"] for part in done.json["parts"]}


def test_the_rule_for_a_whole_server_that_an_older_version_wrote_is_replaced(
    lived_in: Repo,
) -> None:
    settings = lived_in.machine.home / ".claude/settings.json"
    before = settings.read_bytes()
    old = changes.Add(settings, ("permissions", "allow"), "mcp__watercooler")
    with ledger.open_ledger(lived_in.machine.home) as book:
        owner, part = Owner("claude", "permissions"), Part("permissions", (old,))
        engine.carry_out(engine.plan_install(book, [engine.Want(owner, part)]))
    assert "mcp__watercooler" in claude_rules(lived_in)
    lived_in.ok("install", "claude")
    assert our_rules(lived_in, "claude") == [
        f"mcp__watercooler__{tool}" for tool in permissions.TOOLS
    ]
    lived_in.ok("uninstall", "claude")
    assert settings.read_bytes() == before
    # A rule that someone wrote by hand is theirs.
    theirs = json.dumps({"permissions": {"allow": ["mcp__watercooler"]}})
    settings.write_text(theirs)
    lived_in.ok("install", "claude")
    assert "mcp__watercooler" in claude_rules(lived_in)
    lived_in.ok("uninstall", "claude")
    assert settings.read_text() == theirs


def test_claude_code_s_server_of_one_project_comes_before_that_of_the_user(
    lived_in: Repo,
) -> None:
    lived_in.ok("install", "claude")
    path = lived_in.machine.home / ".claude.json"
    fields = json.loads(path.read_text())
    server = {"mcpServers": {"watercooler": {"command": "other"}}}
    fields["projects"] = {str(lived_in.path): server}
    path.write_text(json.dumps(fields))
    lived_in.ok("install", "claude")
    assert our_rules(lived_in, "claude") == []
    lived_in.ok("install", "claude", "--scope", "project")
    assert "mcp__" not in (lived_in.path / ".claude/settings.json").read_text()
    server["mcpServers"]["watercooler"]["command"] = "wc-observe"
    path.write_text(json.dumps(fields))
    lived_in.ok("install", "claude")
    assert len(our_rules(lived_in, "claude")) == 12


def test_another_program_called_wc_is_not_allowed(lived_in: Repo) -> None:
    home, program = lived_in.machine.home, lived_in.machine.root / "bin/wc"
    lived_in.ok("install", "claude", "codex", "vscode", "zed")
    program.unlink()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    lived_in.ok("install", "claude", "codex", "vscode", "zed")
    rules = read(lived_in, ".claude/settings.json")["permissions"]
    assert "Bash(wc-cli say:*)" in rules["allow"]
    assert "Bash(wc say:*)" not in rules["allow"]
    assert "Bash(wc install:*)" in rules["ask"]
    text = (home / ".codex/rules/watercooler.rules").read_text()
    allowed, asked = (line for line in text.splitlines() if "pattern" in line)
    assert '"wc-cli"' in allowed
    assert '"wc",' not in allowed
    assert '"wc",' in asked
    ours = permissions.pattern(programs=("wc-cli",))
    assert re.search(ours, "wc-cli say x")
    assert not re.search(ours, "wc say x")
    code = read(lived_in, ".config/Code/User/settings.json")
    assert f"/{permissions.pattern()}/" not in code["chat.tools.terminal.autoApprove"]
    zed = read(lived_in, ".config/zed/settings.json")["agent"]["tool_permissions"]
    always = zed["tools"]["terminal"]["always_allow"]
    assert {"pattern": ours} in always
    assert {"pattern": permissions.pattern()} not in always


@pytest.mark.parametrize("asked", ["ask", "deny"])
def test_opencode_that_asks_about_everything(lived_in: Repo, asked: str) -> None:
    home = lived_in.machine.home
    path = home / ".config/opencode/opencode.jsonc"
    path.write_text(f'{{"permission": {{"bash": "{asked}"}}}}')
    before = tree(home)
    lived_in.ok("install", "opencode")
    there = tree(home)
    bash = read(lived_in, ".config/opencode/opencode.jsonc")["permission"]["bash"]
    assert next(iter(bash.items())) == ("*", asked)
    assert bash["wc say *"] == "allow"
    lived_in.ok("install", "opencode")
    assert tree(home) == there
    path.write_text(
        path.read_text().replace('"permission"', '"share": "manual", "permission"')
    )
    lived_in.ok("uninstall", "opencode")
    assert (
        path.read_text()
        == f'{{"share": "manual", "permission": {{"bash": "{asked}"}}}}'
    )
    path.write_text(f'{{"permission": {{"bash": "{asked}"}}}}')
    assert tree(home) == before


def test_what_needs_no_asking_are_commands_and_tools_that_exist() -> None:
    assert set(permissions.COMMANDS) < set(table.COMMANDS)
    assert len(permissions.COMMANDS) <= 24
    assert len(permissions.TOOLS) <= 12
    assert not set(permissions.COMMANDS) & set(permissions.ASKED)
    # What reaches beyond the threads always has to be asked about.
    assert set(permissions.ASKED) >= {
        *("install", "uninstall", "init", "sync", "doctor", "export", "demo"),
        *("land", "run", "config", "guidance", "wake", "import", "break-lock"),
    }
    assert set(permissions.TOOLS) <= {one.name for one in all_tools()}
    listed = (f"{toolnames.PREFIX}{name}" for name in toolnames.TOOLS)
    assert (*listed,) == permissions.TOOLS
    rules = codex.rules_text(("wc", "wc-cli")).replace(
        "prefix_rule(", "rules.append(dict("
    )
    rules = rules.replace("\n)\n", "\n))\n")
    found: list[dict[str, Any]] = []
    exec(rules, {"rules": found})
    assert found[0]["pattern"] == [["wc", "wc-cli"], list(permissions.COMMANDS)]
    assert [one["decision"] for one in found] == ["allow", "prompt"]
    assert found[1]["pattern"] == ["wc", list(permissions.ASKED)]


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("wc say login --title x", True),
        ("wc set-status login CLOSED", False),
        ("wc set_status login CLOSED", False),
        ("wc --as Codex land login", False),
        ("wc --as Codex say login", False),
        ("wc break_lock login", False),
        ("wc list", True),
        ("wc  list", True),
        ("wc-cli list", True),
        ("wc-cli install", False),
        ("wc-client list", False),
        ("wc listing", False),
        ("wc say-it", False),
        ("wc -l file", False),
        ("wc install", False),
        ("wc export notes", False),
        ("cat x; wc say y", False),
    ],
)
def test_only_our_commands_are_what_the_pattern_means(line: str, *, fits: bool) -> None:
    assert bool(re.search(permissions.pattern(), line)) == fits


@pytest.mark.parametrize("names", [permissions.COMMANDS, permissions.ASKED])
def test_the_pattern_is_one_in_rust_too(names: tuple[str, ...]) -> None:
    # Zed has the syntax of Rust's regex, as pydantic does.
    said = TypeAdapter(Annotated[str, Field(pattern=permissions.pattern(names))])
    assert said.validate_python(f"wc  {names[0]} x")
    with pytest.raises(ValidationError):
        said.validate_python(f"wc {names[0]}x")


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_skill_is_where_the_client_looks_for_it(lived_in: Repo, name: str) -> None:
    lived_in.ok("install", name, "--only", "skill")
    folder = {"claude": ".claude", "codex": ".agents"}[name]
    skill = lived_in.machine.home / folder / "skills/watercooler/SKILL.md"
    assert skill.read_text() == lived_in.ok("skill").out
    assert "name: watercooler" in skill.read_text()
    page = skill.parent / "references/edits.md"
    assert page.read_text() == lived_in.ok("skill", "edits").out
    # The skill of an earlier version was one file.
    shutil.rmtree(page.parent)
    assert lived_in.wc("install", name, "--only", "skill", "--check").code
    lived_in.ok("install", name, "--only", "skill")
    assert page.exists()
    lived_in.ok("uninstall", name, "--only", "skill")
    assert not skill.parent.exists()


def test_a_status_line_of_theirs_comes_first_and_ours_after_it(lived_in: Repo) -> None:
    lived_in.settled("new", "login", "--title", "x")
    lived_in.ok("install", "claude", "--only", "status-line")
    line = read(lived_in, ".claude/settings.json")["statusLine"]
    assert (line["padding"], line["refreshInterval"]) == (0, 5)
    assert line["command"].startswith("CLAUDECODE=1 wc-statusline --stdin --chain ")
    bin_folder = lived_in.machine.root / "bin"
    (bin_folder / "wc-statusline").unlink()
    source = Path(__file__).parents[3] / "bin/wc-statusline"
    (bin_folder / "wc-statusline").symlink_to(source)
    asked = json.dumps({"cwd": str(lived_in.path)}).encode()
    words = ["/bin/sh", "-c", line["command"]]
    said = lived_in.machine.run(words, lived_in.machine.home, feed=asked).out
    assert said.startswith("it's mine\n")
    assert "login" in said
    lived_in.ok("uninstall", "claude")
    theirs = read(lived_in, ".claude/settings.json")["statusLine"]["command"]
    assert theirs == "printf '%s\n' 'it'\\''s mine'"


@pytest.mark.parametrize(
    ("line", "code", "state"),
    [
        ({"type": "command", "command": "wc-statusline --stdin"}, 0, "there already"),
        ({"type": "text", "text": "hi"}, 4, "refused"),
        ("hi", 4, "refused"),
    ],
)
def test_a_status_line_that_is_ours_or_no_command_stays_as_it_is(
    lived_in: Repo, line: Any, code: int, state: str
) -> None:
    path = lived_in.machine.home / ".claude/settings.json"
    path.write_text(json.dumps({"statusLine": line}))
    before = path.read_text()
    done = lived_in.wc("install", "claude", "--only", "status-line", "--json")
    assert (done.code, done.json["parts"][0]["state"]) == (code, state)
    assert path.read_text() == before


def test_gemini_that_starts_only_servers_of_a_list(lived_in: Repo) -> None:
    path = lived_in.machine.home / ".gemini/settings.json"
    path.write_text('{"mcp": {"allowed": ["github"]}}')
    lived_in.ok("install", "gemini")
    assert read(lived_in, ".gemini/settings.json")["mcp"]["allowed"] == [
        *("github", "watercooler")
    ]
    lived_in.ok("uninstall", "gemini")
    assert path.read_text() == '{"mcp": {"allowed": ["github"]}}'


def test_a_server_that_they_connected_by_hand_is_left_to_them(lived_in: Repo) -> None:
    home = lived_in.machine.home
    (home / ".claude.json").write_text(
        '{"mcpServers": {"watercooler": {"command": "/opt/bin/wc-observe"}}}'
    )
    (home / ".codex/config.toml").write_text(
        '[mcp_servers.watercooler]\ncommand = "uvx"\nargs = ["wc-observe"]\n'
    )
    before = tree(home)
    answer = lived_in.json("install", "claude", "codex", "--only", "server")
    assert [one["state"] for one in answer["parts"]] == ["there already"] * 2
    assert tree(home) == before


def test_another_server_of_the_name_is_not_touched(lived_in: Repo) -> None:
    home = lived_in.machine.home
    text = '{"mcpServers": {"watercooler": {"command": "other"}}}'
    (home / ".cursor/mcp.json").write_text(text)
    done = lived_in.wc("install", "cursor")
    assert done.code == 4
    assert (
        "~/.cursor/mcp.json already has another server called 'watercooler'" in done.out
    )
    assert "Rename or remove it" in done.out
    assert "2 parts were left alone" in done.err
    assert (home / ".cursor/mcp.json").read_text() == text
    assert (home / ".agents/skills/watercooler/SKILL.md").exists()


def test_what_their_plugin_brings_is_left_to_it(lived_in: Repo) -> None:
    settings = lived_in.machine.home / ".claude/settings.json"
    plugins = '{\n  "enabledPlugins": {"watercooler@watercooler": true},'
    settings.write_text(settings.read_text().replace("{", plugins, 1))
    parts = lived_in.json("install", "claude")["parts"]
    # Nobody knows which server a plugin has that is not on this machine.
    left = {"permissions", "status-line", "wake"}
    assert {one["part"] for one in parts} == left
    assert our_rules(lived_in, "claude") == []
    plugin = lived_in.machine.home / ".claude/plugins/cache/watercooler"
    _write_plugin(lived_in, plugin, "wc-observe")
    lived_in.ok("install", "claude")
    assert our_rules(lived_in, "claude") == [
        f"mcp__plugin_watercooler_watercooler__{tool}" for tool in permissions.TOOLS
    ]
    # As it would be if another marketplace had a plugin with our name.
    _write_plugin(lived_in, plugin, "other")
    refused = lived_in.wc("install", "claude")
    assert (refused.code, our_rules(lived_in, "claude")) == (4, [])


def _write_plugin(repo: Repo, folder: Path, program: str) -> None:
    """A plugin as Claude Code installs it, with one server."""
    folder.mkdir(parents=True, exist_ok=True)
    servers = {"watercooler": {"command": program, "args": []}}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    copies = {"watercooler@watercooler": [{"installPath": str(folder)}]}
    installed = repo.machine.home / ".claude/plugins/installed_plugins.json"
    installed.write_text(json.dumps({"version": 2, "plugins": copies}))


def test_what_a_plugin_brings_from_now_on_is_taken_out(lived_in: Repo) -> None:
    settings = lived_in.machine.home / ".claude/settings.json"
    before = tree(lived_in.machine.home)
    lived_in.ok("install", "claude")
    theirs = settings.read_text()
    on = '"enabledPlugins": {"watercooler@shop": true},'
    settings.write_text(theirs.replace("{", f"{{{on}", 1))
    checked = lived_in.wc("install", "claude", "--check")
    assert (checked.code, checked.out.count("outdated")) == (9, 5)
    said = lived_in.ok("install", "claude").out
    assert len(re.findall(r"removed|taken out of", said)) == 5
    assert "wc brief --hook" not in settings.read_text()
    assert '"Bash(wc say:*)"' in settings.read_text()
    assert lived_in.ok("install", "claude", "--check").out.count(" installed") == 3
    lived_in.ok("uninstall", "claude")
    settings.write_text(settings.read_text().replace(on, ""))
    assert tree(lived_in.machine.home) == before


def test_a_project_shares_what_has_no_path_of_this_machine(lived_in: Repo) -> None:
    home = lived_in.machine.home
    before = tree(home)
    lived_in.ok("install", "claude", "codex", "zed", "--scope", "project")
    here = lived_in.path
    assert {one for one in tree(home) if one not in before} == {
        *(".watercooler", ".watercooler/install"),
        ".watercooler/install/ledger.json",
        ".watercooler/install/git-user.json",
    }
    servers = json.loads((here / ".mcp.json").read_text())["mcpServers"]
    assert servers["watercooler"]["command"] == "wc-observe"
    for name in (".claude/skills", ".agents/skills"):
        assert (here / name / "watercooler/SKILL.md").exists()
    assert "wc-observe" in (here / ".zed/settings.json").read_text()
    assert (here / ".zed/settings.json").stat().st_mode & 0o044
    assert "writable_roots" not in (here / ".codex/config.toml").read_text()
    assert (here / ".codex/rules/watercooler.rules").exists()
    assert str(lived_in.machine.root) not in "".join(
        path.read_text()
        for path in here.rglob("*")
        if ".git/" not in str(path)
        if path.is_file()
    )
    checked = lived_in.json("install", "zed", "--check", "--scope", "project")
    assert {one["state"] for one in checked["parts"]} == {"installed"}
    assert "not installed" in lived_in.ok("install", "zed", "--check").out
    (here / ".mcp.json").unlink()
    changed = lived_in.wc("install", "claude", "--check", "--scope", "project")
    assert changed.err.endswith("them: wc install claude --scope project\n")
    lived_in.ok("uninstall", "--yes")
    assert lived_in.git("status", "--short") == ""
    assert tree(home) == before


def test_a_dry_run_shows_every_line_and_changes_none(lived_in: Repo) -> None:
    before = tree(lived_in.machine.home)
    said = lived_in.ok("install", "codex", "zed", "--dry-run").out
    table, _, diff = said.partition("\n\n")
    assert [line.split()[-3:-1] for line in table.splitlines()[:1]] == [
        ["will", "change"]
    ]
    assert diff.startswith("--- ")
    assert "+[mcp_servers.watercooler]\n" in said
    assert '+  "context_servers": {\n' in said
    assert f"+++ {lived_in.machine.home}/.codex/rules/watercooler.rules" in said
    answer = lived_in.json("install", "codex", "--dry-run")
    assert answer["dry_run"] is True
    assert tree(lived_in.machine.home) == before
    lived_in.ok("install", "codex")
    planned = lived_in.ok("uninstall", "--dry-run").out
    assert "-[mcp_servers.watercooler]\n" in planned
    assert "will be taken out" in planned
    again = lived_in.ok("install", "codex", "--dry-run").out
    assert again.endswith("\nNothing would change.\n")
    assert "+" not in again


def test_a_dry_run_shows_generated_files_by_their_length(lived_in: Repo) -> None:
    short = lived_in.ok("install", "man", "codex", "--dry-run").out
    assert re.search(r"\n\+\+\+ .*/man1/wc-cli\.1\nnew file, \d,\d{3} lines\n", short)
    assert "+[mcp_servers.watercooler]\n" in short
    assert short.endswith("\n\nEvery line of these files: --dry-run --verbose\n")
    assert len(short.splitlines()) < 200
    whole = lived_in.ok("install", "man", "codex", "--dry-run", "-v").out
    assert "+.SH NAME\n" in whole
    assert "\nnew file, " not in whole
    assert "--verbose" not in whole
    lived_in.ok("install", "man", "codex")
    removed = lived_in.ok("uninstall", "man", "--dry-run").out
    assert re.search(r"\n\+\+\+ /dev/null\nremoved file, \d,\d{3} lines\n", removed)


def test_a_part_is_taken_out_of_a_file_that_stays(lived_in: Repo) -> None:
    lived_in.ok("install", "bash", "claude", "--yes")
    said = lived_in.ok("uninstall", "bash", "claude", "--yes").out
    assert re.search(r" prompt +taken out of +~/\.bashrc\n", said)
    assert re.search(r" skill +removed +~/\.claude/skills/", said)


def test_check_says_what_is_not_as_it_should_be(lived_in: Repo) -> None:
    lived_in.ok("install", "cursor", "codex")
    home = lived_in.machine.home
    mcp = home / ".cursor/mcp.json"
    mcp.write_text(mcp.read_text().replace('"args": []', '"args": ["--debug"]'))
    rules = home / ".codex/rules/watercooler.rules"
    ledger = home / ".watercooler/install/ledger.json"
    old = rules.read_text().replace('"say", ', "")
    rules.write_text(old)
    book = json.loads(ledger.read_text())
    book["files"][str(rules)]["records"][0]["spot"]["value"] = old
    ledger.write_text(json.dumps(book))
    done = lived_in.wc("install", "cursor", "codex", "vscode", "--check", "--json")
    assert done.code == 9
    assert done.error["message"] == "2 not in order."
    states = {(one["client"], one["part"]): one["state"] for one in done.json["parts"]}
    assert states["cursor", "server"] == "changed"
    assert states["codex", "permissions"] == "outdated"
    assert states["codex", "server"] == "installed"
    assert states["vscode", "skill"] == "there already"
    assert states["vscode", "server"] == "not installed"
    lived_in.ok("install", "codex")
    assert '"say"' in rules.read_text()
    said = lived_in.ok("uninstall", "cursor").out
    assert "~/.cursor/mcp.json: changed since, so it is yours" in said


def test_files_that_cannot_be_read_are_reported_with_line_and_column(
    lived_in: Repo,
) -> None:
    path = lived_in.machine.home / ".gemini/settings.json"
    path.write_text('{\n  "ui": {,}\n}\n')
    done = lived_in.wc("install", "gemini", "--json")
    assert done.code == 6
    server = next(one for one in done.json["parts"] if one["part"] == "server")
    assert server["error"]["code"] == "CORRUPT"
    assert server["error"]["message"].endswith(
        "settings.json:2:10: a key in quotes is missing."
    )
    assert path.read_text() == '{\n  "ui": {,}\n}\n'
    assert "unreadable" in lived_in.ok("install", "gemini", "--check").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("install", "emacs"), "'emacs' is not a client"),
        (("uninstall", "emacs"), "'emacs' is not a client"),
        (("install", "cluade"), "Did you mean claude? One of: claude, "),
        (("install", "claude-code"), "Did you mean claude? "),
        (("install", "junie"), "Did you mean jetbrains? "),
        (("install", "claude-desktp"), "Did you mean claude-desktop? "),
        (("install", "--only", "promt"), "Did you mean prompt? One of: server, "),
        (("uninstall", "codx"), "Did you mean codex? "),
        (("install", "claude-desktop", "--scope", "project"), "has no scope"),
        (("install", "--scope", "machine"), "'machine' is not a scope"),
        (("uninstall", "--only", "soul"), "'soul' is not a part"),
        (("install", "zed", "--only", "prompt"), "None of this can be"),
        (("install",), "Not interactive: wc cannot ask"),
        (("install", "--json"), "Not interactive: wc cannot ask"),
    ],
)
def test_words_that_do_not_fit_are_refused(
    lived_in: Repo, words: tuple[str, ...], message: str
) -> None:
    before = tree(lived_in.machine.home)
    assert message in lived_in.fails(2, *words)
    assert tree(lived_in.machine.home) == before


def test_a_client_that_has_nothing_of_that_is_named(lived_in: Repo) -> None:
    done = lived_in.wc("install", "zed", "codex", "--only", "hooks")
    assert (done.code, "zed" in done.out) == (0, False)
    assert done.err == "wc: nothing to install for zed here\n"


def test_a_home_with_nothing_to_connect(repo: Repo) -> None:
    repo.machine.env["PATH"] = "/usr/bin:/bin"
    if not any(one.is_present(_here(repo)) for one in registry.CLIENTS):
        assert "No client was found" in repo.fails(2, "install", "--yes")
        assert "No client was found" in repo.ok("install", "--check").out
    assert "There is no project here" in repo.fails(
        2, "install", "--scope", "project", cwd=".."
    )


def test_a_shell_of_a_new_account_is_connected(repo: Repo) -> None:
    """It has no ~/.zshrc before its user writes one."""
    repo.machine.env["SHELL"] = "/bin/zsh"
    repo.ok("install", "--yes")
    assert "__watercooler" in (repo.machine.home / ".zshrc").read_text()
    assert not (repo.machine.home / ".bashrc").exists()


def test_full_paths_stay_in_a_shell_that_has_our_programs_on_path(
    lived_in: Repo,
) -> None:
    names = ("bash", "claude", "codex")
    with_programs = lived_in.machine.env["PATH"]
    lived_in.machine.env["PATH"] = "/usr/bin:/bin"
    lived_in.ok("install", *names)
    installed = tree(lived_in.machine.home)
    assert b"/wc-statusline >/dev/null" in (installed[".bashrc"][0] or b"")
    lived_in.machine.env["PATH"] = with_programs
    parts = lived_in.json("install", *names, "--check")["parts"]
    assert {part["state"] for part in parts} == {"installed"}
    assert "will change" not in lived_in.ok("install", *names, "--dry-run").out
    # Not so in the other direction: a bare name would not be found.
    lived_in.ok("uninstall", *names)
    lived_in.ok("install", "bash")
    lived_in.machine.env["PATH"] = "/usr/bin:/bin"
    assert "outdated" in lived_in.wc("install", "bash", "--check").out


def test_files_of_one_folder_are_shown_together(lived_in: Repo) -> None:
    assert (
        lived_in.ok("install", "fish")
        .out.splitlines()[1]
        .endswith("~/.config/fish/completions/{wc-cli.fish,wc-observe.fish,wc.fish}")
    )


def test_a_pager_shows_the_table_before_the_changes(lived_in: Repo) -> None:
    """Otherwise the first page of the changes scrolls the table away."""
    pager = lived_in.machine.root / "paged"
    env = lived_in.machine.env | {"PAGER": f"cat > {pager}", "TERM": "xterm"}
    words = [*lived_in.machine.wc_words, "install", "claude", "--dry-run"]
    front, back = pty.openpty()
    try:
        subprocess.run(words, cwd=lived_in.path, env=env, stdout=back, check=True)
    finally:
        os.close(back)
        os.close(front)
    text = re.sub(r"\x1b\[[0-9;]*m", "", pager.read_text())
    table_text, _, diff = text.partition("\n\n")
    assert table_text.startswith(
        "Claude Code  server       will change  ~/.claude.json"
    )
    assert diff.startswith("--- ")


def _here(repo: Repo) -> InstallSite:
    env = repo.machine.env
    return InstallSite(repo.machine.home, env, "linux", repo.path, None)


def test_what_keeps_it_from_working_is_reported(lived_in: Repo) -> None:
    assert lived_in.json("install", "codex")["warnings"] == []
    lived_in.machine.env["PATH"] = "/usr/bin:/bin"
    # A checkout's environment has a server, which would be named by its path.
    checked = lived_in.wc("install", "codex", "--check", "--json").json
    system, missing = checked["warnings"]
    assert "is the system's for your shell" in system
    assert "wc-observe is not on PATH" in missing
    (alone,) = lived_in.json("install", "bash", "--check")["warnings"]
    assert alone == system


def test_programs_are_named_so_that_they_are_found(lived_in: Repo) -> None:
    here = _here(lived_in)
    assert changes.program("wc", here) == "wc"
    assert changes.program("wc-observe", here) == "wc-observe"
    hidden = here._replace(env={"PATH": "/usr/bin:/bin"})
    assert changes.program("wc-observe", hidden) in {
        *("wc-observe", launcher.own_program("wc-observe"))
    }


@pytest.mark.parametrize(
    ("env", "name", "path"),
    [
        ("CLAUDE_CONFIG_DIR", "claude", "elsewhere/.claude.json"),
        ("CODEX_HOME", "codex", "elsewhere/config.toml"),
        ("XDG_CONFIG_HOME", "opencode", "elsewhere/opencode/opencode.json"),
        ("XDG_CONFIG_HOME", "zed", "elsewhere/zed/settings.json"),
    ],
)
def test_folders_that_were_chosen_elsewhere_are_honoured(
    lived_in: Repo, env: str, name: str, path: str
) -> None:
    elsewhere = {env: str(lived_in.machine.root / "elsewhere")}
    lived_in.ok("install", name, env=elsewhere)
    assert "wc-observe" in (lived_in.machine.root / path).read_text()


def test_a_mac_has_its_settings_elsewhere(repo: Repo) -> None:
    here = _here(repo)._replace(platform="darwin")
    paths = {
        str(change.path.relative_to(repo.machine.home))
        for client in registry.CLIENTS
        if client.name in {"claude-desktop", "vscode", "windsurf"}
        for part in registry.parts(client, here)
        for change in part.changes
    }
    top = "Library/Application Support"
    assert f"{top}/Claude/claude_desktop_config.json" in paths
    assert f"{top}/Code/User/mcp.json" in paths
    assert f"{top}/Windsurf/User/settings.json" in paths


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_the_plan_is_shown_and_the_person_asked(
    lived_in: Repo, answer: str
) -> None:
    machine = lived_in.machine
    before = tree(machine.home)
    master, terminal = pty.openpty()
    with subprocess.Popen(
        [*machine.wc_words, "install", "--only", "skill"],
        cwd=lived_in.path,
        env={**machine.env, "TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        os.write(master, f"{answer}\n".encode())
        said = _all(master)
        process.wait()
    assert "35 files will change" in said
    assert "Continue? [y/N]" in said
    assert ("installed" in said) == (answer == "y")
    assert (tree(machine.home) == before) == (answer == "n")


def test_at_a_terminal_it_says_what_will_be_taken_out(lived_in: Repo) -> None:
    machine = lived_in.machine
    lived_in.ok("install", "--only", "skill", "--yes")
    master, terminal = pty.openpty()
    with subprocess.Popen(
        [*machine.wc_words, "uninstall"],
        cwd=lived_in.path,
        env={**machine.env, "TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        os.write(master, b"n\n")
        said = _all(master)
        process.wait()
    assert "will be taken out" in said
    assert "Continue? [y/N]" in said


def _all(master: int) -> str:
    said = b""
    try:
        while piece := os.read(master, 1 << 16):
            said += piece
    except OSError:
        pass  # the terminal was closed
    os.close(master)
    return said.decode()


# The home has starship, and a prompt is made by one of the two.
NOT_LIVED_IN = ("powerlevel10k",)


def gaps(client: Client) -> list[str]:
    """What a client in the registry still lacks."""
    in_home = InstallSite(LIVED_IN, {}, "linux", LIVED_IN / "project", None)
    if client in registry.AGENT_CLIENTS:
        page = (ROOT / "docs/install.md").read_text()
        tests = [*SERVERS, *SERVER_FILES]
    else:
        page = (ROOT / "docs/seeing.md").read_text()
        source = (ROOT / "tests/cli/install/test_shells.py").read_text()
        tests = re.findall(r'"(\w+)"', source)
    checks = {
        "a row in wc_core.base.agents": client in shells.CLIENTS
        or client.name in {agent.client for agent in AGENT_ROWS},
        "its files on the page": all(name in page for name in _names_on_page(client)),
        "settings in tests/cli/install/home": client.is_present(in_home)
        or client.name in NOT_LIVED_IN,
        "a test": client.name in tests,
    }
    return [lack for lack, is_there in checks.items() if not is_there]


def _names_on_page(client: Client) -> list[str]:
    """What the page must say about a client: its name, and the files of an agent."""
    if client in shells.CLIENTS:
        return [client.name]
    names = [f"| `{client.name}` |"]
    for scope in client.scopes:
        site = InstallSite(LIVED_IN, {}, "linux", LIVED_IN / "project", None, scope)
        prefix = "~/" if scope == "user" else ""
        for part in registry.parts(client, site):
            for change in part.changes:
                path = change.path.relative_to(common.base_folder(site))
                if path.parent.name == "references":
                    continue  # the pages of the skill are beside it
                names.append(f"`{prefix}{path}`")
    return names


@pytest.mark.parametrize(
    "client",
    [*registry.AGENT_CLIENTS, *shells.CLIENTS],  # test_searchpath.py has `man`
    ids=lambda client: client.name,
)
def test_every_client_is_documented_and_tested(client: Client) -> None:
    assert gaps(client) == []


def test_a_client_that_only_the_registry_knows_is_noticed() -> None:
    def parts(site: InstallSite) -> tuple[Part, ...]:
        return (Part("skill", (OwnFile(site.home / ".emacs.d/wc.el", ""),)),)

    emacs = Client("emacs", lambda _: False, changes.USER, parts)
    assert gaps(emacs) == [
        "a row in wc_core.base.agents",
        "its files on the page",
        "settings in tests/cli/install/home",
        "a test",
    ]

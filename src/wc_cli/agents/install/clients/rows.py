"""Agents and editors that keep their servers in a file in JSON: one row each; and
Continue, with a file in YAML."""

from __future__ import annotations

import json
from pathlib import Path

from wc_cli.agents.install.changes import (
    USER,
    USER_AND_PROJECT,
    Add,
    Client,
    OwnFile,
    Part,
    Set,
    executable,
)
from wc_cli.agents.install.clients import common, hooks
from wc_cli.agents.install.permissions import (
    ASKED,
    SERVER,
    TOOLS,
    allowed_programs,
    pattern,
    prefixes,
)
from wc_core.base.programs import find_program
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from wc_cli.agents.install.changes import InstallSite

_ASSISTANT = (
    "JetBrains AI Assistant has settings of its own: add the command wc-observe under "
    "Tools, AI Assistant, Model Context Protocol."
)


def _plain(site: InstallSite) -> dict[str, Any]:
    return {"command": common.server_program(site), "args": []}


def _desktop(site: InstallSite) -> dict[str, Any]:
    """The server by its full path: the desktop starts it with a short PATH."""
    command = executable(common.PROGRAM, site)
    if command == common.PROGRAM:
        command = find_program(site.env, command) or command
    return {"command": command, "args": []}


class _JsonClient(NamedTuple):
    """A client.

    ``file`` has the user's servers below ``keys``, ``project_file`` those of a project
    (empty: none), and ``server`` makes the entry. One of ``programs`` or ``folders``
    shows that the user has the client. ``parts`` returns the part with the server, and
    what else there is; ``skills`` is the folder of skills (empty: none).
    """

    name: str
    file: str
    project_file: str = ""
    programs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    server: Callable[[InstallSite], dict[str, Any]] = _plain
    keys: tuple[str, ...] = ("mcpServers",)
    skills: str = ".agents/skills"
    scopes: tuple[str, ...] = USER_AND_PROJECT
    parts: Callable[[InstallSite, Path, Part], Iterable[Part]] = lambda _, __, server: (
        server,
    )


def _windsurf(site: InstallSite, _: Path, server: Part) -> Iterable[Part]:
    settings = common.settings_folder(site) / "Windsurf/User/settings.json"
    key = ("windsurf.cascadeCommandsAllowList",)
    changes = (Add(settings, key, prefix) for prefix in prefixes(site))
    return server, Part("permissions", tuple(changes))


def _vscode(site: InstallSite, file: Path, server: Part) -> Iterable[Part]:
    """With rules next to its own: this setting is merged with them."""
    yield server
    if site.scope == "project":
        return
    key = "chat.tools.terminal.autoApprove"
    programs = allowed_programs(site)
    rules = {pattern(programs=programs): True, pattern(ASKED, ("wc",)): False}
    changes = (
        Set(file.with_name("settings.json"), (key, f"/{rule}/"), approved)
        for rule, approved in rules.items()
    )
    yield Part("permissions", tuple(changes))


def _zed(site: InstallSite, file: Path, server: Part) -> Iterable[Part]:
    yield server
    if site.scope == "project":
        return
    keys = ("agent", "tool_permissions", "tools")
    command_rule = {"pattern": pattern(programs=allowed_programs(site))}
    commands = Add(file, (*keys, "terminal", "always_allow"), command_rule)
    yield Part("permissions", (commands,))
    tools = (
        Set(file, (*keys, f"mcp:{SERVER}:{tool}", "default"), "allow") for tool in TOOLS
    )
    yield common.tool_rules(server, *tools)


def _cursor(site: InstallSite, file: Path, server: Part) -> Iterable[Part]:
    """Its rules only where it has a list already: a list in this file replaces the one
    in the settings."""
    rules = file.with_name("permissions.json")

    def items(key: str, allowed: Iterable[str]) -> tuple[Add, ...]:
        is_there = isinstance(common.json_value(rules, key), list)
        return tuple(Add(rules, (key,), item) for item in allowed if is_there)

    tools = items("mcpAllowlist", (f"{SERVER}:{tool}" for tool in TOOLS))
    commands = items("terminalAllowlist", prefixes(site))
    parts = (common.tool_rules(server, *tools), Part("permissions", commands))
    path, writing = file.with_name("hooks.json"), "Write|StrReplace|EditNotebook|Delete"
    # A file of another version has other rules, so it keeps its version.
    version = Set(path, ("version",), 1, lambda current: current)

    def form(command: str, _: str, matcher: str) -> dict[str, Any]:
        handler = {"command": command, "timeout": hooks.TIMEOUT}
        return handler | ({"matcher": matcher} if matcher else {})

    hooked = hooks.parts("cursor", path, site, f"{writing}|Shell", form=form)
    return (
        server,
        *(part for part in parts if part.changes),
        *(part._replace(changes=(version, *part.changes)) for part in hooked),
    )


def _qwen(site: InstallSite, file: Path, server: Part) -> Iterable[Part]:
    allow, ask = ("permissions", "allow"), ("permissions", "ask")
    rules = (Add(file, allow, f"mcp__{SERVER}__{tool}") for tool in TOOLS)
    commands = (
        *(Add(file, allow, f"Bash({prefix} *)") for prefix in prefixes(site)),
        *(Add(file, ask, f"Bash(wc {name} *)") for name in ASKED),
    )
    writing = "write_file|edit|notebook_edit|run_shell_command"
    return (
        server,
        common.tool_rules(server, *rules),
        Part("permissions", commands),
        *hooks.parts("qwen", file, site, writing),
    )


def _gemini(site: InstallSite, file: Path, server: Part) -> Iterable[Part]:
    writing = "write_file|replace|run_shell_command"
    yield from hooks.parts("gemini", file, site, writing, form=_gemini_hook)
    if isinstance(common.json_value(file, "mcp", "allowed"), list):
        # It only starts servers that are in this list.
        allowed = Add(file, ("mcp", "allowed"), SERVER)
        server = server._replace(changes=(*server.changes, allowed))
    yield server
    if site.scope == "project":
        return
    policies = file.with_name("policies")
    commands = _policy('toolName = "run_shell_command"\ncommandPrefix', prefixes(site))
    yield Part("permissions", (OwnFile(policies / f"{SERVER}.toml", commands),))
    tools = _policy("toolName", TOOLS, f'mcpName = "{SERVER}"\n')
    file = policies / f"{SERVER}-tools.toml"
    yield common.tool_rules(server, OwnFile(file, tools))


def _gemini_hook(command: str, label: str, matcher: str) -> dict[str, Any]:
    """Its hooks have a name, and a timeout in milliseconds."""
    group = hooks.group(command, label, matcher)
    (handler,) = group["hooks"]
    handler |= {"timeout": hooks.TIMEOUT * 1000, "name": f"watercooler-{label}"}
    return group


def _policy(key: str, values: Iterable[str], more: str = "") -> str:
    """A policy of Gemini CLI for what it does without asking."""
    lines = "".join(f'  "{value}",\n' for value in values)
    return (
        "# Written by `wc install gemini`; `wc uninstall gemini` removes it.\n"
        f"[[rule]]\n{key} = [\n{lines}]\n{more}"
        'decision = "allow"\n'
        "priority = 100\n"
    )


_ROWS = (
    # modelcontextprotocol.io/docs/develop/connect-local-servers
    _JsonClient(
        "claude-desktop",
        "{settings}/Claude/claude_desktop_config.json",
        folders=("{settings}/Claude",),
        notes=("Quit Claude Desktop and start it again.",),
        server=_desktop,
        skills="",
        scopes=USER,
    ),
    # geminicli.com/docs (configuration, policy-engine, skills, hooks), and the program
    # itself
    _JsonClient(
        "gemini",
        "{home}/.gemini/settings.json",
        ".gemini/settings.json",
        ("gemini",),
        ("{home}/.gemini",),
        ("Restart Gemini CLI; it starts servers in folders that you trust.",),
        parts=_gemini,
    ),
    # docs/users of QwenLM/qwen-code (configuration/settings, features/mcp, hooks,
    # skills), and the program itself
    _JsonClient(
        "qwen",
        "{home}/.qwen/settings.json",
        ".qwen/settings.json",
        ("qwen",),
        ("{home}/.qwen",),
        ("Restart Qwen Code.",),
        skills=".qwen/skills",
        parts=_qwen,
    ),
    # Cursor, the editor and its agent for the terminal: cursor.com/docs (mcp, skills,
    # hooks, reference/permissions)
    _JsonClient(
        "cursor",
        "{home}/.cursor/mcp.json",
        ".cursor/mcp.json",
        ("cursor", "cursor-agent"),
        ("{home}/.cursor",),
        ("Cursor: turn the server on under Settings, MCP, if it is off.",),
        parts=_cursor,
    ),
    # docs.windsurf.com (cascade: mcp, skills, terminal)
    _JsonClient(
        "windsurf",
        "{home}/.codeium/windsurf/mcp_config.json",
        programs=("windsurf",),
        folders=("{home}/.codeium/windsurf",),
        notes=("Windsurf: refresh the servers in Cascade.",),
        parts=_windsurf,
    ),
    # code.visualstudio.com/docs (mcp servers, agent skills, terminal auto-approve)
    _JsonClient(
        "vscode",
        "{settings}/Code/User/mcp.json",
        ".vscode/mcp.json",
        ("code",),
        ("{settings}/Code/User",),
        ("VS Code asks once whether to trust the server.",),
        lambda site: {"type": "stdio", **_plain(site)},
        ("servers",),
        parts=_vscode,
    ),
    # Copilot CLI: docs.github.com/copilot (copilot-cli-reference), and what `copilot
    # mcp add` writes. AWS has a program of the name `copilot`, too: only its folder
    # shows that it is there.
    _JsonClient(
        "copilot",
        "{home}/.copilot/mcp-config.json",
        folders=("{home}/.copilot",),
        notes=("Restart Copilot CLI.",),
        server=lambda site: {"tools": ["*"], "type": "local", **_plain(site)},
    ),
    # Zed, whose folder is the same on macOS: zed.dev/docs/ai (mcp, skills,
    # tool-permissions)
    _JsonClient(
        "zed",
        "{config}/zed/settings.json",
        ".zed/settings.json",
        ("zed", "zeditor"),
        ("{config}/zed",),
        server=lambda site: {"source": "custom", **_plain(site), "env": {}},
        keys=("context_servers",),
        parts=_zed,
    ),
    # Junie, the agent in JetBrains' IDEs and in the terminal: junie.jetbrains.com/docs
    # (junie-cli-mcp-configuration, agent-skills)
    _JsonClient(
        "jetbrains",
        "{home}/.junie/mcp/mcp.json",
        ".junie/mcp/mcp.json",
        ("junie",),
        ("{home}/.junie",),
        ("Restart Junie.", _ASSISTANT),
        skills=".junie/skills",
    ),
    # Cline in the terminal; in an editor, it keeps its servers in the editor's storage:
    # what `cline mcp add` writes, as of npm cline 3.0.65
    _JsonClient(
        "cline",
        "{home}/.cline/data/settings/cline_mcp_settings.json",
        programs=("cline",),
        folders=("{home}/.cline",),
        notes=("Restart Cline.",),
        server=lambda site: {
            "transport": {"type": "stdio", "command": common.server_program(site)}
        },
    ),
)


def _client(row: _JsonClient) -> Client:
    def full(path: str, site: InstallSite) -> Path:
        settings, config = common.settings_folder(site), common.config_folder(site)
        return Path(path.format(home=site.home, settings=settings, config=config))

    def is_present(site: InstallSite) -> bool:
        folders = (str(full(folder, site)) for folder in row.folders)
        return common.is_present(site, row.programs, *folders)

    def parts(site: InstallSite) -> tuple[Part, ...]:
        found: list[Part] = []
        if row.skills:
            found.append(common.skill(common.base_folder(site) / row.skills))
        if site.scope == "user" or row.project_file:
            file = full(row.file, site)
            if site.scope == "project":
                file = common.base_folder(site) / row.project_file
            change = common.json_server(file, row.keys, row.server(site))
            found += row.parts(site, file, Part("server", (change,), row.notes))
        return tuple(found)

    return Client(row.name, is_present, row.scopes, parts)


# Continue in an editor; its program for the terminal, `cn`, reads only config.yaml:
# docs.continue.dev (customize/deep-dives/mcp), and continuedev/continue, core:
# config/yaml/loadYaml.ts, config/markdown/loadMarkdownSkills.ts. A file of our own
# beside config.yaml, whose comments and order stay as they are.
_CONTINUE = """\
# Written by `wc install continue`; `wc uninstall continue` removes it.
name: Watercooler
version: 0.0.1
schema: v1
mcpServers:
  - name: watercooler
    command: PROGRAM
"""


def _continue(site: InstallSite) -> tuple[Part, ...]:
    folder = common.base_folder(site) / ".continue"
    skill = common.skill(folder / "skills")
    if site.scope == "user" and _is_connected_by_hand(folder / "config.yaml"):
        return (skill,)
    program = json.dumps(common.server_program(site))
    text = _CONTINUE.replace("PROGRAM", program)
    server = OwnFile(folder / "mcpServers/watercooler.yaml", text)
    return (
        Part("server", (server,), ("Continue: reload the window of your editor.",)),
        skill,
    )


def _is_connected_by_hand(config: Path) -> bool:
    """Whether a settings file that people write has our server."""
    lines = common.text_of(config).splitlines()
    return any(common.PROGRAM in line.partition("#")[0] for line in lines)


CLIENTS = (
    *map(_client, _ROWS),
    Client(
        "continue",
        lambda site: common.is_present(site, (), ".continue"),
        USER_AND_PROJECT,
        _continue,
    ),
)

"""Editors with agents: Cursor, VS Code, Zed, Windsurf.

Sources: cursor.com/docs (mcp, skills, reference/permissions),
code.visualstudio.com/docs (mcp servers, agent skills, terminal auto-approve),
zed.dev/docs/ai (mcp, skills, tool-permissions), docs.windsurf.com (cascade: mcp,
skills, terminal).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.install.changes import Client, InstallSite, JsonAdd, JsonSet, Part
from wc_cli.install.clients import common
from wc_cli.install.permissions import ASKED, SERVER, TOOLS, pattern, prefixes

if TYPE_CHECKING:
    from pathlib import Path


def _cursor_parts(here: InstallSite) -> tuple[Part, ...]:
    folder = common.base(here) / ".cursor"
    server = {"command": common.server_program(here), "args": []}
    change = common.json_server(folder / "mcp.json", ("mcpServers",), server)
    note = "Cursor: switch the server on under Settings, MCP, if it is off."
    parts = [Part("server", (change,), (note,)), common.shared_skill(here)]
    path = folder / "permissions.json"
    wanted = {
        "mcpAllowlist": (f"{SERVER}:*",),
        "terminalAllowlist": prefixes(),
    }
    # A list in this file takes the place of the one in the settings: only one
    # that is there already is added to.
    added = tuple(
        JsonAdd(path, (key,), item)
        for key, items in wanted.items()
        if isinstance(common.known(path, key), list)
        for item in items
    )
    return (*parts, Part("permissions", added)) if added else tuple(parts)


def _code_folder(here: InstallSite, product: str = "Code") -> Path:
    return common.settings_folder(here) / product / "User"


def _code_parts(here: InstallSite) -> tuple[Part, ...]:
    project = here.scope == "project"
    folder = common.base(here) / ".vscode" if project else _code_folder(here)
    server = {"type": "stdio", "command": common.server_program(here)}
    change = common.json_server(
        folder / "mcp.json", ("servers",), {**server, "args": []}
    )
    note = "VS Code asks once whether to trust the server."
    parts = [Part("server", (change,), (note,)), common.shared_skill(here)]
    if not project:
        # Its own rules stay: this setting is merged with them.
        rules = {pattern(): True, pattern(ASKED): False}
        settings, key = folder / "settings.json", "chat.tools.terminal.autoApprove"
        changes = [
            JsonSet(settings, (key, f"/{one}/"), value) for one, value in rules.items()
        ]
        parts.append(Part("permissions", tuple(changes)))
    return tuple(parts)


def _zed_parts(here: InstallSite) -> tuple[Part, ...]:
    project = here.scope == "project"
    folder = common.base(here) / ".zed" if project else _zed_folder(here)
    settings = folder / "settings.json"
    server = {"source": "custom", "command": common.server_program(here)}
    change = common.json_server(
        settings, ("context_servers",), {**server, "args": [], "env": {}}
    )
    parts = [Part("server", (change,)), common.shared_skill(here)]
    if not project:
        keys = ("agent", "tool_permissions", "tools")
        rule = {"pattern": pattern()}
        allowed = [JsonAdd(settings, (*keys, "terminal", "always_allow"), rule)]
        tools = [
            JsonSet(settings, (*keys, f"mcp:{SERVER}:{one}", "default"), "allow")
            for one in TOOLS
        ]
        parts.append(Part("permissions", (*allowed, *tools)))
    return tuple(parts)


def _zed_folder(here: InstallSite) -> Path:
    # On macOS too.
    return common.config_folder(here) / "zed"


def _windsurf_parts(here: InstallSite) -> tuple[Part, ...]:
    if here.scope == "project":
        return (common.shared_skill(here),)
    path = here.home / ".codeium/windsurf/mcp_config.json"
    server = {"command": common.server_program(here), "args": []}
    change = common.json_server(path, ("mcpServers",), server)
    settings = _code_folder(here, "Windsurf") / "settings.json"
    keys = ("windsurf.cascadeCommandsAllowList",)
    allowed = tuple(JsonAdd(settings, keys, one) for one in prefixes())
    return (
        Part("server", (change,), ("Windsurf: refresh the servers in Cascade.",)),
        common.shared_skill(here),
        Part("permissions", allowed),
    )


_BOTH = ("user", "project")

CLIENTS = (
    Client(
        "cursor",
        "Cursor",
        lambda here: common.is_there(here, ("cursor", "cursor-agent"), ".cursor"),
        _BOTH,
        _cursor_parts,
    ),
    Client(
        "vscode",
        "VS Code",
        lambda here: common.is_there(here, ("code",)) or _code_folder(here).is_dir(),
        _BOTH,
        _code_parts,
    ),
    Client(
        "zed",
        "Zed",
        lambda here: (
            common.is_there(here, ("zed", "zeditor")) or _zed_folder(here).is_dir()
        ),
        _BOTH,
        _zed_parts,
    ),
    Client(
        "windsurf",
        "Windsurf",
        lambda here: common.is_there(here, ("windsurf",), ".codeium/windsurf"),
        _BOTH,
        _windsurf_parts,
    ),
)

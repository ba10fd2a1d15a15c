"""Zed.

Source: zed.dev/docs/ai (mcp, skills, tool-permissions).
"""

from __future__ import annotations

from wc_cli.agents.install.changes import (
    USER_AND_PROJECT,
    Client,
    InstallSite,
    JsonAdd,
    JsonSet,
    Part,
)
from wc_cli.agents.install.clients import common
from wc_cli.agents.install.permissions import SERVER, TOOLS, allowed_programs, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def _user_folder(site: InstallSite) -> Path:
    # Also on macOS.
    return common.config_folder(site) / "zed"


def _is_present(site: InstallSite) -> bool:
    return common.is_present(site, ("zed", "zeditor")) or _user_folder(site).is_dir()


def _parts(site: InstallSite) -> tuple[Part, ...]:
    project = site.scope == "project"
    folder = common.base_folder(site) / ".zed" if project else _user_folder(site)
    settings = folder / "settings.json"
    server = {"source": "custom", "command": common.server_program(site)}
    change = common.json_server(
        settings, ("context_servers",), {**server, "args": [], "env": {}}
    )
    server_part = Part("server", (change,))
    rules = () if project else _rules(settings, server_part, allowed_programs(site))
    return (server_part, common.shared_skill(site), *rules)


def _rules(settings: Path, server: Part, programs: tuple[str, ...]) -> tuple[Part, ...]:
    keys = ("agent", "tool_permissions", "tools")
    command_rule = {"pattern": pattern(programs=programs)}
    tools = (
        JsonSet(settings, (*keys, f"mcp:{SERVER}:{tool}", "default"), "allow")
        for tool in TOOLS
    )
    commands = JsonAdd(settings, (*keys, "terminal", "always_allow"), command_rule)
    return (Part("permissions", (commands,)), common.tool_rules(server, *tools))


CLIENT = Client("zed", _is_present, USER_AND_PROJECT, _parts)

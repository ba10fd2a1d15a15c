"""Windsurf.

Source: docs.windsurf.com (cascade: mcp, skills, terminal).
"""

from __future__ import annotations

from wc_cli.agents.install.changes import USER_AND_PROJECT, Client, JsonAdd, Part
from wc_cli.agents.install.clients import common
from wc_cli.agents.install.permissions import prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

_NOTE = "Windsurf: refresh the servers in Cascade."


def _parts(site: InstallSite) -> tuple[Part, ...]:
    if site.scope == "project":
        return (common.shared_skill(site),)
    path = site.home / ".codeium/windsurf/mcp_config.json"
    server = {"command": common.server_program(site), "args": []}
    change = common.json_server(path, ("mcpServers",), server)
    return (
        Part("server", (change,), (_NOTE,)),
        common.shared_skill(site),
        _permissions(site),
    )


def _permissions(site: InstallSite) -> Part:
    settings = common.settings_folder(site) / "Windsurf/User/settings.json"
    key = ("windsurf.cascadeCommandsAllowList",)
    changes = (JsonAdd(settings, key, prefix) for prefix in prefixes(site))
    return Part("permissions", tuple(changes))


CLIENT = Client(
    "windsurf",
    lambda site: common.is_present(site, ("windsurf",), ".codeium/windsurf"),
    USER_AND_PROJECT,
    _parts,
)

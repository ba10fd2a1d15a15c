"""Cline in the terminal. In an editor, it keeps its servers in the editor's storage.

Source: what `cline mcp add` writes, as of npm cline 3.0.65.
"""

from __future__ import annotations

from wc_cli.agents.install.changes import USER_AND_PROJECT, Client, Part
from wc_cli.agents.install.clients import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

_NOTE = "Restart Cline."


def _parts(site: InstallSite) -> tuple[Part, ...]:
    if site.scope == "project":
        return (common.shared_skill(site),)
    server = {"transport": {"type": "stdio", "command": common.server_program(site)}}
    path = site.home / ".cline/data/settings/cline_mcp_settings.json"
    change = common.json_server(path, ("mcpServers",), server)
    return (Part("server", (change,), (_NOTE,)), common.shared_skill(site))


CLIENT = Client(
    "cline",
    lambda site: common.is_present(site, ("cline",), ".cline"),
    USER_AND_PROJECT,
    _parts,
)

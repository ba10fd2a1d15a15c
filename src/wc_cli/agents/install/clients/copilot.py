"""Copilot CLI.

Sources: docs.github.com/copilot (copilot-cli-reference), and what `copilot mcp add`
writes.
"""

from __future__ import annotations

from wc_cli.agents.install.changes import USER_AND_PROJECT, Client, Part
from wc_cli.agents.install.clients import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

_NOTE = "Restart Copilot CLI."


def _parts(site: InstallSite) -> tuple[Part, ...]:
    if site.scope == "project":
        return (common.shared_skill(site),)
    server = {
        "tools": ["*"],
        "type": "local",
        "command": common.server_program(site),
        "args": [],
    }
    path = site.home / ".copilot/mcp-config.json"
    change = common.json_server(path, ("mcpServers",), server)
    return (Part("server", (change,), (_NOTE,)), common.shared_skill(site))


# AWS has a program of the name `copilot`, too: only its folder shows that it is there.
CLIENT = Client(
    "copilot",
    lambda site: common.is_present(site, (), ".copilot"),
    USER_AND_PROJECT,
    _parts,
)

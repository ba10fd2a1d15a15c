"""Junie, the agent in JetBrains' IDEs and in the terminal.

Sources: junie.jetbrains.com/docs (junie-cli-mcp-configuration, agent-skills).
"""

from __future__ import annotations

from wc_cli.agents.install.changes import USER_AND_PROJECT, Client, Part
from wc_cli.agents.install.clients import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

_RESTART = "Restart Junie."
_ASSISTANT = (
    "JetBrains AI Assistant has settings of its own: add the command wc-observe under "
    "Tools, AI Assistant, Model Context Protocol."
)


def _parts(site: InstallSite) -> tuple[Part, ...]:
    folder = common.base_folder(site) / ".junie"
    server = {"command": common.server_program(site), "args": []}
    change = common.json_server(folder / "mcp/mcp.json", ("mcpServers",), server)
    return (
        Part("server", (change,), (_RESTART, _ASSISTANT)),
        common.skill(folder / "skills"),
    )


CLIENT = Client(
    "jetbrains",
    lambda site: common.is_present(site, ("junie",), ".junie"),
    USER_AND_PROJECT,
    _parts,
)

"""Claude Desktop.

Source: modelcontextprotocol.io/docs/develop/connect-local-servers.
"""

from __future__ import annotations

from wc_cli.agents.install.changes import USER, Client, InstallSite, Part, executable
from wc_cli.agents.install.clients import common
from wc_core.base.programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_NOTE = "Quit Claude Desktop and start it again."


def _folder(site: InstallSite) -> Path:
    return common.settings_folder(site) / "Claude"


def _parts(site: InstallSite) -> tuple[Part, ...]:
    server = {"command": _server_path(site), "args": []}
    path = _folder(site) / "claude_desktop_config.json"
    change = common.json_server(path, ("mcpServers",), server)
    return (Part("server", (change,), (_NOTE,)),)


def _server_path(site: InstallSite) -> str:
    """The full path of the server: the desktop starts it with a short PATH."""
    command = executable(common.PROGRAM, site)
    if command != common.PROGRAM:
        return command
    return find_program(site.env, command) or command


CLIENT = Client("claude-desktop", lambda site: _folder(site).exists(), USER, _parts)

"""Cursor, the editor and its agent for the terminal.

Source: cursor.com/docs (mcp, skills, agent/hooks, reference/permissions).
"""

from __future__ import annotations

from wc_cli.briefing.dialects import PROMPT
from wc_cli.install.changes import (
    USER_AND_PROJECT,
    Change,
    Client,
    InstallSite,
    JsonAdd,
    JsonSet,
    Part,
)
from wc_cli.install.clients import common, hooks
from wc_cli.install.permissions import SERVER, prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_NOTE = "Cursor: turn the server on under Settings, MCP, if it is off."


def _parts(site: InstallSite) -> tuple[Part, ...]:
    folder = common.base_folder(site) / ".cursor"
    server = {"command": common.server_program(site), "args": []}
    change = common.json_server(folder / "mcp.json", ("mcpServers",), server)
    return (
        Part("server", (change,), (_NOTE,)),
        common.shared_skill(site),
        *_permissions(folder / "permissions.json", site),
        _hooks(folder / "hooks.json", site),
    )


def _permissions(path: Path, site: InstallSite) -> tuple[Part, ...]:
    """Our items in the lists of allowed things.

    A list in this file replaces the one in the settings, so we only add to a list that
    already exists.
    """
    items = {"mcpAllowlist": (f"{SERVER}:*",), "terminalAllowlist": prefixes(site)}
    changes = tuple(
        JsonAdd(path, (key,), item)
        for key in items
        if isinstance(common.json_value(path, key), list)
        for item in items[key]
    )
    return (Part("permissions", changes),) if changes else ()


def _hooks(path: Path, site: InstallSite) -> Part:
    # A file of another version has other rules, so it keeps its version.
    changes: list[Change] = [JsonSet(path, ("version",), 1, lambda current: current)]
    for event, name, command in hooks.hook_commands("cursor", site):
        if event != PROMPT:
            handler = {"command": command, "timeout": hooks.TIMEOUT}
            changes.append(JsonAdd(path, ("hooks", name), handler))
    return Part("hooks", tuple(changes))


CLIENT = Client(
    "cursor",
    lambda site: common.is_present(site, ("cursor", "cursor-agent"), ".cursor"),
    USER_AND_PROJECT,
    _parts,
)

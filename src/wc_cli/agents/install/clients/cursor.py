"""Cursor, the editor and its agent for the terminal.

Source: cursor.com/docs (mcp, skills, hooks, reference/permissions).
"""

from __future__ import annotations

from wc_cli.agents.install.changes import (
    USER_AND_PROJECT,
    Change,
    Client,
    InstallSite,
    JsonAdd,
    JsonSet,
    Part,
)
from wc_cli.agents.install.clients import common, hooks
from wc_cli.agents.install.permissions import SERVER, prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_WRITING_TOOLS = "Write|StrReplace|EditNotebook|Delete|Shell"
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
        _guard(folder / "hooks.json", site),
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
    changes: list[Change] = [_version(path)]
    for _, name, command in hooks.hook_commands("cursor", site):
        handler = {"command": command, "timeout": hooks.TIMEOUT}
        changes.append(JsonAdd(path, ("hooks", name), handler))
    return Part("hooks", tuple(changes))


def _guard(path: Path, site: InstallSite) -> Part:
    changes: list[Change] = [_version(path)]
    for name, command in hooks.guard_commands("cursor", site):
        handler = {"command": command, "timeout": hooks.TIMEOUT}
        handler["matcher"] = _WRITING_TOOLS
        changes.append(JsonAdd(path, ("hooks", name), handler))
    return Part("guard", tuple(changes))


def _version(path: Path) -> JsonSet:
    # A file of another version has other rules, so it keeps its version.
    return JsonSet(path, ("version",), 1, lambda current: current)


CLIENT = Client(
    "cursor",
    lambda site: common.is_present(site, ("cursor", "cursor-agent"), ".cursor"),
    USER_AND_PROJECT,
    _parts,
)

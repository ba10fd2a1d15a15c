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
from wc_cli.agents.install.permissions import SERVER, TOOLS, prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_WRITING_TOOLS = "Write|StrReplace|EditNotebook|Delete|Shell"
_NOTE = "Cursor: turn the server on under Settings, MCP, if it is off."


def _parts(site: InstallSite) -> tuple[Part, ...]:
    folder = common.base_folder(site) / ".cursor"
    server = {"command": common.server_program(site), "args": []}
    change = common.json_server(folder / "mcp.json", ("mcpServers",), server)
    server_part = Part("server", (change,), (_NOTE,))
    rules = folder / "permissions.json"
    tools = _list_items(rules, "mcpAllowlist", (f"{SERVER}:{tool}" for tool in TOOLS))
    commands = _list_items(rules, "terminalAllowlist", prefixes(site))
    parts = (common.tool_rules(server_part, *tools), Part("permissions", commands))
    return (
        server_part,
        common.shared_skill(site),
        *(part for part in parts if part.changes),
        _hooks(folder / "hooks.json", site),
        _guard(folder / "hooks.json", site),
    )


def _list_items(path: Path, key: str, items: Iterable[str]) -> tuple[JsonAdd, ...]:
    """Our items in a list of allowed things.

    A list in this file replaces the one in the settings, so we only add to a list that
    already exists.
    """
    if not isinstance(common.json_value(path, key), list):
        return ()
    return tuple(JsonAdd(path, (key,), item) for item in items)


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

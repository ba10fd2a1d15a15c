"""Claude Code and Claude Desktop.

Sources: code.claude.com/docs (settings, mcp, skills, statusline, permissions),
modelcontextprotocol.io/docs/develop/connect-local-servers.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from wc_cli.install.changes import (
    Client,
    InstallSite,
    JsonAdd,
    JsonSet,
    Part,
    executable,
    program,
)
from wc_cli.install.clients import common
from wc_cli.install.permissions import ASKED, SERVER, prefixes
from wc_core.errors import ConflictError

_RESTART = "Restart Claude Code."
_APPROVE = "Claude Code asks once whether to trust the server of this project."
_PLUGIN = "Its plugin is installed and brings server, skill and hooks."


def folder_of(here: InstallSite) -> Path:
    """Its folder of settings."""
    if here.scope == "project":
        return common.base(here) / ".claude"
    said = here.env.get("CLAUDE_CONFIG_DIR", "")
    return Path(said) if said else here.home / ".claude"


def _servers(here: InstallSite) -> Path:
    """The file that has its servers: beside the folder of settings, unless that
    one was chosen."""
    if here.scope == "project":
        return common.base(here) / ".mcp.json"
    said = here.env.get("CLAUDE_CONFIG_DIR", "")
    return Path(said) / ".claude.json" if said else here.home / ".claude.json"


def has_plugin(here: InstallSite) -> bool:
    """Whether our plugin is switched on."""
    plugins = common.known(folder_of(here) / "settings.json", "enabledPlugins")
    return isinstance(plugins, dict) and any(
        name.partition("@")[0] == SERVER and on for name, on in plugins.items()
    )


def code_parts(here: InstallSite) -> tuple[Part, ...]:
    """Everything for Claude Code; what its plugin brings is left to that."""
    plugin = has_plugin(here)
    parts = [_permissions(here, plugin=plugin)]
    if not plugin:
        # As `claude mcp add` writes it.
        server = {"type": "stdio", "command": common.server_program(here)}
        change = common.json_server(
            _servers(here), ("mcpServers",), {**server, "args": [], "env": {}}
        )
        note = _APPROVE if here.scope == "project" else _RESTART
        skill = common.skill(folder_of(here) / "skills")
        parts = [Part("server", (change,), (note,)), skill, *parts]
    if here.scope == "user":
        parts.append(_status_line(here))
    return tuple(parts)


def _permissions(here: InstallSite, *, plugin: bool) -> Part:
    server = f"mcp__plugin_{SERVER}_{SERVER}" if plugin else f"mcp__{SERVER}"
    rules = (*(f"Bash({one}:*)" for one in prefixes()), server)
    path, allow = folder_of(here) / "settings.json", ("permissions", "allow")
    added = tuple(JsonAdd(path, allow, one) for one in rules)
    ask = ("permissions", "ask")
    asked = tuple(JsonAdd(path, ask, f"Bash(wc {one}:*)") for one in ASKED)
    return Part("permissions", (*added, *asked), (_PLUGIN,) if plugin else ())


def _status_line(here: InstallSite) -> Part:
    """Our line under the prompt, after the person's own."""
    words = f"CLAUDECODE=1 {program('wc-statusline', here)} --stdin"

    def compose(theirs: Any) -> Any:
        own = theirs.get("command") if isinstance(theirs, dict) else None
        if not isinstance(own, str) or theirs.get("type") != "command":
            raise ConflictError(
                "Claude Code has a status line that is no command.",
                "It was left as it is. By hand: wc-statusline --stdin --chain 'THEIRS'",
            )
        if "wc-statusline" in own:
            return theirs
        chained = f"{words} --chain {shlex.quote(own)}"
        return {"refreshInterval": 5, **theirs, "command": chained}

    line = {"type": "command", "command": words, "padding": 0, "refreshInterval": 5}
    path = folder_of(here) / "settings.json"
    return Part("status-line", (JsonSet(path, ("statusLine",), line, compose),))


def _desktop_folder(here: InstallSite) -> Path:
    return common.settings_folder(here) / "Claude"


def _desktop_parts(here: InstallSite) -> tuple[Part, ...]:
    # It is started by the desktop, whose PATH is a short one.
    found = executable("wc-observe", here)
    command = _whole(found, here) if found == common.PROGRAM else found
    change = common.json_server(
        _desktop_folder(here) / "claude_desktop_config.json",
        ("mcpServers",),
        {"command": command, "args": []},
    )
    return (Part("server", (change,), ("Quit Claude Desktop and start it again.",)),)


def _whole(name: str, here: InstallSite) -> str:
    import shutil

    return shutil.which(name, path=here.env.get("PATH", "")) or name


CLIENTS = (
    Client(
        "claude",
        "Claude Code",
        lambda here: common.is_there(here, ("claude",), ".claude", ".claude.json"),
        ("user", "project"),
        code_parts,
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        lambda here: _desktop_folder(here).exists(),
        ("user",),
        _desktop_parts,
    ),
)

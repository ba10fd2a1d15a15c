"""Claude Code.

Source: code.claude.com/docs (settings, mcp, skills, hooks, statusline, permissions).
"""

from __future__ import annotations

import shlex
from pathlib import Path

from wc_cli.agents.briefing.dialects import MOVES
from wc_cli.agents.install.changes import (
    USER_AND_PROJECT,
    Add,
    Client,
    InstallSite,
    Part,
    Set,
    program,
)
from wc_cli.agents.install.clients import common, hooks
from wc_cli.agents.install.permissions import ASKED, SERVER, TOOLS, prefixes
from wc_core.base.errors import ConflictError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RESTART = "Restart Claude Code."
_APPROVE = "Claude Code asks once whether to trust the server of this project."
_WRITING_TOOLS = "Edit|MultiEdit|Write|NotebookEdit|Bash"
# Two weeks. More than 24 days would mean no time limit: the timer has 32 bits of
# milliseconds.
_WAKE_SECONDS = 14 * 24 * 3600
_PLUGIN = "Its plugin is installed and provides server, skill and hooks."


def _folder(site: InstallSite) -> Path:
    """The folder of its settings."""
    if site.scope == "project":
        return common.base_folder(site) / ".claude"
    chosen = site.env.get("CLAUDE_CONFIG_DIR", "")
    return Path(chosen) if chosen else site.home / ".claude"


def _servers_file(site: InstallSite) -> Path:
    """The file with its servers: next to the settings folder, but inside one that the
    user chose."""
    if site.scope == "project":
        return common.base_folder(site) / ".mcp.json"
    chosen = site.env.get("CLAUDE_CONFIG_DIR", "")
    return Path(chosen) / ".claude.json" if chosen else site.home / ".claude.json"


def _plugins(site: InstallSite) -> tuple[str, ...]:
    """The enabled plugins with our name."""
    plugins = common.json_value(_folder(site) / "settings.json", "enabledPlugins")
    enabled = plugins.items() if isinstance(plugins, dict) else ()
    names = (name for name, on in enabled if on)
    return tuple(name for name in names if name.partition("@")[0] == SERVER)


def _plugin_server(site: InstallSite, plugin: str) -> Set | None:
    """Our server as it must be in the files of a plugin, because any marketplace may
    have a plugin with our name; ``None`` if the plugin is not on this machine."""
    folder = _folder(site._replace(scope="user")) / "plugins"
    file = folder / "installed_plugins.json"
    copies = common.json_value(file, "plugins", plugin)
    copy = copies[-1] if isinstance(copies, list) and copies else None
    path = copy.get("installPath") if isinstance(copy, dict) else None
    if not isinstance(path, str):
        return None
    return common.json_server(Path(path, ".mcp.json"), ("mcpServers",), {})


def _parts(site: InstallSite) -> tuple[Part, ...]:
    """Everything for Claude Code, except what the plugin provides if it is enabled."""
    plugins, settings = _plugins(site), _folder(site) / "settings.json"
    parts = [_permissions(site, has_plugin=bool(plugins))]
    if plugins:
        servers = [_plugin_server(site, name) for name in plugins]
        needs = tuple(server for server in servers if server is not None)
        rules = _tool_rules(site, f"plugin_{SERVER}_{SERVER}")
        parts += [Part("tools", rules, needs=needs)] if needs == (*servers,) else []
    else:
        server = _server(site)
        if not _is_shadowed(site):
            parts.append(common.tool_rules(server, *_tool_rules(site, SERVER)))
        parts += [
            server,
            common.skill(_folder(site) / "skills"),
            *hooks.parts(
                "claude", settings, site, _WRITING_TOOLS, moves="|".join(MOVES)
            ),
        ]
    if site.scope == "user":
        parts += [_wake(site), _status_line(site)]
    return tuple(parts)


def _server(site: InstallSite) -> Part:
    # In the format that `claude mcp add` writes.
    server = {"type": "stdio", "command": common.server_program(site)}
    change = common.json_server(
        _servers_file(site), ("mcpServers",), {**server, "args": [], "env": {}}
    )
    note = _APPROVE if site.scope == "project" else _RESTART
    return Part("server", (change,), (note,))


def _is_shadowed(site: InstallSite) -> bool:
    """Whether Claude Code would start another server of our name than the one of this
    scope: it also keeps servers for single projects, which come first."""
    file = _servers_file(site._replace(scope="user"))
    projects = common.json_value(file, "projects")
    return any(
        isinstance(fields, dict)
        and SERVER in (servers := fields.get("mcpServers") or {})
        and not common.starts_our_server(servers[SERVER])
        for path, fields in (projects if isinstance(projects, dict) else {}).items()
        if site.scope == "user" or path == str(site.project)
    )


def _tool_rules(site: InstallSite, server: str) -> tuple[Add, ...]:
    path, keys = _folder(site) / "settings.json", ("permissions", "allow")
    return tuple(Add(path, keys, f"mcp__{server}__{tool}") for tool in TOOLS)


def _permissions(site: InstallSite, *, has_plugin: bool) -> Part:
    allowed = (f"Bash({prefix}:*)" for prefix in prefixes(site))
    to_ask = (f"Bash(wc {name}:*)" for name in ASKED)
    path = _folder(site) / "settings.json"
    changes = (
        *(Add(path, ("permissions", "allow"), rule) for rule in allowed),
        *(Add(path, ("permissions", "ask"), rule) for rule in to_ask),
    )
    return Part("permissions", changes, (_PLUGIN,) if has_plugin else ())


def _wake(site: InstallSite) -> Part:
    """A hook that waits in the background after each turn and starts another turn by
    exiting with 2. It needs the other hooks, which report when the agent is working."""
    handler = {"async": True, "asyncRewake": True, "timeout": _WAKE_SECONDS}
    path = _folder(site) / "settings.json"
    return hooks.wake("claude", path, site, _RESTART, **handler)


def _status_line(site: InstallSite) -> Part:
    """Our line under the prompt, after the user's own."""
    words = f"CLAUDECODE=1 {program('wc-statusline', site)} --stdin"

    def compose(current: Any) -> Any:
        command = current.get("command") if isinstance(current, dict) else None
        if not isinstance(command, str) or current.get("type") != "command":
            raise ConflictError(
                "Claude Code has a status line that is not a command.",
                "It was left as it is. By hand: wc-statusline --stdin --chain 'THEIRS'",
            )
        if "wc-statusline" in command:
            return current
        chained = f"{words} --chain {shlex.quote(command)}"
        return {"refreshInterval": 5, **current, "command": chained}

    line = {"type": "command", "command": words, "padding": 0, "refreshInterval": 5}
    path = _folder(site) / "settings.json"
    return Part("status-line", (Set(path, ("statusLine",), line, compose),))


CLIENT = Client(
    "claude",
    lambda site: common.is_present(site, ("claude",), ".claude", ".claude.json"),
    USER_AND_PROJECT,
    _parts,
)

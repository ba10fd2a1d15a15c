"""Gemini CLI.

Sources: geminicli.com/docs (configuration, policy-engine, skills, hooks), and the
program itself.
"""

from __future__ import annotations

from wc_cli.agents.install.changes import (
    USER_AND_PROJECT,
    Change,
    Client,
    JsonAdd,
    OwnFile,
    Part,
)
from wc_cli.agents.install.clients import common, hooks
from wc_cli.agents.install.permissions import SERVER, TOOLS, prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from wc_cli.agents.install.changes import InstallSite

_WRITING_TOOLS = "write_file|replace|run_shell_command"
_NOTE = "Restart Gemini CLI; it starts servers in folders that you trust."
_WRITTEN_BY = "# Written by `wc install gemini`; `wc uninstall gemini` removes it.\n"


def _parts(site: InstallSite) -> tuple[Part, ...]:
    folder = common.base_folder(site) / ".gemini"
    server = {"command": common.server_program(site), "args": []}
    settings = folder / "settings.json"
    changes: list[Change] = [common.json_server(settings, ("mcpServers",), server)]
    if isinstance(common.json_value(settings, "mcp", "allowed"), list):
        # It only starts servers that are in this list.
        changes.append(JsonAdd(settings, ("mcp", "allowed"), SERVER))
    parts = [
        Part("server", tuple(changes), (_NOTE,)),
        common.shared_skill(site),
        _hooks(settings, site),
        _guard(settings, site),
    ]
    if site.scope == "user":
        policies = folder / "policies"
        policy = OwnFile(policies / f"{SERVER}.toml", _policy_text(site))
        tools = OwnFile(policies / f"{SERVER}-tools.toml", _tools_text())
        parts.append(Part("permissions", (policy,)))
        parts.append(common.tool_rules(parts[0], tools))
    return tuple(parts)


def _hooks(settings: Path, site: InstallSite) -> Part:
    """Its hooks have a name, and a timeout in milliseconds."""
    changes = []
    for event, name, command in hooks.hook_commands("gemini", site):
        handler = {
            "type": "command",
            "command": command,
            "timeout": hooks.TIMEOUT * 1000,
            "name": f"watercooler-{event}",
        }
        changes.append(hooks.hook_group(settings, name, handler))
    return Part("hooks", tuple(changes))


def _guard(settings: Path, site: InstallSite) -> Part:
    """The guard of claims, around the tools that write."""
    changes = []
    for name, command in hooks.guard_commands("gemini", site):
        handler = {
            "type": "command",
            "command": command,
            "timeout": hooks.TIMEOUT * 1000,
            "name": f"watercooler-guard-{name}",
        }
        group = {"matcher": _WRITING_TOOLS, "hooks": [handler]}
        changes.append(JsonAdd(settings, ("hooks", name), group))
    return Part("guard", tuple(changes))


def _policy_text(site: InstallSite) -> str:
    """The policy for the commands that Gemini CLI runs without asking."""
    lines = "".join(f'  "{prefix}",\n' for prefix in prefixes(site))
    return (
        f"{_WRITTEN_BY}"
        "[[rule]]\n"
        'toolName = "run_shell_command"\n'
        f"commandPrefix = [\n{lines}]\n"
        'decision = "allow"\n'
        "priority = 100\n"
    )


def _tools_text() -> str:
    """The policy for the tools of our server."""
    lines = "".join(f'  "{tool}",\n' for tool in TOOLS)
    return (
        f"{_WRITTEN_BY}"
        "[[rule]]\n"
        f"toolName = [\n{lines}]\n"
        f'mcpName = "{SERVER}"\n'
        'decision = "allow"\n'
        "priority = 100\n"
    )


CLIENT = Client(
    "gemini",
    lambda site: common.is_present(site, ("gemini",), ".gemini"),
    USER_AND_PROJECT,
    _parts,
)

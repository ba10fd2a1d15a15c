"""Qwen Code.

Sources: docs/users of QwenLM/qwen-code (configuration/settings, features/mcp, hooks,
skills), and the program itself.
"""

from __future__ import annotations

from wc_cli.agents.install.changes import USER_AND_PROJECT, Client, JsonAdd, Part
from wc_cli.agents.install.clients import common, hooks
from wc_cli.agents.install.permissions import ASKED, SERVER, TOOLS, prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from wc_cli.agents.install.changes import InstallSite

_WRITING_TOOLS = "write_file|edit|notebook_edit|run_shell_command"
_NOTE = "Restart Qwen Code."


def _parts(site: InstallSite) -> tuple[Part, ...]:
    folder = common.base_folder(site) / ".qwen"
    settings = folder / "settings.json"
    server = {"command": common.server_program(site), "args": []}
    change = common.json_server(settings, ("mcpServers",), server)
    part, allow = Part("server", (change,), (_NOTE,)), ("permissions", "allow")
    rules = (JsonAdd(settings, allow, f"mcp__{SERVER}__{tool}") for tool in TOOLS)
    return (
        part,
        common.tool_rules(part, *rules),
        common.skill(folder / "skills"),
        _permissions(settings, site),
        hooks.grouped_hooks("qwen", settings, site),
        hooks.grouped_guard("qwen", settings, site, _WRITING_TOOLS),
    )


def _permissions(settings: Path, site: InstallSite) -> Part:
    allowed = (f"Bash({prefix} *)" for prefix in prefixes(site))
    to_ask = (f"Bash(wc {name} *)" for name in ASKED)
    changes = (
        *(JsonAdd(settings, ("permissions", "allow"), rule) for rule in allowed),
        *(JsonAdd(settings, ("permissions", "ask"), rule) for rule in to_ask),
    )
    return Part("permissions", changes)


CLIENT = Client(
    "qwen",
    lambda site: common.is_present(site, ("qwen",), ".qwen"),
    USER_AND_PROJECT,
    _parts,
)

"""VS Code.

Source: code.visualstudio.com/docs (mcp servers, agent skills, terminal auto-approve).
"""

from __future__ import annotations

from wc_cli.agents.install.changes import (
    USER_AND_PROJECT,
    Client,
    InstallSite,
    JsonSet,
    Part,
)
from wc_cli.agents.install.clients import common
from wc_cli.agents.install.permissions import ASKED, allowed_programs, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_NOTE = "VS Code asks once whether to trust the server."


def _user_folder(site: InstallSite) -> Path:
    return common.settings_folder(site) / "Code/User"


def _is_present(site: InstallSite) -> bool:
    return common.is_present(site, ("code",)) or _user_folder(site).is_dir()


def _parts(site: InstallSite) -> tuple[Part, ...]:
    project = site.scope == "project"
    folder = common.base_folder(site) / ".vscode" if project else _user_folder(site)
    server = {"type": "stdio", "command": common.server_program(site), "args": []}
    change = common.json_server(folder / "mcp.json", ("servers",), server)
    parts = [Part("server", (change,), (_NOTE,)), common.shared_skill(site)]
    if not project:
        settings = folder / "settings.json"
        parts.append(_permissions(settings, allowed_programs(site)))
    return tuple(parts)


def _permissions(settings: Path, programs: tuple[str, ...]) -> Part:
    """Rules next to its own: this setting is merged with them."""
    key = "chat.tools.terminal.autoApprove"
    rules = {pattern(programs=programs): True, pattern(ASKED, ("wc",)): False}
    changes = (
        JsonSet(settings, (key, f"/{rule}/"), approved)
        for rule, approved in rules.items()
    )
    return Part("permissions", tuple(changes))


CLIENT = Client("vscode", _is_present, USER_AND_PROJECT, _parts)

"""Codex.

Sources: developers.openai.com/codex (config-reference, rules, skills, hooks), and the
program itself.
"""

from __future__ import annotations

import json
from pathlib import Path

from wc_cli.agents.install.changes import (
    USER_AND_PROJECT,
    Add,
    Change,
    Client,
    InstallSite,
    OwnFile,
    Part,
    Set,
)
from wc_cli.agents.install.clients import common, hooks
from wc_cli.agents.install.formats.jsonc import ABSENT
from wc_cli.agents.install.permissions import (
    ASKED,
    COMMANDS,
    SERVER,
    TOOLS,
    allowed_programs,
)
from wc_cli.agents.launcher import own_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PROJECT_NOTE = "Codex reads the settings of a project once you trust its folder."
_TRUST_NOTE = "Codex asks once whether the hooks are trusted: /hooks"


def _folder(site: InstallSite) -> Path:
    """The folder of its settings."""
    if site.scope == "project":
        return common.base_folder(site) / ".codex"
    return _user_folder(site)


def _user_folder(site: InstallSite) -> Path:
    chosen = site.env.get("CODEX_HOME", "")
    return Path(chosen) if chosen else site.home / ".codex"


def _is_present(site: InstallSite) -> bool:
    return common.is_present(site, ("codex",)) or _user_folder(site).is_dir()


def _parts(site: InstallSite) -> tuple[Part, ...]:
    folder = _folder(site)
    server = {
        "command": common.server_program(site),
        "args": [],
        "startup_timeout_sec": 20,
        # The server cannot write, so there is nothing to ask about.
        "tools": {tool: {"approval_mode": "approve"} for tool in TOOLS},
    }
    config = folder / "config.toml"
    keys = ("mcp_servers", SERVER)
    change = Set(config, keys, server, _our_server, "toml")
    note = _PROJECT_NOTE if site.scope == "project" else "Restart Codex."
    rules = OwnFile(folder / f"rules/{SERVER}.rules", rules_text(_names(site)))
    allowed: tuple[Change, ...] = (rules, *_writable_roots(site, config))
    hook_file = folder / "hooks.json"
    parts = (
        Part("server", (change,), (note,)),
        common.shared_skill(site),
        Part("permissions", allowed),
        *hooks.parts("codex", hook_file, site, "", _TRUST_NOTE),
    )
    # In a project, it would wake the agents of everyone who has it. The hook starts the
    # waiting process, which calls `codex queue`.
    if site.scope == "project":
        return parts
    wake = hooks.wake("codex", hook_file, site, _TRUST_NOTE, timeout=hooks.TIMEOUT)
    return (*parts, wake)


def _our_server(current: Any) -> Any:
    return current if common.starts_our_server(current) else ABSENT


def _names(site: InstallSite) -> tuple[str, ...]:
    """The possible names of our command. Codex runs commands in a login shell, whose
    PATH may lead to the system's wc, or to none of ours."""
    path = "" if site.scope == "project" else own_program("wc-cli")
    return (*allowed_programs(site), *filter(None, (path,)))


def rules_text(names: tuple[str, ...]) -> str:
    """The rules for commands that Codex runs without asking and outside its sandbox:
    they write to the store and to git's folder, which the sandbox protects."""
    programs, commands = json.dumps(names), json.dumps(COMMANDS)
    return (
        "# Written by `wc install codex`; `wc uninstall codex` removes it.\n"
        "prefix_rule(\n"
        f"    pattern = [{programs}, {commands}],\n"
        '    decision = "allow",\n'
        '    justification = "Watercooler: read threads, write entries",\n'
        f'    match = ["{names[0]} say topic -m x", "wc-cli list"],\n'
        '    not_match = ["wc -l file", "wc-cli install"],\n'
        ")\n"
        "prefix_rule(\n"
        f'    pattern = ["wc", {json.dumps(ASKED)}],\n'
        '    decision = "prompt",\n'
        '    justification = "It reaches beyond the threads",\n'
        ")\n"
    )


def _writable_roots(site: InstallSite, config: Path) -> tuple[Add, ...]:
    """The stores, as folders that commands in Codex's sandbox may write to, such as a
    script that runs `wc`.

    Not all of ~/.watercooler: it contains the ledger, according to which `wc uninstall`
    writes people's files. A shared file gets no paths of this machine.
    """
    if site.scope == "project":
        return ()
    stores = site.home / ".watercooler/worktrees"
    folders = [str(stores)]
    writable = [folder for folder in (stores, site.project) if folder is not None]
    store = site.store
    if store is not None and not any(map(store.is_relative_to, writable)):
        folders.append(str(store))
    keys = ("sandbox_workspace_write", "writable_roots")
    return tuple(Add(config, keys, folder, "toml") for folder in folders)


CLIENT = Client("codex", _is_present, USER_AND_PROJECT, _parts)

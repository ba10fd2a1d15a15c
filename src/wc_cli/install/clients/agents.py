"""Agents of the terminal: Codex, Gemini CLI, opencode.

Sources: developers.openai.com/codex (config-reference, rules, skills),
geminicli.com/docs (configuration, policy-engine, skills), opencode.ai/docs
(config, mcp-servers, permissions, skills); and the programs themselves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wc_cli.install.changes import (
    Change,
    Client,
    InstallSite,
    JsonAdd,
    JsonSet,
    OwnFile,
    Part,
    TomlAdd,
    TomlSet,
)
from wc_cli.install.clients import common
from wc_cli.install.permissions import ASKED, COMMANDS, SERVER, prefixes

_TRUSTED = "Codex reads the settings of a project once you trust its folder."


def codex_folder(here: InstallSite) -> Path:
    """Its folder of settings."""
    if here.scope == "project":
        return common.base(here) / ".codex"
    said = here.env.get("CODEX_HOME", "")
    return Path(said) if said else here.home / ".codex"


def _codex_parts(here: InstallSite) -> tuple[Part, ...]:
    folder = codex_folder(here)
    server = {
        "command": common.server_program(here),
        "args": [],
        "startup_timeout_sec": 20,
        # It cannot write: nothing to ask about.
        "default_tools_approval_mode": "approve",
    }
    config = folder / "config.toml"
    keys = ("mcp_servers", SERVER)
    change = TomlSet(config, keys, server, common.starts_ours)
    note = _TRUSTED if here.scope == "project" else "Restart Codex."
    rules = OwnFile(folder / f"rules/{SERVER}.rules", codex_rules())
    allowed: tuple[Change, ...] = (rules, *_writable(here, config))
    return (
        Part("server", (change,), (note,)),
        common.shared_skill(here),
        Part("permissions", allowed),
    )


def codex_rules() -> str:
    """The commands that Codex runs without asking, and outside of its sandbox:
    they write to the store and to git's folder, which that protects."""
    names = json.dumps(COMMANDS)
    return (
        "# Written by `wc install codex`; `wc uninstall codex` removes it.\n"
        "prefix_rule(\n"
        f'    pattern = ["wc", {names}],\n'
        '    decision = "allow",\n'
        '    justification = "Watercooler: read threads, write entries",\n'
        '    match = ["wc say topic --title x", "wc list"],\n'
        '    not_match = ["wc -l file", "wc install"],\n'
        ")\n"
        "prefix_rule(\n"
        f'    pattern = ["wc", {json.dumps(ASKED)}],\n'
        '    decision = "prompt",\n'
        '    justification = "It reaches beyond the threads",\n'
        ")\n"
    )


def _writable(here: InstallSite, config: Path) -> tuple[TomlAdd, ...]:
    """The stores, for commands that Codex keeps in its sandbox: a script that
    runs `wc`, say. Not all of ~/.watercooler: by the ledger in there `wc uninstall`
    writes people's files. Paths of this machine have no place in a shared file."""
    if here.scope == "project":
        return ()
    stores = here.home / ".watercooler/worktrees"
    folders = [str(stores)]
    inside = [one for one in (stores, here.project) if one is not None]
    store = here.store
    if store is not None and not any(store.is_relative_to(one) for one in inside):
        folders.append(str(store))
    keys = ("sandbox_workspace_write", "writable_roots")
    return tuple(TomlAdd(config, keys, one) for one in folders)


def _gemini_parts(here: InstallSite) -> tuple[Part, ...]:
    folder = common.base(here) / ".gemini"
    server = {"command": common.server_program(here), "args": []}
    settings = folder / "settings.json"
    changes: list[Change] = [common.json_server(settings, ("mcpServers",), server)]
    if isinstance(common.known(settings, "mcp", "allowed"), list):
        # It starts none but those.
        changes.append(JsonAdd(settings, ("mcp", "allowed"), SERVER))
    note = "Restart Gemini CLI; it starts servers in folders that you trust."
    parts = [Part("server", tuple(changes), (note,)), common.shared_skill(here)]
    if here.scope == "user":
        policy = OwnFile(folder / f"policies/{SERVER}.toml", gemini_policy())
        parts.append(Part("permissions", (policy,)))
    return tuple(parts)


def gemini_policy() -> str:
    """What Gemini CLI runs without asking."""
    lines = "".join(f'  "{one}",\n' for one in prefixes())
    return (
        "# Written by `wc install gemini`; `wc uninstall gemini` removes it.\n"
        "[[rule]]\n"
        'toolName = "run_shell_command"\n'
        f"commandPrefix = [\n{lines}]\n"
        'decision = "allow"\n'
        "priority = 100\n"
        "\n"
        "[[rule]]\n"
        'toolName = "*"\n'
        f'mcpName = "{SERVER}"\n'
        'decision = "allow"\n'
        "priority = 100\n"
    )


def _opencode_config(here: InstallSite) -> Path:
    """The file that is there, or the usual one."""
    folders = [common.config_folder(here) / "opencode"]
    if here.scope == "project":
        folders = [common.base(here), common.base(here) / ".opencode"]
    for folder in folders:
        for name in ("opencode.jsonc", "opencode.json"):
            if (folder / name).exists():
                return folder / name
    return folders[0] / "opencode.json"


def _opencode_parts(here: InstallSite) -> tuple[Part, ...]:
    config = _opencode_config(here)
    server = {"type": "local", "command": [common.server_program(here)]}
    change = common.json_server(config, ("mcp",), {**server, "enabled": True})
    parts = [
        Part("server", (change,), ("Restart opencode.",)),
        common.shared_skill(here),
    ]
    # Without such a setting opencode asks for no command at all.
    rules = common.known(config, "permission", "bash")
    if isinstance(rules, str | dict):
        parts.append(Part("permissions", _opencode_rules(config, rules)))
    return tuple(parts)


def _opencode_rules(config: Path, rules: Any) -> tuple[JsonSet, ...]:
    """Our rules after theirs: the last one that fits counts."""
    keys = ("permission", "bash")
    if isinstance(rules, str) or rules == _opencode_commands(rules.get("*")):
        return (JsonSet(config, keys, {}, _opencode_commands),)
    return tuple(JsonSet(config, (*keys, f"{one} *"), "allow") for one in prefixes())


def _opencode_commands(theirs: Any) -> Any:
    """What is asked about all commands, as a rule, with ours after it."""
    if isinstance(theirs, dict):
        return theirs
    return {"*": theirs} | {f"{one} *": "allow" for one in prefixes()}


CLIENTS = (
    Client(
        "codex",
        "Codex",
        lambda here: (
            common.is_there(here, ("codex",)) or codex_folder(_user(here)).is_dir()
        ),
        ("user", "project"),
        _codex_parts,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        lambda here: common.is_there(here, ("gemini",), ".gemini"),
        ("user", "project"),
        _gemini_parts,
    ),
    Client(
        "opencode",
        "opencode",
        lambda here: (
            common.is_there(here, ("opencode",))
            or (common.config_folder(here) / "opencode").is_dir()
        ),
        ("user", "project"),
        _opencode_parts,
    ),
)


def _user(here: InstallSite) -> InstallSite:
    return here._replace(scope="user")

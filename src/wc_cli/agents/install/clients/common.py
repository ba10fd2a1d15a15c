"""What several clients' parts share."""

from __future__ import annotations

import os
from pathlib import Path

import wc_cli
from wc_cli.agents.install import disk
from wc_cli.agents.install.changes import OwnFile, Part, Set, launched
from wc_cli.agents.install.formats import jsonc
from wc_cli.agents.install.permissions import SERVER
from wc_core.base.errors import ConflictError, WcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.agents.install.changes import Change, InstallSite

PROGRAM = "wc-observe"


def skill(folder: Path, *notes: str) -> Part:
    """The skill, in a folder of skills."""
    source = os.path.join(os.path.dirname(wc_cli.__file__), "agents", "skill", SERVER)
    files = []
    for parent, _, names in sorted(os.walk(source)):
        for name in sorted(names):
            path = os.path.join(parent, name)
            with open(path, encoding="utf-8") as file:
                copy = folder / SERVER / os.path.relpath(path, source)
                files.append(OwnFile(copy, file.read()))
    return Part("skill", tuple(files), notes)


def shared_skill(site: InstallSite) -> Part:
    """The skill in the folder where all agents but Claude Code look for it."""
    return skill(base_folder(site) / ".agents/skills")


def base_folder(site: InstallSite) -> Path:
    """The home folder, or the project."""
    if site.scope == "project" and site.project is not None:
        return site.project
    return site.home


def server_program(site: InstallSite) -> str:
    """How a client starts the server."""
    return launched(PROGRAM, site)


def json_server(path: Path, keys: tuple[str, ...], value: dict[str, Any]) -> Set:
    """Add our server to those of a client.

    A server that already starts our program stays as it is; another server of our name
    is refused.
    """

    def compose(current: Any) -> Any:
        if starts_our_server(current):
            return current
        raise ConflictError(
            f"{path} already has another server called {SERVER!r}.",
            "It was left as it is. Rename or remove it, then run it again.",
        )

    return Set(path, (*keys, SERVER), value, compose)


def tool_rules(server: Part, *changes: Change) -> Part:
    """The rules that allow the server's tools: only while the entry called like it is
    our server."""
    return Part("tools", changes, needs=server.changes[:1])


def starts_our_server(server: Any) -> bool:
    """Whether a client's entry for a server starts our program."""
    if not isinstance(server, dict):
        return False
    inner = server.get("transport")
    server = inner if isinstance(inner, dict) else server
    command = server.get("command")
    words = command if isinstance(command, list) else [command]
    words = [*words, *(server.get("args") or [])]
    return any(
        isinstance(word, str) and os.path.basename(word) == PROGRAM for word in words
    )


def json_value(path: Path, *keys: str) -> Any:
    """The value at a path of keys in a JSON file; ``None`` if there is none, or if the
    file cannot be read, which the change to it reports."""
    try:
        data = disk.read(str(path))
        node = jsonc.find((data or b"").decode(), keys)
    except (WcError, ValueError):
        return None
    return None if node is None else node.value


def text_of(path: Path) -> str:
    """The text of a file; empty if it does not exist or cannot be read."""
    try:
        return (disk.read(str(path)) or b"").decode(errors="replace")
    except WcError:
        return ""


def is_present(site: InstallSite, programs: tuple[str, ...], *paths: str) -> bool:
    """Whether one of the programs is on PATH, or one of the paths exists below the home
    folder."""
    folders = site.env.get("PATH", "").split(os.pathsep)
    return any((site.home / path).exists() for path in paths) or any(
        os.access(Path(folder, name), os.X_OK)
        for folder in folders
        for name in programs
        if folder
    )


def settings_folder(site: InstallSite) -> Path:
    """Where desktop programs keep their settings: ~/.config, or its counterpart on
    macOS."""
    if site.platform == "darwin":
        return site.home / "Library/Application Support"
    return config_folder(site)


def config_folder(site: InstallSite) -> Path:
    """XDG's settings folder."""
    chosen = site.env.get("XDG_CONFIG_HOME", "")
    return Path(chosen) if os.path.isabs(chosen) else site.home / ".config"

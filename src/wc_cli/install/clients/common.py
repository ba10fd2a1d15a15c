"""What the parts of several clients are made of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wc_cli.install import disk
from wc_cli.install.changes import JsonSet, OwnFile, Part, executable
from wc_cli.install.formats import jsonc
from wc_cli.install.permissions import SERVER
from wc_core.errors import ConflictError, WcError

if TYPE_CHECKING:
    from wc_cli.install.changes import InstallSite

PROGRAM = "wc-observe"


def skill(folder: Path, *notes: str) -> Part:
    """The skill, in a folder of skills."""
    import wc_cli

    source = os.path.join(os.path.dirname(wc_cli.__file__), "skill", SERVER)
    found = []
    for where, _, names in sorted(os.walk(source)):
        for name in sorted(names):
            path = os.path.join(where, name)
            with open(path, encoding="utf-8") as file:
                to = folder / SERVER / os.path.relpath(path, source)
                found.append(OwnFile(to, file.read()))
    return Part("skill", tuple(found), notes)


def shared_skill(here: InstallSite) -> Part:
    """The skill where all agents but Claude Code look for it."""
    return skill(base(here) / ".agents/skills")


def base(here: InstallSite) -> Path:
    """The home, or the project."""
    if here.scope == "project" and here.project is not None:
        return here.project
    return here.home


def server_program(here: InstallSite) -> str:
    """How a client starts the server. What is shared with others has no paths of
    this machine in it."""
    return PROGRAM if here.scope == "project" else executable(PROGRAM, here)


def json_server(path: Path, keys: tuple[str, ...], value: dict[str, Any]) -> JsonSet:
    """Our server among those of a client; one that starts the same program stays
    as it is, another one of the name is not touched."""

    def compose(theirs: Any) -> Any:
        if starts_ours(theirs):
            return theirs
        raise ConflictError(
            f"{path} has a server {SERVER!r} already, and it is another one.",
            "It was left as it is. Rename or remove it, then run it again.",
        )

    return JsonSet(path, (*keys, SERVER), value, compose)


def starts_ours(server: Any) -> bool:
    """Whether a client's entry for a server starts our program."""
    if not isinstance(server, dict):
        return False
    command = server.get("command")
    words = command if isinstance(command, list) else [command]
    words = [*words, *(server.get("args") or [])]
    return any(
        isinstance(one, str) and os.path.basename(one) == PROGRAM for one in words
    )


def known(path: Path, *keys: str) -> Any:
    """What a JSON file says at a path of keys; ``None`` where it does not, or
    cannot be read: whoever changes it will say so."""
    try:
        data = disk.read(str(path))
        node = jsonc.find((data or b"").decode(), keys)
    except (WcError, ValueError):
        return None
    return None if node is None else node.value


def is_there(here: InstallSite, programs: tuple[str, ...], *paths: str) -> bool:
    """Whether one of the programs is on PATH, or one of the paths below the home
    exists."""
    folders = here.env.get("PATH", "").split(os.pathsep)
    return any((here.home / one).exists() for one in paths) or any(
        os.access(Path(folder, name), os.X_OK)
        for folder in folders
        for name in programs
        if folder
    )


def settings_folder(here: InstallSite) -> Path:
    """Where programs keep their settings: ~/.config, or what macOS has."""
    if here.platform == "darwin":
        return here.home / "Library/Application Support"
    return config_folder(here)


def config_folder(here: InstallSite) -> Path:
    """XDG's folder of settings."""
    said = here.env.get("XDG_CONFIG_HOME", "")
    return Path(said) if os.path.isabs(said) else here.home / ".config"

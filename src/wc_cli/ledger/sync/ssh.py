"""Chooses the ssh that git starts: the user's own, with options that keep it from
prompting.

The program and its kind follow git-config(1) ``core.sshCommand`` and ``ssh.variant``.
"""

from __future__ import annotations

import os

from wc_core.base.phrases import quoted
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

KEY = "WATERCOOLER_GIT_SSH_KEY"
_OPTIONS = (
    "-o BatchMode=yes -o ConnectTimeout=15"
    # A dead connection ends the process even if nobody is left to kill it.
    " -o ServerAliveInterval=15 -o ServerAliveCountMax=2"
    # Use a connection that the user shares, but don't leave one behind.
    " -o ControlMaster=no"
)


def ssh_command(repository: Repository, env: Mapping[str, str]) -> str:
    """The value of ``GIT_SSH_COMMAND``; empty if git's own choice is right.

    Only OpenSSH gets its specific options. Raises FileNotFoundError if the key does not
    exist.
    """
    command, openssh = _configured_command(repository, env)
    words = [command]
    path = key_file(env)
    if path:
        # Without this check, ssh would try other keys.
        os.stat(path)
        words += ["-i", quoted(path)]
        words += ["-o IdentitiesOnly=yes"] if openssh else []
    words += [_OPTIONS] if openssh else []
    return " ".join(words) if len(words) > 1 else ""


def key_file(env: Mapping[str, str]) -> str:
    """The path of the key that ssh has to use; empty if ssh may choose."""
    path = env.get(KEY, "")
    home = env.get("HOME", "")
    return home + path[1:] if path.startswith("~/") and home else path


def _configured_command(
    repository: Repository, env: Mapping[str, str]
) -> tuple[str, bool]:
    """The ssh command that git would start, and whether it is OpenSSH."""
    command = env.get("GIT_SSH_COMMAND") or config.get(
        "core.sshCommand", repository, env
    )
    program = "" if command else env.get("GIT_SSH") or "ssh"
    command = command or quoted(program)
    kind = env.get("GIT_SSH_VARIANT") or config.get("ssh.variant", repository, env)
    if kind in {"", "auto"}:
        program = program or _program_of(command)
        kind = os.path.basename(program).lower().removesuffix(".exe")
    return command, kind == "ssh"


def _program_of(command: str) -> str:
    """The program that a shell would start; empty if it would refuse the command."""
    import shlex  # 3 ms, only for those who configured a command

    try:
        return (shlex.split(command) or [""])[0]
    except ValueError:
        return ""

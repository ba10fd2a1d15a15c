"""The ssh that git starts: the user's own, but it never asks anything.

Which one that is, and of which kind, follows git-config(1) ``core.sshCommand``
and ``ssh.variant``.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from wc_core.git import config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.repository import Repository

KEY = "WATERCOOLER_GIT_SSH_KEY"
_OPTIONS = (
    "-o BatchMode=yes -o ConnectTimeout=15"
    # A line that is dead is noticed even if nobody is left to kill us.
    " -o ServerAliveInterval=15 -o ServerAliveCountMax=2"
    # The shared connection that a person has is used; none is left behind.
    " -o ControlMaster=no"
)


def command(where: Repository | None, env: Mapping[str, str]) -> str:
    """The value of ``GIT_SSH_COMMAND``; empty where git's own choice will do.

    Only OpenSSH gets options that only it has. Raises FileNotFoundError for a
    key that is not there.
    """
    said, openssh = _chosen(where, env)
    words = [said]
    path = key(env)
    if path:
        # ssh would go on with other keys.
        os.stat(path)
        words += ["-i", shlex.quote(path)]
        words += ["-o IdentitiesOnly=yes"] if openssh else []
    words += [_OPTIONS] if openssh else []
    return " ".join(words) if len(words) > 1 else ""


def key(env: Mapping[str, str]) -> str:
    """The file of the key that ssh is to use; empty for whatever it likes."""
    path = env.get(KEY, "")
    home = env.get("HOME", "")
    return home + path[1:] if path.startswith("~/") and home else path


def _chosen(where: Repository | None, env: Mapping[str, str]) -> tuple[str, bool]:
    """The command of the ssh that git would start, and whether it is OpenSSH."""
    said = env.get("GIT_SSH_COMMAND") or config.get("core.sshCommand", where, env)
    if not said:
        said = shlex.quote(env.get("GIT_SSH") or "ssh")
    kind = env.get("GIT_SSH_VARIANT") or config.get("ssh.variant", where, env)
    if kind in {"", "auto"}:
        try:
            program = (shlex.split(said) or [""])[0]
        except ValueError:
            program = ""  # for the shell to judge
        kind = os.path.basename(program).lower().removesuffix(".exe")
    return said, kind == "ssh"

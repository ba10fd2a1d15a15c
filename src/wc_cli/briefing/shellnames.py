"""By which name an agent's shell starts our command: ``wc`` may count words there.

Codex runs commands in a login shell, which sets PATH anew. So that shell is asked,
while the brief is made; other clients keep the PATH that their hooks have.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time

from wc_cli import launcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PROGRAMS = ("wc", "wc-cli")
# Marked, because profiles print whatever they like.
_MARK = "watercooler:"
_QUESTION = "; ".join(
    f'printf "%s\\n" "{_MARK}{name}=$(command -v {name})"' for name in _PROGRAMS
)
_SHELLS = frozenset({"bash", "zsh", "sh", "dash", "ksh"})


class LoginShell:
    """A login shell that looks for our programs while we do something else."""

    def __init__(self, env: Mapping[str, str]) -> None:
        chosen = env.get("SHELL", "")
        shell = chosen if os.path.basename(chosen) in _SHELLS else "bash"
        self._process = subprocess.Popen(  # noqa: S603 - fixed words, the user's shell
            [shell, "-lc", _QUESTION],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            start_new_session=True,
        )

    def paths(self, seconds: float) -> Mapping[str, str] | None:
        """Returns the path of each program, empty for none; ``None`` if the shell
        takes longer."""
        try:
            out, _ = self._process.communicate(timeout=max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.end()
        lines = os.fsdecode(out).splitlines()
        pairs = (line.removeprefix(_MARK).partition("=") for line in lines)
        found = {name: path for name, _, path in pairs if name in _PROGRAMS}
        return found if len(found) == len(_PROGRAMS) else None

    def end(self) -> None:
        """End the shell, and what its profile started, if it still runs."""
        with self._process:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)


def start_login_shell(env: Mapping[str, str]) -> LoginShell | None:
    """Start a login shell; ``None`` if there is none."""
    try:
        return LoginShell(env)
    except OSError:
        return None


def note(env: Mapping[str, str], shell: LoginShell | None, until: float) -> str:
    """Returns a line for an agent whose shell does not find our command as ``wc``;
    empty if it does. Waits for the login shell until then, on the monotonic clock."""
    paths = shell.paths(until - time.monotonic()) if shell else None
    if paths is None:
        path = env.get("PATH", "")
        paths = {name: shutil.which(name, path=path) or "" for name in _PROGRAMS}
    if paths["wc"] and launcher.is_ours(paths["wc"], "wc"):
        return ""
    command = "wc-cli" if paths["wc-cli"] else launcher.own_program("wc-cli")
    if not command:
        return ""
    problem = "counts words" if paths["wc"] else "is not found"
    return (
        f"In your shell `wc` {problem}: run {shlex.quote(command)} instead, with the "
        f"same arguments, such as: {shlex.quote(command)} list"
    )

"""Asks a login shell which programs it finds: its profile may replace PATH, and ``wc``
may be the word count there.

Codex runs commands in such a shell, so it is asked while the brief is made. Other
clients keep the PATH of their hooks.
"""

from __future__ import annotations

import os
import time

from wc_cli.agents import launcher
from wc_core.base.lean import signal
from wc_core.base.phrases import quoted
from wc_core.base.programs import find_program, program_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PROGRAMS = ("wc", "wc-cli")
# Marked, because profiles may print anything.
_MARK = "watercooler:"
_SHELLS = frozenset({"bash", "zsh", "sh", "dash", "ksh"})
_FISH = 'set -l program_path (command -v {name}); echo "{mark}{name}=$program_path"'
_POSIX = 'printf "%s\\n" "{mark}{name}=$(command -v {name})"'


class LoginShell:
    """A login shell that looks up programs in the background."""

    def __init__(
        self,
        env: Mapping[str, str],
        programs: Sequence[str],
        *,
        interactive: bool = False,
    ) -> None:
        """Start the shell of ``env``; an interactive one reads all the files that a new
        terminal reads. Raises OSError if there is no such shell."""
        import subprocess  # 8 ms, for clients that run commands in such a shell

        self._programs = programs
        chosen = env.get("SHELL", "")
        # Agents run commands in a POSIX shell; people may use fish.
        known = _SHELLS | {"fish"} if interactive else _SHELLS
        shell = chosen if os.path.basename(chosen) in known else "bash"
        form = _FISH if os.path.basename(shell) == "fish" else _POSIX
        question = "; ".join(form.format(mark=_MARK, name=name) for name in programs)
        options = ["-l", "-i"] if interactive else ["-l"]
        self._process = subprocess.Popen(  # noqa: S603 - fixed words, the user's shell
            [program_path(env, shell), *options, "-c", question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            start_new_session=True,
        )

    def paths(self, seconds: float) -> Mapping[str, str] | None:
        """Return the path of each program, empty for none; ``None`` if the shell takes
        longer."""
        from subprocess import TimeoutExpired  # as above

        try:
            out, _ = self._process.communicate(timeout=max(seconds, 0.0))
        except TimeoutExpired:
            return None
        finally:
            self.end()
        lines = os.fsdecode(out).splitlines()
        pairs = (line.removeprefix(_MARK).partition("=") for line in lines)
        all_paths = {name: path for name, _, path in pairs if name in self._programs}
        return all_paths if len(all_paths) == len(self._programs) else None

    def end(self) -> None:
        """End the shell and everything its profile started, if still running."""
        with self._process:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)


def start(env: Mapping[str, str]) -> LoginShell | None:
    """Start a login shell that looks for our programs; ``None`` if there is none."""
    try:
        return LoginShell(env, _PROGRAMS)
    except OSError:
        return None


def note(env: Mapping[str, str], shell: LoginShell | None, until: float) -> str:
    """Return a line for an agent whose shell does not find our command as ``wc``; empty
    if it does. Waits for the login shell until then, on the monotonic clock."""
    paths = shell.paths(until - time.monotonic()) if shell else None
    if paths is None:
        paths = {name: find_program(env, name) for name in _PROGRAMS}
    if paths["wc"] and launcher.is_ours(paths["wc"], "wc"):
        return ""
    command = "wc-cli" if paths["wc-cli"] else launcher.own_program("wc-cli")
    if not command:
        return ""
    problem = "counts words" if paths["wc"] else "is not found"
    return (
        f"In your shell `wc` {problem}: run {quoted(command)} instead, with the "
        f"same arguments, such as: {quoted(command)} list"
    )

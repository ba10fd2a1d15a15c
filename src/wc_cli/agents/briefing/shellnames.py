"""The name by which an agent's shell starts our command: ``wc`` may be the word count
there.

Codex runs commands in a login shell, which replaces PATH. So that shell is asked while
the brief is made. Other clients keep the PATH of their hooks.
"""

from __future__ import annotations

import time

from wc_cli.agents import launcher
from wc_core.base.phrases import quoted
from wc_core.base.programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.agents.briefing.loginshell import LoginShell

PROGRAMS = ("wc", "wc-cli")


def start_login_shell(env: Mapping[str, str]) -> LoginShell | None:
    """Start a login shell that looks for our programs; ``None`` if there is none."""
    # 8 ms (subprocess), for clients that run commands in such a shell.
    from wc_cli.agents.briefing.loginshell import LoginShell

    try:
        return LoginShell(env, PROGRAMS)
    except OSError:
        return None


def note(env: Mapping[str, str], shell: LoginShell | None, until: float) -> str:
    """Return a line for an agent whose shell does not find our command as ``wc``; empty
    if it does. Waits for the login shell until then, on the monotonic clock."""
    paths = shell.paths(until - time.monotonic()) if shell else None
    if paths is None:
        paths = {name: find_program(env, name) for name in PROGRAMS}
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

"""Shows long answers through the user's pager, as git does."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from itertools import chain

from wc_cli.run.output import say_exact
from wc_cli.run.terminal.style import is_for_people
from wc_core.base.programs import absolute_path, find_program
from wc_core.people.identity import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# git's defaults for less: quit if everything fits, show colours, keep the text on the
# screen.
_USUAL = {"LESS": "FRX", "LV": "-c"}
# Colours, which a person's own options for less and lv rarely ask for.
_COLORS = {"LESS": "-R", "LV": "-c"}
_VARIABLES = ("GIT_PAGER", "PAGER")


def pager_command(env: Mapping[str, str]) -> str:
    """Return the pager's command line; empty if none is wanted or installed."""
    configured = (env[variable] for variable in _VARIABLES if variable in env)
    command = next(configured, "less").strip()
    program = command.partition(" ")[0]
    if not command or command == "cat" or not find_program(env, program):
        return ""
    return command


def person_pager(env: Mapping[str, str]) -> str:
    """Return the pager's command line if a person reads the output at a terminal;
    agents run commands on terminals, too, and would hang in a pager."""
    detected = next(environment.agents_in(env), None)
    is_agent = bool(env.get("WATERCOOLER_AGENT")) or detected is not None
    return "" if is_agent or not is_for_people(env) else pager_command(env)


def page_parts(
    parts: Iterable[str], command: str, env: Mapping[str, str], *, begin: str = ""
) -> None:
    """Print the parts, each made when needed; through ``command`` (empty: never) if
    they have more lines than the screen. less starts at the line ``begin``."""
    parts = iter(parts)
    first = ""
    height = shutil.get_terminal_size().lines
    while first.count("\n") < height:
        part = next(parts, None)
        if part is None:
            say_exact(first)
            return
        first += part
    if command:
        _pipe_to_pager(command, chain((first,), parts), _pager_env(env, begin))
        return
    for part in chain((first,), parts):
        say_exact(part)


def _pager_env(env: Mapping[str, str], begin: str) -> dict[str, str]:
    """Return the environment of a pager that shows colours and begins at a line."""
    options = {
        name: f"{_COLORS[name]} {env[name]}" if name in env else usual
        for name, usual in _USUAL.items()
    }
    if begin:
        # First: an own option for the prompt would take what follows it. $ ends ours.
        options["LESS"] = f"+/^{begin}$ {options['LESS']}"
    return {**env, **options, "PATH": absolute_path(env)}


def _pipe_to_pager(command: str, parts: Iterable[str], env: Mapping[str, str]) -> None:
    with subprocess.Popen(  # noqa: S602 - a command line from the person's settings
        command,
        shell=True,
        stdin=subprocess.PIPE,
        env={**env},
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        # The pager handles an interrupt.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            _feed(process, parts)
            process.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def _feed(process: subprocess.Popen[str], parts: Iterable[str]) -> None:
    """Write the parts to the pager until it stops reading."""
    if process.stdin is None:
        return
    with contextlib.suppress(BrokenPipeError):
        for part in parts:
            process.stdin.write(part)
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()

"""Long answers through the pager of the person at the terminal, as git does."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from itertools import chain
from typing import TYPE_CHECKING

from wc_cli.context import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What git gives less where nothing is said: end where it all fits, show
# colours, leave the text on the screen.
_LESS = {"LESS": "FRX", "LV": "-c"}
_VARIABLES = ("WATERCOOLER_PAGER", "GIT_PAGER", "PAGER")


def pager(env: Mapping[str, str]) -> str:
    """The command line of the pager; empty where none is wanted or there."""
    said = (env[one] for one in _VARIABLES if one in env)
    found = next(said, "less").strip()
    program = found.partition(" ")[0]
    if not found or found == "cat" or shutil.which(program) is None:
        return ""
    return found


def show(parts: Iterable[str], command: str, env: Mapping[str, str]) -> None:
    """Print the parts, each made when it is needed; through ``command`` (empty:
    never) where they are more than the screen has lines."""
    parts = iter(parts)
    first = ""
    height = shutil.get_terminal_size().lines
    while first.count("\n") < height:
        part = next(parts, None)
        if part is None:
            say(first)
            return
        first += part
    if command:
        _paged(command, chain((first,), parts), env)
        return
    for part in chain((first,), parts):
        say(part)


def _paged(command: str, parts: Iterable[str], env: Mapping[str, str]) -> None:
    with subprocess.Popen(  # noqa: S602 - a command line, as the person said it
        command,
        shell=True,
        stdin=subprocess.PIPE,
        env={**_LESS, **env},
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        # An interrupt is the pager's to make something of.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            _feed(process, parts)
            process.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def _feed(process: subprocess.Popen[str], parts: Iterable[str]) -> None:
    """Give the pager the parts, until it has seen enough."""
    if process.stdin is None:
        return
    with contextlib.suppress(BrokenPipeError):
        for part in parts:
            process.stdin.write(part)
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()

"""Telling a person that it is their move: desktop, bell, terminal.

What is told has others' words in it. It is cleaned, cut, and passed as an
argument or in a sequence that it cannot end; no shell sees it. That nothing
can be told is no failure.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHANNELS = ("desktop", "bell", "osc")
_WIDTH = 120
_BELL = "\a"
_SECONDS = 5
# A script that is given title and text: neither becomes part of it.
_APPLE = (
    *("-e", "on run argv"),
    *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
    *("-e", "end run"),
)


def tell(
    env: Mapping[str, str], channels: set[str], words: tuple[str, str]
) -> list[str]:
    """Tell a title and a text by these of `CHANNELS`; those that it could not be
    told by."""
    title, text = (one_line(one, _WIDTH) for one in words)
    failed = sorted(channels.difference(CHANNELS))
    if "desktop" in channels and not _run(program(env, title, text), env):
        failed.append("desktop")
    wanted = "".join(
        sequence
        for name, sequence in (("osc", osc(env, title, text)), ("bell", _BELL))
        if name in channels
    )
    if wanted and not _put(wanted):
        failed += [name for name in ("bell", "osc") if name in channels]
    return failed


def program(env: Mapping[str, str], title: str, text: str) -> list[str]:
    """The command line that shows a notification here; empty where there is
    no program for it. (`notify-send` of libnotify, `osascript` of macOS.)"""
    for name, words in (
        # -- and no markup: a text may begin with a hyphen, or look like HTML.
        ("notify-send", ("--app-name=Watercooler", "--", title, _plain(text))),
        ("osascript", (*_APPLE, title, text)),
    ):
        for folder in env.get("PATH", "").split(os.pathsep):
            path = os.path.join(folder, name)
            if folder and os.access(path, os.X_OK) and os.path.isfile(path):
                return [path, *words]
    return []


def _plain(text: str) -> str:
    """Text for who takes markup: the body of a notification may have some."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def osc(env: Mapping[str, str], title: str, text: str) -> str:
    """The sequences that terminals make a notification of: OSC 9 (iTerm2,
    Windows Terminal, kitty, Ghostty), OSC 777 (rxvt-unicode, foot, WezTerm).

    What separates their parts is taken out of the words. tmux passes on what
    is wrapped, where ``allow-passthrough`` is on.
    """
    named, told = (one.replace(";", ",") for one in (title, text))
    sequences = (
        f"\033]9;{named}: {told}{_BELL}",
        f"\033]777;notify;{named};{told}{_BELL}",
    )
    if env.get("TMUX"):
        return "".join(
            f"\033Ptmux;{one.replace(chr(27), chr(27) * 2)}\033\\" for one in sequences
        )
    return "".join(sequences)


def _run(words: Sequence[str], env: Mapping[str, str]) -> bool:
    if not words:
        return False
    import subprocess  # only who waited pays for it

    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no options of others
            words,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return not done.returncode


def _put(sequence: str) -> bool:
    """Write to the terminal, wherever results go."""
    try:
        handle = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        os.write(handle, sequence.encode())
    except OSError:
        return False
    finally:
        os.close(handle)
    return True

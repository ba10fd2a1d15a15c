"""Notifications that it is a person's move: desktop, bell, terminal.

A notification contains untrusted text. It is cleaned and cut, and passed as an argument
or in a sequence that it cannot end; no shell sees it. Failing to notify is not an
error.
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
# The script gets title and text as arguments, so neither becomes part of it.
_APPLE = (
    *("-e", "on run argv"),
    *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
    *("-e", "end run"),
)


def send_notification(
    env: Mapping[str, str], channels: set[str], words: tuple[str, str]
) -> list[str]:
    """Sends a title and a text over these of `CHANNELS`. Returns the channels that
    failed."""
    title, text = (one_line(part, _WIDTH) for part in words)
    failed = sorted(channels.difference(CHANNELS))
    if "desktop" in channels and not _run(notifier_command(env, title, text), env):
        failed.append("desktop")
    sequences = "".join(
        sequence
        for name, sequence in (
            ("osc", osc_sequences(env, title, text)),
            ("bell", _BELL),
        )
        if name in channels
    )
    if sequences and not _write_to_terminal(sequences):
        failed += [name for name in ("bell", "osc") if name in channels]
    return failed


def notifier_command(env: Mapping[str, str], title: str, text: str) -> list[str]:
    """Returns the command line that shows a notification; empty if there is no
    program for it (`notify-send` of libnotify, `osascript` of macOS)."""
    for name, words in (
        # After --, without markup: a text may begin with a hyphen or look like HTML.
        ("notify-send", ("--app-name=Watercooler", "--", title, _without_markup(text))),
        ("osascript", (*_APPLE, title, text)),
    ):
        for folder in env.get("PATH", "").split(os.pathsep):
            path = os.path.join(folder, name)
            if folder and os.access(path, os.X_OK) and os.path.isfile(path):
                return [path, *words]
    return []


def _without_markup(text: str) -> str:
    """Escapes markup: the body of a notification may contain some."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def osc_sequences(env: Mapping[str, str], title: str, text: str) -> str:
    """Returns the sequences that terminals turn into a notification: OSC 9 (iTerm2,
    Windows Terminal, kitty, Ghostty) and OSC 777 (rxvt-unicode, foot, WezTerm).

    Separators are removed from the words. tmux passes on what is wrapped if
    ``allow-passthrough`` is on.
    """
    heading, body = (part.replace(";", ",") for part in (title, text))
    sequences = (
        f"\033]9;{heading}: {body}{_BELL}",
        f"\033]777;notify;{heading};{body}{_BELL}",
    )
    if env.get("TMUX"):
        return "".join(
            f"\033Ptmux;{part.replace(chr(27), chr(27) * 2)}\033\\"
            for part in sequences
        )
    return "".join(sequences)


def _run(words: Sequence[str], env: Mapping[str, str]) -> bool:
    if not words:
        return False
    import subprocess  # 8 ms, only for those who waited

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


def _write_to_terminal(sequence: str) -> bool:
    """Writes to the terminal, wherever standard output goes."""
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

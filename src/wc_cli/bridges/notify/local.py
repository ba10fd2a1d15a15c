"""Notifications on the person's own machine: the desktop, the bell of the terminal,
and a command of theirs.

A notification contains untrusted text. It is cleaned and cut, and passed as an argument
or in a variable; no shell reads it. A failure is not an error.
"""

from __future__ import annotations

import os

from wc_core.base.programs import find_program
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WIDTH = 120
_SECONDS = 5
# The script gets title and text as arguments, so neither becomes part of it.
_APPLE = (
    *("-e", "on run argv"),
    *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
    *("-e", "end run"),
)


def run(words: Sequence[str], env: Mapping[str, str], feed: bytes = b"") -> str:
    """Run a program for a short time, with ``feed`` as its input, in the person's home
    folder. Returns what went wrong, if anything."""
    import subprocess  # 8 ms, only to notify someone

    name = os.path.basename(words[0])
    try:
        done = subprocess.run(  # noqa: S603 - no options of others
            words,
            env=env,
            cwd=env.get("HOME", "/"),
            input=feed,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{name} did not end in {_SECONDS} s"
    except OSError as error:
        return f"{name} cannot be run: {error.strerror}"
    if not done.returncode:
        return ""
    message = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    reason = f": {message}" if message else ""
    return f"{name} exited with {done.returncode}{reason}"


def ring() -> str:
    """Ring the bell of the terminal of this process. Returns what went wrong, if
    anything."""
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open("/dev/tty", flags)
        try:
            os.write(handle, b"\a")
        finally:
            os.close(handle)
    except OSError as error:
        return f"there is no terminal: {error.strerror}"
    return ""


def show(env: Mapping[str, str], title: str, text: str) -> str:
    """Show a title and a text on the desktop, with `notify-send` of libnotify or
    `osascript` of macOS. Returns what went wrong, if anything."""
    title, text = one_line(title, _WIDTH), one_line(text, _WIDTH)
    # After --, without markup: a text may begin with a hyphen or look like HTML.
    markup = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    linux = ("--app-name=Watercooler", "--", title, markup)
    apple = (*_APPLE, title.lstrip("-"), text.lstrip("-"))
    for name, words in (("notify-send", linux), ("osascript", apple)):
        if path := find_program(env, name):
            return run([path, *words], env)
    return "there is neither notify-send nor osascript"

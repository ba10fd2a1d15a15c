"""Notifications on the person's own machine: the desktop, and the terminal of this
process.

A notification contains untrusted text. It is cleaned and cut, and passed as an argument
or in a sequence that it cannot end; no shell sees it. A failure is not an error.
"""

from __future__ import annotations

from wc_cli.bridges.notify.programs import run
from wc_cli.bridges.notify.sequences import BELL, protocols_of, sequences
from wc_cli.bridges.notify.terminals import own_terminal
from wc_core.base.programs import find_program
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CHANNELS = ("desktop", "bell", "osc")
WIDTH = 120
# The script gets title and text as arguments, so neither becomes part of it.
_APPLE = (
    *("-e", "on run argv"),
    *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
    *("-e", "end run"),
)


def send_notification(
    env: Mapping[str, str], channels: set[str], words: tuple[str, str]
) -> list[str]:
    """Send a title and a text over these of `CHANNELS`. Returns the channels that
    failed."""
    title, text = (one_line(part, WIDTH) for part in words)
    failed = sorted(channels.difference(CHANNELS))
    if "desktop" in channels and desktop_problem(env, (title, text)):
        failed.append("desktop")
    parts = (("osc", osc_sequences(env, title, text)), ("bell", BELL))
    output = "".join(sequence for name, sequence in parts if name in channels)
    if output and not own_terminal(env).write(output):
        failed += [name for name in ("bell", "osc") if name in channels]
    return failed


def desktop_problem(
    env: Mapping[str, str], words: tuple[str, str], *, urgent: bool = False
) -> str:
    """Show a title and a text on the desktop. Returns what went wrong, if anything."""
    command = notifier_command(env, *words, urgent=urgent)
    if not command:
        return "there is neither notify-send nor osascript"
    return run(command, env).problem


def notifier_command(
    env: Mapping[str, str], title: str, text: str, *, urgent: bool = False
) -> list[str]:
    """Return the command line that shows a notification; empty if there is no program
    for it (`notify-send` of libnotify, `osascript` of macOS)."""
    level = ("--urgency=critical",) if urgent else ()
    # After --, without markup: a text may begin with a hyphen or look like HTML.
    linux = ("--app-name=Watercooler", *level, "--", title, _without_markup(text))
    for name, words in (
        ("notify-send", linux),
        ("osascript", (*_APPLE, title.lstrip("-"), text.lstrip("-"))),
    ):
        if path := find_program(env, name):
            return [path, *words]
    return []


def _without_markup(text: str) -> str:
    """Escape markup: the body of a notification may contain some."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def osc_sequences(env: Mapping[str, str], title: str, text: str) -> str:
    """Return the sequences for the terminal of this process."""
    tmux = bool(env.get("TMUX"))
    return sequences(protocols_of(env), (title, text), tmux=tmux, urgent=False)

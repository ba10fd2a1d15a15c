"""The sequences that terminals turn into a notification.

- OSC 9: iTerm2, WezTerm, Ghostty, Windows Terminal
- OSC 777: rxvt-unicode, foot, and those that follow VTE
- OSC 99: kitty, the only one that can notify only while it is not focused

A terminal that is not recognized gets OSC 9 and OSC 777. tmux passes on wrapped
sequences if ``allow-passthrough`` is on.
"""

from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BELL = "\a"
OSC_9, OSC_99, OSC_777 = "9", "99", "777"
_BY_PROGRAM = {
    "iTerm.app": OSC_9,
    "WezTerm": OSC_9,
    "ghostty": OSC_9,
    "kitty": OSC_99,
}
_ESCAPE = "\033"


def protocols_of(env: Mapping[str, str]) -> tuple[str, ...]:
    """The sequences for the terminal that set these variables."""
    term, program = env.get("TERM", ""), env.get("TERM_PROGRAM", "")
    if program in _BY_PROGRAM:
        return (_BY_PROGRAM[program],)
    if term.startswith("xterm-kitty") or env.get("KITTY_WINDOW_ID"):
        return (OSC_99,)
    if env.get("WT_SESSION"):
        return (OSC_9,)
    if term.startswith(("rxvt", "foot")):
        return (OSC_777,)
    return OSC_9, OSC_777


def sequences(
    protocols: Iterable[str], words: tuple[str, str], *, tmux: bool, urgent: bool
) -> str:
    """The sequences that show a title and a text, which must be clean. Separators are
    removed from them."""
    title, text = (part.replace(";", ",") for part in words)
    result = []
    for protocol in protocols:
        if protocol == OSC_9:
            result.append(f"{_ESCAPE}]9;{title}: {text}{BELL}")
        elif protocol == OSC_777:
            result.append(f"{_ESCAPE}]777;notify;{title};{text}{BELL}")
        elif protocol == OSC_99:
            # Sequences with the same id form one notification, which replaces an
            # earlier one.
            name = f"i=wc-{zlib.crc32(title.encode()):x}"
            level = f"o=unfocused:u={2 if urgent else 1}"
            result.append(f"{_ESCAPE}]99;{name}:d=0:{level};{title}{_ESCAPE}\\")
            result.append(f"{_ESCAPE}]99;{name}:d=1:p=body;{text}{_ESCAPE}\\")
    return "".join(_for_tmux(part) if tmux else part for part in result)


def _for_tmux(sequence: str) -> str:
    doubled = sequence.replace(_ESCAPE, _ESCAPE * 2)
    return f"{_ESCAPE}Ptmux;{doubled}{_ESCAPE}\\"

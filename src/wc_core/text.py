"""Other people's text made fit to be shown: in a terminal, or to a model.

Two things are taken away, because they act instead of saying something: what
a terminal obeys (control characters and the escape sequences of ECMA-48), and
what makes text read differently from what it is (bidirectional overrides,
embeddings and isolates, and the invisible tag characters). The marks that
right-to-left scripts and emoji need (LRM, RLM, ALM, ZWJ, ZWNJ) stay.
"""

from __future__ import annotations

import re

# Each alternative ends before the next control character, so that a text full
# of unfinished sequences still takes one pass.
_UNFIT = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, erasing
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # OSC, DCS, SOS, PM, APC …
    r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"  # … to their end
    r"|\x1b[ -/]+[0-~]"  # character sets and the like
    r"|\x1b[0-OQ-WYZ\\`-~]"  # every other escape that is whole
    r"|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"
    r"|[\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_LONE_SURROGATES = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text without what a terminal would obey or a reader not see.

    Newline and tab are kept, every other end of a line becomes a newline, a
    lone surrogate U+FFFD. Clean text comes back as it is.
    """
    if text.isprintable():
        return text
    text = _UNFIT.sub("", text)
    return _LONE_SURROGATES.sub("\ufffd", _LINE_ENDS.sub("\n", text))


def one_line(text: str, width: int = 0) -> str:
    """Clean text on one line, at most ``width`` characters (0: all of it);
    what was cut off shows as ``…``."""
    line = " ".join(clean(text).split())
    return line if not width or len(line) <= width else f"{line[: width - 1]}…"

"""Makes other people's text safe to show, in a terminal or to a model.

Two kinds of characters are removed: those that a terminal obeys (control
characters and the escape sequences of ECMA-48), and those that make text look
different from what it is (bidirectional overrides, embeddings and isolates,
and the invisible tag characters). The marks that right-to-left scripts and
emoji need (LRM, RLM, ALM, ZWJ, ZWNJ) stay.
"""

from __future__ import annotations

from wc_core.base.lean import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Compiled at their first use: most commands meet no such text, and compiling takes 1.3
# ms. Each alternative ends before the next control character, so that a text full of
# unfinished sequences still takes linear time.
_UNSAFE = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, erasing
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # OSC, DCS, SOS, PM, APC …
    r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"  # … to their end
    r"|\x1b[ -/]+[0-~]"  # character sets and the like
    r"|\x1b[0-OQ-WYZ\\`-~]"  # every other complete escape sequence
    r"|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"
    r"|[\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
# Newline and tab are not printable, but safe.
_PLAIN_BLANKS = {ord("\n"): None, ord("\t"): None}
_LINE_ENDS = r"\r\n?|[\x0b\x0c\x85\u2028\u2029]"
_LONE_SURROGATES = r"[\ud800-\udfff]"

# The tags in which model clients wrap their own text: reminders, roles, results of
# tools, and the special tokens of models. Seen in Claude Code, Codex, Gemini CLI, Cline
# and in the templates of open models. Repetitions are bounded, so that a hostile text
# takes linear time.
_UNSEEN = r"[\u00ad\u200b-\u200f\u2060]{0,8}"
_WHO = "system|user|human|assistant|developer"
_WHAT = (
    "tool|function|command|local-command|bash|hook|session|task|agent|subagent|teammate"
    "|environment|skill|ide|mcp|turn|collaboration|multi_agent|model"
)
_ENDING = "reminder|instructions?|context|prompt|notification|output|results?"
_TAG = re.compile(
    rf"(?i)<(?={_UNSEEN}(?:/{_UNSEEN}\s{{0,8}})?"
    rf"(?:{_WHO}|instructions?|reminder|think|thinking|invoke|parameter"
    r"|permissions|skill|new-diagnostics"
    rf"|antml:[\w-]{{1,60}}|(?:{_WHO}|{_WHAT})[-_][\w-]{{1,60}}"
    rf"|\w[\w-]{{0,60}}[-_](?:{_ENDING}))(?![\w:.@-])"
    r"|/?\|[\w-]{1,60}\||</?SYS>>)"
)
_DEFUSED = "\u2039"


def clean(text: str) -> str:
    """The text without characters that a terminal obeys or that are invisible.

    Newline and tab stay. Every other end of a line becomes a newline, and a lone
    surrogate becomes U+FFFD. Cleaning is idempotent.
    """
    if text.isprintable() or text.translate(_PLAIN_BLANKS).isprintable():
        return text
    text = re.sub(_UNSAFE, "", text)
    return re.sub(_LONE_SURROGATES, "\ufffd", re.sub(_LINE_ENDS, "\n", text))


def defused(text: str) -> str:
    """The text with no tag that could be mistaken for the client's own.

    The ``<`` of such a tag becomes a single angle quotation mark, U+2039: people and
    models see what was written and that it was changed, and every other character stays
    in place.
    """
    return _TAG.sub(_DEFUSED, text) if "<" in text else text


def one_line(text: str, width: int = 0) -> str:
    """Clean text on one line, cut to ``width`` characters with ``…`` (0: not cut)."""
    # Of the blanks, only a space is printable. Most texts are as they should be.
    is_clean = text.isprintable() and "  " not in text
    line = text.strip() if is_clean else " ".join(clean(text).split())
    return line if not width or len(line) <= width else f"{line[: width - 1]}…"


def one_lines(texts: Sequence[str]) -> list[str]:
    """Returns `one_line` of each text, checked in one step for all of them."""
    # Between two single blanks, a text adds two in a row if it begins or ends with one.
    joined = f" {' '.join(texts)} "
    if joined.isprintable() and "  " not in joined:
        return [*texts]
    return [one_line(text) for text in texts]


def command_line(text: str) -> str:
    """Clean text on one line, in which blanks stay unchanged: in a command, two of them
    in quotes are part of a name."""
    return clean(text).replace("\n", " ")


def consists_of(text: str, characters: str, most: int) -> bool:
    """Returns whether the text has one character to ``most``, each among those."""
    return 0 < len(text) <= most and not text.strip(characters)


def is_hexadecimal(text: str, *lengths: int) -> bool:
    """Returns whether the text has one of these lengths, and only lowercase hexadecimal
    digits."""
    return len(text) in lengths and not text.strip("0123456789abcdef")


def whole_number(text: str, max_digits: int) -> int | None:
    """Returns the number in up to ``max_digits`` ASCII digits, ``None`` for other text.
    Without a bound, Python needs seconds for some numbers and refuses longer ones."""
    if text.isascii() and text.isdecimal() and len(text) <= max_digits:
        return int(text)
    return None

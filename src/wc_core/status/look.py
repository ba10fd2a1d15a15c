"""How the status line is printed: what fits into the columns there are, and what
a terminal is told besides.

``bin/wc-statusline`` has the same rules for what a terminal may be told, and for the
width of a line of plain ASCII. The rest it leaves to this module.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from wc_core.layout import safe_name

_WIDE = (("\u1100", "\u117f"), ("\u2300", "\udfff"), ("\uf000", "\U0003ffff"))
# What is isolated, and by what: U+2068 and U+2069 take no columns, and what lies
# between them does not turn the reading of what stands around it.
_LEFTWARD = re.compile(
    "[\u0580-\u08ff\ufb00-\ufeff\U00010000-\U00010fff\U0001e000-\U0001efff]"
)
# Escaped, or of a part of Unicode that no topic has letters of.
_NO_PAGE = re.compile("[%\ue000-\uefff\U00040000-\U0010ffff]")
_ISOLATE, _END = "\u2068", "\u2069"
_LINK = "\033]8;;{}\033\\"

# What a terminal obeys, or what turns the reading around.
_OBEYED = frozenset(
    chr(code)
    for first, last in ((0, 0x1F), (0x7F, 0x9F), (0x2028, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
)

MAX_ROWS = 9
_MAX_FORMAT_BYTES = 200
_LEAST_CUT = 4
_MARK = re.compile(
    r"\{\{|\{\?|\{(ball|holder|topic|status|new|more|away|where|loop)\}|\}"
)


def width(text: str) -> int:
    """The columns ``text`` takes, or a few more: two for whatever has a chance
    to be wide, one for everything else. Never too few."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(one: str) -> int:
    wide = any(first <= one <= last for first, last in _WIDE)
    return 2 if wide else 1


def dressed(text: str) -> str:
    """``text``, isolated where it may have letters written from right to left."""
    return f"{_ISOLATE}{text}{_END}" if _LEFTWARD.search(text) else text


class LineSigns(NamedTuple):
    """The parts of a line that have an ASCII form."""

    ball: str
    separator: str
    dots: str


_EMOJI = LineSigns("🎾", " · ", "…")
_ASCII = LineSigns("[*]", " - ", "...")


class LineStyle(NamedTuple):
    """How to print.

    ``columns`` 0 means as many as it takes. ``rows`` of 2 to `MAX_ROWS` print a
    row for each thread. ``links`` is what the addresses of pages begin with, see
    `address`; ``format`` is a template, see `filled`. Empty ones mean none.
    """

    columns: int = 0
    ascii: bool = False
    color: bool = False
    rows: int = 0
    links: str = ""
    format: str = ""

    @property
    def signs(self) -> LineSigns:
        """The ball and the dots."""
        return _ASCII if self.ascii else _EMOJI

    @property
    def template(self) -> str:
        """The format, if it can be used: of usual length, and plain text."""
        plain = _OBEYED.isdisjoint(self.format)
        short = len(self.format.encode(errors="replace")) <= _MAX_FORMAT_BYTES
        return self.format if plain and short else ""

    def fits(self, columns: int) -> bool:
        """Whether there is room for so many."""
        return not self.columns or columns <= self.columns

    def cut(self, text: str, room: int) -> str:
        """The beginning of a text that is too long; empty where hardly any would
        be left."""
        if room < _LEAST_CUT:
            return ""
        room -= width(self.signs.dots)
        kept = ""
        for one in text:
            room -= _columns(one)
            if room < 0:
                break
            kept += one
        return f"{kept}{self.signs.dots}" if kept else ""

    def paint(self, text: str, code: str) -> str:
        """``text`` in a colour, if colours are wanted."""
        return f"\033[{code}m{text}\033[0m" if self.color and text else text

    def title(self, text: str, topic: str) -> str:
        """What is shown of a topic: a link to its page, if links are wanted."""
        page = address(self.links, topic)
        shown = dressed(text)
        return f"{_LINK.format(page)}{shown}{_LINK.format('')}" if page else shown


def address(prefix: str, topic: str) -> str:
    """Where the page of ``topic`` is: ``prefix`` and the name of its file. Empty
    where there is no prefix, or the file is not named like the topic."""
    name = safe_name(topic)
    if not prefix or _NO_PAGE.search(name):
        return ""
    # Most lines have no links.
    from urllib.parse import quote

    return f"{prefix}{quote(name, safe='')}.md"


def prefix_of(links: str, pages: str) -> str:
    """What addresses begin with: ``page`` means the files in the folder ``pages``;
    else it is an address itself. Empty for what is neither."""
    if links == "page":
        from urllib.parse import quote

        return f"file://{quote(f'{pages}/', safe='/')}"
    known = re.fullmatch(r"[!-~]+://[!-~]+", links)
    return links if known else ""


class Word(NamedTuple):
    """The value of a word: as it is measured, and as it is printed."""

    plain: str
    shown: str


def filled(look: LineStyle, words: dict[str, Word]) -> str:
    """The line by the template of ``look``.

    ``{word}`` stands for its value, ``{? … }`` for what is in it if a word in it
    has a value, ``{{`` for a brace; any other brace for itself. Groups do not
    nest.
    """
    outer, inner = Word("", ""), Word("", "")
    group = some = False
    at, template = 0, look.template
    for mark in [*_MARK.finditer(template), None]:
        end = mark.start() if mark else len(template)
        inner = _plus(inner, template[at:end])
        at = mark.end() if mark else end
        sign = mark[0] if mark else ""
        if sign == "{?" and not group:
            outer, inner, group, some = inner, Word("", ""), True, False
        elif group and sign in {"}", ""}:
            kept = inner if some else Word("", "")
            inner, group = _joined(outer, kept), False
        elif mark and mark[1]:
            value = words.get(mark[1], Word("", ""))
            inner, some = _joined(inner, value), some or bool(value.plain)
        else:
            inner = _plus(inner, "{" if sign == "{{" else sign)
    return _fitted(look, inner)


def _fitted(look: LineStyle, line: Word) -> str:
    if not line.plain.strip(" "):
        return ""
    if look.fits(width(line.plain)):
        return line.shown
    return dressed(look.cut(line.plain, look.columns))


def _plus(line: Word, text: str) -> Word:
    return Word(line.plain + text, line.shown + text)


def _joined(line: Word, other: Word) -> Word:
    return Word(line.plain + other.plain, line.shown + other.shown)

"""How the status line is printed: widths, links, templates, right-to-left text.

``bin/wc-statusline`` has the same rule for what a terminal only prints.
"""

from __future__ import annotations

from wc_core.base.layout import safe_name
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

_WIDE = (("\u1100", "\u117f"), ("\u2300", "\udfff"), ("\uf000", "\U0003ffff"))
# Right-to-left letters, which are put between U+2068 and U+2069: these take no columns
# and keep the direction of the text around them.
_LEFTWARD = re.compile(
    "[\u0580-\u08ff\ufb00-\ufeff\U00010000-\U00010fff\U0001e000-\U0001efff]"
)
# Escaped characters, and private-use or unassigned ones, which no topic contains.
_NO_PAGE = re.compile("[%\ue000-\uefff\U00040000-\U0010ffff]")
_ISOLATE, _END = "\u2068", "\u2069"
_LINK = "\033]8;;{}\033\\"

# Control characters, and those that change the reading direction.
_OBEYED = frozenset(
    chr(code)
    for first, last in ((0, 0x1F), (0x7F, 0x9F), (0x2028, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
)

MAX_ROWS = 9
_MAX_FORMAT_BYTES = 200
_LEAST_CUT = 4
_MARK = re.compile(
    r"\{\{|\{\?|\{(ball|holder|topic|status|new|more|away|where|loop|conflict"
    r"|elsewhere|land)\}|\}"
)


def display_width(text: str) -> int:
    """Returns the columns that ``text`` takes, or a few more: two for every
    character that may be wide, one for all others. Never too few."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    wide = any(first <= char <= last for first, last in _WIDE)
    return 2 if wide else 1


def is_printed_as_is(text: str) -> bool:
    """Returns whether a terminal only prints ``text``: no character of it is obeyed, or
    changes the direction of others."""
    return _OBEYED.isdisjoint(text)


def isolate_rtl(text: str) -> str:
    """Returns ``text``, isolated if it may contain right-to-left letters."""
    return f"{_ISOLATE}{text}{_END}" if _LEFTWARD.search(text) else text


class LineSigns(NamedTuple):
    """The parts of a line that have an ASCII form."""

    ball: str
    question: str
    separator: str
    dots: str
    warning: str


_EMOJI = LineSigns("🎾", "❓", " · ", "…", "⚠")
_ASCII = LineSigns("[*]", "[?]", " - ", "...", "!!")


class LineStyle(NamedTuple):
    """How to print a line.

    ``columns`` 0 means no limit. ``rows`` of 2 to `MAX_ROWS` print a row for each
    thread. ``links`` is the prefix of page addresses, see `page_address`; ``format`` is
    a template, see `fill_template`. Empty means none. ``tag`` is that of the viewer's
    own agents, whose names are shown without it.
    """

    columns: int = 0
    ascii: bool = False
    color: bool = False
    rows: int = 0
    links: str = ""
    format: str = ""
    tag: str = ""

    @property
    def signs(self) -> LineSigns:
        """The characters to print with."""
        return _ASCII if self.ascii else _EMOJI

    @property
    def template(self) -> str:
        """The format if it can be used: not too long, and plain text."""
        plain = _OBEYED.isdisjoint(self.format)
        short = len(self.format.encode(errors="replace")) <= _MAX_FORMAT_BYTES
        return self.format if plain and short else ""

    def fits(self, columns: int) -> bool:
        """Returns whether this many columns fit."""
        return not self.columns or columns <= self.columns

    def cut(self, text: str, room: int) -> str:
        """Returns the beginning of a text that is too long; empty if hardly any would
        remain."""
        if room < _LEAST_CUT:
            return ""
        room -= display_width(self.signs.dots)
        kept = ""
        for char in text:
            room -= _columns(char)
            if room < 0:
                break
            kept += char
        return f"{kept}{self.signs.dots}" if kept else ""

    def paint(self, text: str, code: str) -> str:
        """Returns ``text`` in a colour, if colours are enabled."""
        return f"\033[{code}m{text}\033[0m" if self.color and text else text

    def title(self, text: str, topic: str) -> str:
        """Returns a topic as it is printed, with a link to its page if links are
        enabled."""
        page = page_address(self.links, topic)
        printed = isolate_rtl(text)
        return f"{_LINK.format(page)}{printed}{_LINK.format('')}" if page else printed


def page_address(prefix: str, topic: str) -> str:
    """Returns the address of the page of ``topic``: ``prefix`` and the name of its
    file. Empty without a prefix, or if the file is not named like the topic."""
    name = safe_name(topic)
    if not prefix or _NO_PAGE.search(name):
        return ""
    # 3 ms: most lines have no links.
    from urllib.parse import quote

    return f"{prefix}{quote(name, safe='')}.md"


def link_prefix(links: str, pages: str) -> str:
    """Returns the prefix of addresses: ``page`` means the files in the folder
    ``pages``; anything else must be an address. Empty if it is not."""
    if links == "page":
        from urllib.parse import quote  # 3 ms: most lines have no links

        return f"file://{quote(f'{pages}/', safe='/')}"
    # Without an address, `re` is not imported.
    is_address = "://" in links and re.fullmatch(r"[!-~]+://[!-~]+", links)
    return links if is_address else ""


class Word(NamedTuple):
    """The value of a word: for measuring, and for printing."""

    plain: str
    printed: str


def fill_template(style: LineStyle, words: dict[str, Word]) -> str:
    """Returns the line made from the template of ``style``.

    ``{word}`` is replaced by its value and ``{? … }`` by its content if a word in it
    has a value; ``{{`` is a brace and any other brace stands for itself. Groups do not
    nest.
    """
    outer, inner = Word("", ""), Word("", "")
    group = some = False
    at, template = 0, style.template
    for mark in [*_MARK.finditer(template), None]:
        end = mark.start() if mark else len(template)
        inner = _append_text(inner, template[at:end])
        at = mark.end() if mark else end
        sign = mark[0] if mark else ""
        if sign == "{?" and not group:
            outer, inner, group, some = inner, Word("", ""), True, False
        elif group and sign in {"}", ""}:
            kept = inner if some else Word("", "")
            inner, group = _join_words(outer, kept), False
        elif mark and mark[1]:
            value = words.get(mark[1], Word("", ""))
            inner, some = _join_words(inner, value), some or bool(value.plain)
        else:
            inner = _append_text(inner, "{" if sign == "{{" else sign)
    return _fit_line(style, inner)


def _fit_line(style: LineStyle, line: Word) -> str:
    if not line.plain.strip(" "):
        return ""
    if style.fits(display_width(line.plain)):
        return line.printed
    return isolate_rtl(style.cut(line.plain, style.columns))


def _append_text(line: Word, text: str) -> Word:
    return Word(line.plain + text, line.printed + text)


def _join_words(line: Word, added: Word) -> Word:
    return Word(line.plain + added.plain, line.printed + added.printed)

"""The lead of a text in markdown: its first sentences with content."""

from __future__ import annotations

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.summaries.plaintext import plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# In characters: the maximum of a lead, and the minimum it should have.
WIDTH = 200
_ENOUGH = 60
# How much of a long text is examined.
_MOST = 8_000
_MOST_OF_BLOCK = 1_000
_FEWEST_WORDS = 2
_FEWEST_LETTERS = 6  # for scripts that put no blanks between words

_FENCES = ("```", "~~~")
_ENDS = frozenset(".!?\u2026")
# Chinese and Japanese, without a blank after them.
_WIDE_ENDS = frozenset("\u3002\uff01\uff1f")
_MARKS = (*_ENDS, *_WIDE_ENDS)
_CLOSING = "\"'\u201d\u2019)]\xbb"
_BEFORE_BLANK = frozenset([*_ENDS, *_CLOSING, *":;,"])
_SHORTENED = (
    "e.g i.e vs cf approx incl resp fig no nr vol pp mr mrs dr st z.b bzw ca usw"
)
_ABBREVIATIONS = frozenset(_SHORTENED.split())
_POLITE = "hi hey hello dear thanks thank thx cheers hallo danke"
_GREETINGS = frozenset(_POLITE.split())
_MOST_DIGITS = 9
_TEXT, _HEADING, _QUOTE = "text", "heading", "quote"


class _Block(NamedTuple):
    """A paragraph, an item of a list, a heading or a quotation, as plain text."""

    kind: str
    text: str


def lead(body: str, title: str = "", width: int = WIDTH) -> str:
    """Returns the first sentences with content of a text in markdown: one, or two if
    the first is short, on one line of at most ``width`` characters.

    Code, tables, pictures and comments are left out, and so are greetings and
    repetitions of the ``title``. Headings and quotations count if there is nothing
    else. It is empty for a text that is only code.
    """
    spare: list[_Block] = []
    if text := _first(_informative(_blocks(body[:_MOST]), title, spare), width):
        return text
    for kind in (_TEXT, _HEADING, _QUOTE):
        blocks = (block for block in spare if block.kind == kind)
        sentences = (text for block in blocks for text in _sentences(block.text))
        new = (text for text in sentences if _folded(text) != _folded(title))
        if text := _first(new, width):
            return text
    return ""


def _informative(
    blocks: Iterable[_Block], title: str, spare: list[_Block]
) -> Iterator[str]:
    """Yields the sentences of paragraphs and items that have new content. Blocks
    without any, and other kinds of blocks, become ``spare``."""
    for block in blocks:
        if block.kind != _TEXT:
            spare.append(block)
            continue
        found = False
        for sentence in _sentences(block.text):
            if _is_informative(sentence) and _folded(sentence) != _folded(title):
                found = True
                yield sentence
        if not found:
            spare.append(block)


def _first(sentences: Iterable[str], width: int) -> str:
    """Returns as many sentences as are enough and fit, and takes no others."""
    result = ""
    for sentence in sentences:
        longer = f"{result}{_between(result)}{sentence}"
        if result and len(longer) > width:
            break
        result = longer
        if len(result) >= _ENOUGH and not result.endswith(":"):
            break
    return _cut(result, width)


def _between(text: str) -> str:
    """Returns what separates a text from the next sentence."""
    if not text or text[-1] in _WIDE_ENDS:
        return ""
    return " " if text[-1] in _BEFORE_BLANK else "; "


def _cut(text: str, width: int) -> str:
    """Returns a text cut at the end of a word, with ``…`` at the cut."""
    if len(text) <= width:
        return text
    head = text[: width - 1]
    at_word = head.rpartition(" ")[0]
    kept = at_word if len(at_word) > width // 2 else head
    return f"{kept.rstrip(' ,;:-')}…"


def _folded(text: str) -> str:
    return text.casefold().strip(" .!?…:")


def _is_informative(sentence: str) -> bool:
    words = sentence.split()
    if words[0].casefold().strip(",!.:") in _GREETINGS and len(words) <= _ENOUGH // 8:
        return False
    if len(words) >= _FEWEST_WORDS:
        return True
    return not sentence.isascii() and len(sentence) >= _FEWEST_LETTERS


# --- sentences ----------------------------------------------------------------


def _sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a paragraph."""
    start = place = 0
    while (place := _next_end(text, place)) >= 0:
        end = place + 1
        if text[place] in _ENDS:
            if not _ends_sentence(text, start, place):
                place = end
                continue
            while text[end : end + 1] and text[end] in _CLOSING:
                end += 1
        if sentence := text[start:end].strip():
            yield sentence
        start = place = end
    if ending := text[start:].strip():
        yield ending


def _next_end(text: str, start: int) -> int:
    """The place of the next mark that may end a sentence, -1 if there is none."""
    places = [place for mark in _MARKS if (place := text.find(mark, start)) >= 0]
    return min(places, default=-1)


def _ends_sentence(text: str, start: int, place: int) -> bool:
    """Whether the mark at a place ends the sentence that begins at ``start``."""
    following = text[place + 1 :].lstrip(_CLOSING) if place + 1 < len(text) else ""
    if following[:1].strip():
        return False  # 1.5, example.org, app.py
    if text[place] != ".":
        return True
    words = text[start:place].rsplit(maxsplit=1)
    word = words[-1].casefold().lstrip("(") if words else ""
    if word in _ABBREVIATIONS or not word:
        return False
    # An initial, or the number of an item: "1. First".
    return not (len(word) == 1 and not word.isdigit()) and word != text[start:place]


# --- blocks -------------------------------------------------------------------


def _blocks(body: str) -> Iterator[_Block]:
    """Yields the blocks of a text that are not code, a table or a rule."""
    kind, lines = _TEXT, list[str]()
    for line_kind, line, continues in _lines(body):
        if lines and (line_kind != kind or not continues):
            yield from _block(kind, lines)
            lines = []
        if line:
            kind = line_kind
            lines.append(line)
    yield from _block(kind, lines)


def _block(kind: str, lines: list[str]) -> Iterator[_Block]:
    text = one_line(plain_text(one_line(" ".join(lines))[:_MOST_OF_BLOCK]))
    if any(map(str.isalnum, text)):
        yield _Block(kind, text)


def _lines(body: str) -> Iterator[tuple[str, str, bool]]:
    """Yields each line that is not code: its kind, its text without the marks before
    it, and whether it continues the previous line. An empty text ends a block."""
    fence, is_after_blank, is_in_list = "", True, False
    for raw in _without_comments(body).expandtabs(4).splitlines():
        stripped = raw.strip()
        if fence:
            fence = "" if _closes(stripped, fence) else fence
            continue
        if stripped.startswith(_FENCES):
            fence = _fence(stripped)
            yield _TEXT, "", False
            continue
        is_indented = raw.startswith("    ") and is_after_blank and not is_in_list
        is_after_blank = not stripped or (is_indented and is_after_blank)
        if not stripped or is_indented or _is_rule(stripped) or stripped[0] == "|":
            yield _TEXT, "", False
            continue
        text, is_item = _without_marker(stripped)
        is_in_list = is_item or (is_in_list and raw[0] == " ")
        yield _line(text, is_item=is_item)


def _line(text: str, *, is_item: bool) -> tuple[str, str, bool]:
    if text.startswith("#"):
        heading = text.lstrip("#")
        if not heading[:1].strip():
            return _HEADING, heading.strip(" #"), False
    if text.startswith(">"):
        return _QUOTE, text.lstrip("> "), True
    return _TEXT, text, not is_item


def _fence(line: str) -> str:
    return line[: len(line) - len(line.lstrip(line[0]))]


def _closes(line: str, fence: str) -> bool:
    return line.startswith(fence) and not line.strip(fence[0])


def _is_rule(line: str) -> bool:
    """Whether a line only separates, or underlines a heading."""
    return not line.replace(" ", "").strip("-*_=+:|")


def _without_marker(line: str) -> tuple[str, bool]:
    """Returns a line without the marker of a list's item, and whether it had one."""
    marker, _, item = line.partition(" ")
    number = marker[:-1]
    is_number = (
        marker[-1:] in {".", ")"} and number.isdecimal() and len(number) <= _MOST_DIGITS
    )
    if item and (marker in {"-", "*", "+", "•"} or is_number):
        item = item.lstrip()
        for box in ("[ ] ", "[x] ", "[X] "):
            item = item.removeprefix(box)
        return item, True
    return line, False


def _without_comments(body: str) -> str:
    """Returns a text without the comments of HTML."""
    while (start := body.find("<!--")) >= 0:
        end = body.find("-->", start)
        body = body[:start] + (body[end + 3 :] if end >= 0 else "")
    return body

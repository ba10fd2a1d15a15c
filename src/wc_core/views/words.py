"""Words: what a text is made of when it is searched, and what a query asks for.

A text is cut into words at everything that is no letter and no digit. Case does
not count, nor do the accents of Latin, Greek and Cyrillic letters. Scripts that
write no spaces between words, and symbols such as emoji, are cut into their
characters. All that a search compares is made here, so that whoever looks
through files and whoever asks an index find the same.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from wc_core.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What a word may be looked for in, and how a query names it.
FIELDS = ("title", "body", "topic", "author")

# What a folded text has between its words, and what its words are made of.
_GAPS = re.compile(r"[\x00-/:-@\[-`{-\x7f]+")
_GAP, _LETTER = _GAPS.pattern, r"[^\x00-/:-@\[-`{-\x7f]"
_ACCENTS = re.compile("[\u0300-\u036f]+")
# Han, kana, bopomofo and their extensions; Thai, Lao, Myanmar, Khmer.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007"
    "\u3031-\u3035\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff]"
)
# A field's name, quotes, a star: each only where it means something.
_PART = re.compile(
    rf"(?:(?P<field>{'|'.join(FIELDS)}):)?"
    r'(?:"(?P<exact>[^"]*)"?|(?P<bare>[^\s"]+))\*?',
    re.IGNORECASE,
)
_MOST_TERMS = 32


class Term(NamedTuple):
    """Words that must stand side by side in one field.

    ``prefix``: of the last one only its beginning is given. ``field`` is one
    of `FIELDS`, or empty for any.
    """

    words: tuple[str, ...]
    prefix: bool = True
    field: str = ""

    @property
    def needle(self) -> str:
        """What a text in the form of `plain` has in it if it has the term."""
        return f" {' '.join(self.words)}{'' if self.prefix else ' '}"


class _FoldingTable(dict[int, str]):
    """What each character beyond ASCII is in a searched text, found out once."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if _UNSPACED.match(char) or kind == "So":
            made = f" {char} "
        elif kind[0] in "LNM" or kind == "Co":
            made = char
        else:
            made = " "
        self[code] = made
        return made


_TABLE = _FoldingTable({code: chr(code) for code in range(128)})


def folded(text: str) -> str:
    """The text with its words in comparable form and spaces where other than
    ASCII characters end one; what stands between ASCII words stays."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", bare).casefold().translate(_TABLE)


def plain(text: str) -> str:
    """The words of a text with one space before, between and after them."""
    return f" {_GAPS.sub(' ', folded(text)).strip()} "


def parse(query: str) -> tuple[Term, ...]:
    """What a query asks for: every one of the terms.

    A word stands for all that begin with it, words in ``"quotes"`` for exactly
    those, side by side (``"log out"*``: the last one may go on). What holds
    together, as ``src/auth.py``, is looked for side by side. ``title:``,
    ``body:``, ``topic:`` and ``author:`` say where. Raises InvalidInputError
    for more than 32 terms.
    """
    terms = []
    for part in _PART.finditer(query):
        exact = part["exact"] is not None
        words = tuple(plain(part["exact"] if exact else part["bare"]).split())
        if words:
            field = (part["field"] or "").lower()
            # 12 is not the beginning of 123.
            whole = exact or words[-1].isdecimal()
            terms.append(Term(words, not whole or part[0].endswith("*"), field))
    if len(terms) > _MOST_TERMS:
        raise InvalidInputError(
            f"The query has {len(terms)} terms.", f"Give {_MOST_TERMS} at most."
        )
    return tuple(dict.fromkeys(terms))


def has(term: Term, fields: Mapping[str, str]) -> bool:
    """Whether a term is in the fields, each in the form of `plain`."""
    if term.field:
        return term.needle in fields[term.field]
    return any(term.needle in text for text in fields.values())


def marked(
    text: str, terms: Iterable[Term], around: int, marks: tuple[str, str] = ("«", "»")
) -> str:
    """One line of a text around the first term in it, with every term there
    between the ``marks``; its beginning where it has none."""
    spans = sorted(_spans(text, terms))
    if not spans:
        return " ".join(text[: 2 * around].split())
    start = max(0, spans[0][0] - around)
    stop = spans[0][1] + around
    parts, at = [], start
    for begin, end in spans:
        if at <= begin and end <= stop:
            parts += [text[at:begin], f"{marks[0]}{text[begin:end]}{marks[1]}"]
            at = end
    return " ".join("".join((*parts, text[at:stop])).split())


def _spans(text: str, terms: Iterable[Term]) -> set[tuple[int, int]]:
    """Where in a text the terms stand."""
    form, places = _aligned(text)
    found = set()
    for term in terms:
        words = _GAP.join(re.escape(one) for one in term.words)
        ending = "" if term.prefix else f"(?!{_LETTER})"
        for one in re.finditer(f"(?<!{_LETTER}){words}{ending}", form):
            found.add((places[one.start()], places[one.end() - 1] + 1))
    return found


def _aligned(text: str) -> tuple[str, Sequence[int]]:
    """A text in its folded form, and where each character of that is from."""
    if text.isascii():
        return text.lower(), range(len(text))
    form, places = [], []
    for place, char in enumerate(text):
        made = folded(char)
        form.append(made)
        places += [place] * len(made)
    return "".join(form), places

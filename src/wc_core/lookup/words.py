"""The words of a text and the terms of a query.

A text is split into words at everything that is neither a letter nor a digit. Case is
ignored, and so are the accents of Latin, Greek and Cyrillic letters. Scripts without
spaces between words, and symbols such as emoji, are split into single characters.
Scanning files and the index both use this module, so that they find the same.
"""

from __future__ import annotations

import unicodedata

from wc_core.base.errors import InvalidInputError
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The fields that a query can name.
FIELDS = ("title", "body", "topic", "author", "tag")

# What separates the words of a folded text; every other character belongs to a word.
SEPARATORS = frozenset(chr(code) for code in range(128) if not chr(code).isalnum())
_TO_SPACES = dict.fromkeys(map(ord, SEPARATORS), " ")
# The combining marks of Latin, Greek and Cyrillic letters.
_WITHOUT_ACCENTS = dict.fromkeys(range(0x300, 0x370))
# The first and the last character of each range: Thai, Lao, Myanmar, Khmer; Han, kana,
# bopomofo and their extensions.
_UNSPACED = (
    *(("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff")),
    *(("\u2e80", "\u2fdf"), ("\u3005", "\u3007"), ("\u3031", "\u3035")),
    *(("\u3040", "\u30ff"), ("\u3105", "\u312f"), ("\u31a0", "\u31bf")),
    *(("\u31f0", "\u31ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff")),
    *(("\uf900", "\ufaff"), ("\U0001b000", "\U0001b16f")),
    ("\U00020000", "\U0003ffff"),
)
_MOST_TERMS = 100


class Term(NamedTuple):
    """Words that must be adjacent in one field.

    With ``prefix``, the last word is only the beginning of one. ``field`` is one of
    `FIELDS`, or empty for any.
    """

    words: tuple[str, ...]
    prefix: bool = True
    field: str = ""

    @property
    def needle(self) -> str:
        """The text that the output of `plain_words` contains if it has the term."""
        return f" {' '.join(self.words)}{'' if self.prefix else ' '}"


class _FoldingTable(dict[int, str]):
    """What each character beyond ASCII becomes in a searched text, computed once."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if kind == "So" or any(first <= char <= last for first, last in _UNSPACED):
            replacement = f" {char} "
        elif kind[0] in "LNM" or kind == "Co":
            replacement = char
        else:
            replacement = " "
        self[code] = replacement
        return replacement


_TABLE = _FoldingTable({code: chr(code) for code in range(128)})


def fold_text(text: str) -> str:
    """Returns the text with its words in comparable form. Separators beyond ASCII
    become spaces; ASCII separators stay."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text).translate(_WITHOUT_ACCENTS)
    return unicodedata.normalize("NFKC", bare).casefold().translate(_TABLE)


def plain_words(text: str) -> str:
    """Returns the words of a text with one space before, between and after them."""
    return f" {' '.join(fold_text(text).translate(_TO_SPACES).split())} "


def parse_query(query: str) -> tuple[Term, ...]:
    """Returns the terms of a query, all of which must match.

    A word matches every word that begins with it; words in ``"quotes"`` match exactly
    and adjacent (``"log out"*``: the last one may continue). A word with separators in
    it, such as ``src/auth.py``, is matched as adjacent words. ``title:``, ``body:``,
    ``topic:``, ``author:`` and ``tag:`` restrict a term to a field. Raises
    InvalidInputError for more than 100 terms.
    """
    terms = []
    for part in _parts(query):
        words = tuple(plain_words(part.text).split())
        if words:
            # A number matches only itself: 12 does not match 123.
            whole = part.is_exact or words[-1].isdecimal()
            terms.append(Term(words, not whole or part.has_star, part.field))
    if len(terms) > _MOST_TERMS:
        raise InvalidInputError(
            f"The query has {len(terms)} terms.", f"Give {_MOST_TERMS} at most."
        )
    return tuple(dict.fromkeys(terms))


class _Part(NamedTuple):
    """A word or quoted text of a query, the field before it, and whether a star ends
    it."""

    field: str
    text: str
    is_exact: bool
    has_star: bool


def _parts(query: str) -> Iterator[_Part]:
    """Yields the parts of a query. A missing quote at its end is assumed."""
    field = ""
    pieces = query.split('"')
    for number, piece in enumerate(pieces):
        after = pieces[number + 1] if number + 1 < len(pieces) else None
        if number % 2:
            has_star = piece.endswith("*") if after is None else after.startswith("*")
            yield _Part(field, piece, is_exact=True, has_star=has_star)
            field = ""
            continue
        bare_words = (piece.removeprefix("*") if number else piece).split()
        if after is not None and bare_words and not piece[-1].isspace():
            field = _field_before(bare_words[-1], "")
            bare_words = bare_words[:-1] if field else bare_words
        for word in bare_words:
            value = word.partition(":")[2]
            name = _field_before(word, value) if value else ""
            yield _Part(
                name, value if name else word, is_exact=False, has_star=word[-1] == "*"
            )


def _field_before(word: str, value: str) -> str:
    """Returns the field that a word names before its ``value``; empty if it names
    none."""
    name = word.removesuffix(value).lower()
    return name[:-1] if name.endswith(":") and name[:-1] in FIELDS else ""


def parse_phrase(text: str) -> tuple[Term, ...]:
    """Returns the term for words that are adjacent as they are; none if there are no
    words."""
    words = tuple(plain_words(text).split())
    return (Term(words, prefix=False),) if words else ()


def contains_term(term: Term, fields: Mapping[str, str]) -> bool:
    """Returns whether a term is in the fields, each in the form of `plain_words`."""
    if term.field:
        return term.needle in fields[term.field]
    return any(term.needle in text for text in fields.values())

"""The words of a text and the terms of a query.

A text is split into words at everything that is neither a letter nor a digit. Case is
ignored, and so are the accents of Latin, Greek and Cyrillic letters. Scripts without
spaces between words, and symbols such as emoji, are split into single characters.
Scanning files and the index both use this module, so that they find the same.
"""

from __future__ import annotations

import unicodedata

from wc_core.errors import InvalidInputError
from wc_core.lean import re
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The fields that a query can name.
FIELDS = ("title", "body", "topic", "author", "tag")

# The separators of a folded text, and the characters of its words.
_GAP = r"[\x00-/:-@\[-`{-\x7f]+"
_GAPS = re.compile(_GAP)
_LETTER = r"[^\x00-/:-@\[-`{-\x7f]"
_ACCENTS = re.compile("[\u0300-\u036f]+")
# Han, kana, bopomofo and their extensions; Thai, Lao, Myanmar, Khmer.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007"
    "\u3031-\u3035\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff]"
)
# A field's name, quotes and a star, each only where it has a meaning.
_PART = re.compile(
    rf"(?i)(?:(?P<field>{'|'.join(FIELDS)}):)?"
    r'(?:"(?P<exact>[^"]*)"?|(?P<bare>[^\s"]+))\*?'
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
        if _UNSPACED.match(char) or kind == "So":
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
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", bare).casefold().translate(_TABLE)


def plain_words(text: str) -> str:
    """Returns the words of a text with one space before, between and after them."""
    return f" {_GAPS.sub(' ', fold_text(text)).strip()} "


def parse_query(query: str) -> tuple[Term, ...]:
    """Returns the terms of a query, all of which must match.

    A word matches every word that begins with it; words in ``"quotes"`` match exactly
    and adjacent (``"log out"*``: the last one may continue). A word with separators in
    it, such as ``src/auth.py``, is matched as adjacent words. ``title:``, ``body:``,
    ``topic:``, ``author:`` and ``tag:`` restrict a term to a field. Raises
    InvalidInputError for more than 100 terms.
    """
    terms = []
    for part in _PART.finditer(query):
        exact = part["exact"] is not None
        words = tuple(plain_words(part["exact"] if exact else part["bare"]).split())
        if words:
            field = (part["field"] or "").lower()
            # A number matches only itself: 12 does not match 123.
            whole = exact or words[-1].isdecimal()
            terms.append(Term(words, not whole or part[0].endswith("*"), field))
    if len(terms) > _MOST_TERMS:
        raise InvalidInputError(
            f"The query has {len(terms)} terms.", f"Give {_MOST_TERMS} at most."
        )
    return tuple(dict.fromkeys(terms))


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


def mark_terms(
    text: str, terms: Iterable[Term], around: int, marks: tuple[str, str] = ("«", "»")
) -> str:
    """Returns one line of a text around its first match, with every match between
    the ``marks``; the beginning of the text if nothing matches."""
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
    """Returns the positions of the terms in a text."""
    form, places = _aligned(text)
    spans = set()
    for term in terms:
        words = _GAP.join(re.escape(match) for match in term.words)
        ending = "" if term.prefix else f"(?!{_LETTER})"
        for match in re.finditer(f"(?<!{_LETTER}){words}{ending}", form):
            spans.add((places[match.start()], places[match.end() - 1] + 1))
    return spans


def _aligned(text: str) -> tuple[str, Sequence[int]]:
    """Returns a text in its folded form, and the original position of each
    character."""
    if text.isascii():
        return text.lower(), range(len(text))
    form, places = [], []
    for place, char in enumerate(text):
        replacement = fold_text(char)
        form.append(replacement)
        places += [place] * len(replacement)
    return "".join(form), places

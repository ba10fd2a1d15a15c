"""The words that the index has of each text, and the expressions that ask for them.

Some words are indexed twice, after a mark: a character that no folded text has, so that
they are words of their own.
"""

from __future__ import annotations

from wc_core.lookup.search.ranking import PROMINENT_FIELDS
from wc_core.lookup.search.words import plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.lookup.search.words import Term

# In a query, FTS5 reads the positions of a word in all columns before it leaves out
# some of them, which takes a quarter of the time or more. So words that are needed
# apart from the others have a mark: those of the prominent fields, in addition to the
# words themselves, and recorded references.
PROMINENT_MARK, RECORDED_MARK = "†", "§"
# Pairs begin with a character that no folded text has, so no other word is one, nor the
# beginning of one. By itself it is between pairs that are not neighbours in the text:
# in "a b X b c", the pair of a and b is not followed by that of b and c.
PAIR_MARK = "‡"


def indexed_words(column: str, text: str, common: CommonWords) -> str:
    """Returns what is indexed of a text in a column of `entries.COLUMNS`."""
    words = plain_words(text).split()
    if column == "recorded":
        return " ".join(_marked(words, RECORDED_MARK))
    prominent = words if column in PROMINENT_FIELDS else ()
    marked = _marked(prominent, PROMINENT_MARK)
    return " ".join((*words, *marked, *common.pairs(words)))


def _marked(words: Iterable[str], mark: str) -> list[str]:
    return [f"{mark}{word}" for word in words]


class Expressions:
    """Expressions for a file that has the pairs of these words."""

    def __init__(self, common: CommonWords) -> None:
        self._common = common

    def words(self, terms: Iterable[Term], mentioned: Iterable[Term] = ()) -> str:
        """Returns the expression for entries with all of the terms: ``terms`` in the
        fields they name, ``mentioned`` in the fields that mention files, commits and
        pull requests."""
        parts = [*map(self._in_field, terms), *map(self._mention, mentioned)]
        return " AND ".join(parts)

    def title(self, terms: Iterable[Term], *, all_terms: bool) -> str:
        """Returns the expression for entries with all of the terms, or any of them, in
        their title."""
        parts = [self._in_field(term._replace(field="title")) for term in terms]
        return (" AND " if all_terms else " OR ").join(parts)

    def prominent(
        self, term: Term, required: Iterable[Term] = (), mentioned: Iterable[Term] = ()
    ) -> str:
        """Returns the expression for entries with a term in their title or among the
        names or tags of their thread, and with everything ``required`` and
        ``mentioned``; nothing if the term is for another field."""
        if term.field not in {"", *PROMINENT_FIELDS}:
            return ""
        own = self._in_field(term) if term.field else self._phrase(term, PROMINENT_MARK)
        return " AND ".join(filter(None, (own, self.words(required, mentioned))))

    def _in_field(self, term: Term) -> str:
        """The expression for a term in its field, or in any."""
        if not term.field:
            return self._phrase(term)
        mark = PROMINENT_MARK if term.field in PROMINENT_FIELDS else ""
        return f"{term.field} : {self._phrase(term, mark)}"

    def _mention(self, term: Term) -> str:
        if term.field:
            return self._in_field(term)
        recorded = self._phrase(term, RECORDED_MARK)
        return f"({{title body}} : {self._phrase(term)} OR {recorded})"

    def _phrase(self, term: Term, mark: str = "") -> str:
        """The expression for the words of a term, each after a mark."""
        pairs = [] if mark or term.prefix else self._common.phrase(term.words)
        words = pairs or _marked(term.words, mark)
        # Words contain neither quotes nor anything else with a meaning in a query.
        return f'"{" ".join(words)}" {"*" if term.prefix else ""}'


class CommonWords:
    """The words of which each two neighbours are indexed as a pair, so that phrases of
    them are found fast.

    For a phrase, FTS5 reads the positions of each of its words in every entry that has
    the word. Of *the page is* in 500,000 English entries, these are nearly all entries,
    three times. So in a file for many entries, a phrase of common words is looked for
    as a phrase of pairs: Lucene calls them common grams. Which words are common is
    determined once for each file and never changes in it. Results do not depend on it:
    any set of words finds the same.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = frozenset(words)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._words)

    def pairs(self, words: Iterable[str]) -> list[str]:
        """Returns what is indexed of the words of a text in addition to them."""
        pairs: list[str] = []
        previous = ""
        for word in words:
            if word not in self._words:
                previous = ""
                continue
            if previous:
                pairs.append(f"{PAIR_MARK}{previous}{PAIR_MARK}{word}")
            elif pairs and pairs[-1] != PAIR_MARK:
                pairs.append(PAIR_MARK)
            previous = word
        return pairs

    def phrase(self, words: Sequence[str]) -> list[str]:
        """Returns the pairs that are neighbours exactly where these words are; none if
        not all of the words are common, or if there is only one."""
        return self.pairs(words) if self._words.issuperset(words) else []

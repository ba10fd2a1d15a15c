"""Expressions of FTS5 for the words of queries.

The columns of the full-text index have the output of `words.plain_words`.
"""

from __future__ import annotations

from wc_core.lookup.search.ranking import PROMINENT_FIELDS
from wc_core.lookup.search.words import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wc_core.lookup.search.words import Term

_MENTIONING = ("title", "body", "recorded")
# The beginning of more words than this is looked up as one.
MOST_ENDINGS = 200


class Expressions:
    """Expressions for an index. ``endings`` returns its words that begin with one, or
    more than `MOST_ENDINGS` of them.

    FTS5 reads everything about all words with a beginning before it finds the first
    entry. Of each word by itself, it reads no more than is needed.
    """

    def __init__(self, endings: Callable[[str], list[str]]) -> None:
        self._endings = endings
        self._phrases: dict[Term, str] = {}

    def having(self, terms: Iterable[Term], mentioned: Iterable[Term] = ()) -> str:
        """Returns the expression for entries with all of the terms: ``terms`` in the
        fields they name, ``mentioned`` in the fields that mention files, commits and
        pull requests. Empty if there are none."""
        asked = [(term, FIELDS) for term in terms]
        asked += [(term, _MENTIONING) for term in mentioned]
        return " AND ".join(
            self._in(term, (term.field,) if term.field else columns)
            for term, columns in asked
        )

    def in_title(self, terms: Iterable[Term], *, all_terms: bool) -> str:
        """Returns the expression for entries with all of the terms, or any of them, in
        their title."""
        parts = [self._in(term, ("title",)) for term in terms]
        return (" AND " if all_terms else " OR ").join(parts)

    def prominently(self, term: Term) -> str:
        """Returns the expression for entries with a term in their title or among the
        names or tags of their thread; empty if the term is for another field."""
        fields = [field for field in PROMINENT_FIELDS if term.field in {"", field}]
        return self._in(term, fields) if fields else ""

    def _in(self, term: Term, columns: Iterable[str]) -> str:
        if term not in self._phrases:
            self._phrases[term] = self._phrase(term)
        return f"{{{' '.join(columns)}}} : ({self._phrases[term]})"

    def _phrase(self, term: Term) -> str:
        # Words contain neither quotes nor anything else with a meaning in a query.
        *first, final = term.words
        if not term.prefix:
            return f'"{" ".join(term.words)}"'
        words = self._endings(final)
        if not 0 < len(words) <= MOST_ENDINGS:
            return f'"{" ".join(term.words)}" *'
        return " OR ".join(f'"{" ".join((*first, word))}"' for word in words)

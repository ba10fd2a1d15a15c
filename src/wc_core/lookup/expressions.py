"""Expressions of FTS5 for the words of queries.

The columns of the full-text index have the output of `words.plain_words`.
"""

from __future__ import annotations

from wc_core.lookup.ranking import PROMINENT_FIELDS
from wc_core.lookup.words import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wc_core.lookup.words import Term

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
        parts = [self._in(term, FIELDS) for term in terms]
        parts += [self._in(term, _MENTIONING) for term in mentioned]
        return " AND ".join(parts)

    def in_title(self, terms: Iterable[Term], *, all_terms: bool) -> str:
        """Returns the expression for entries with all of the terms, or any of them, in
        their title."""
        titles = (term._replace(field="title") for term in terms)
        parts = [self._in(term, ()) for term in titles]
        return (" AND " if all_terms else " OR ").join(parts)

    def prominently(self, term: Term) -> str:
        """Returns the expression for entries with a term in their title or among the
        names or tags of their thread; empty if the term is for another field."""
        if term.field not in {"", *PROMINENT_FIELDS}:
            return ""
        return self._in(term, PROMINENT_FIELDS)

    def _in(self, term: Term, columns: Iterable[str]) -> str:
        """The expression for a term in its field, or in any of the columns."""
        if term not in self._phrases:
            self._phrases[term] = self._phrase(term)
        chosen = term.field or " ".join(columns)
        return f"{{{chosen}}} : ({self._phrases[term]})"

    def _phrase(self, term: Term) -> str:
        # Words contain neither quotes nor anything else with a meaning in a query.
        *first, final = term.words
        words = self._endings(final) if term.prefix else []
        if not words:
            return f'"{" ".join(term.words)}"'
        if len(words) > MOST_ENDINGS:
            return f'"{" ".join(term.words)}" *'
        return " OR ".join(f'"{" ".join((*first, word))}"' for word in words)

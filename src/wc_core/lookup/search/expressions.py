"""Expressions of FTS5 for the words of queries.

The columns of the full-text index have the output of `words.plain_words`.
"""

from __future__ import annotations

from wc_core.lookup.search.ranking import PROMINENT_FIELDS
from wc_core.lookup.search.words import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.lookup.search.words import Term

_MENTIONING = ("title", "body", "recorded")


def having(terms: Iterable[Term], mentioned: Iterable[Term] = ()) -> str:
    """Returns the expression for entries with all of the terms: ``terms`` in the fields
    they name, ``mentioned`` in the fields that mention files, commits and pull
    requests. Empty if there are none."""
    parts = [_in(term, (term.field,) if term.field else FIELDS) for term in terms]
    parts += [
        _in(term, (term.field,) if term.field else _MENTIONING) for term in mentioned
    ]
    return " AND ".join(parts)


def in_title(terms: Iterable[Term], *, all_terms: bool) -> str:
    """Returns the expression for entries with all of the terms, or any of them, in
    their title."""
    parts = [_in(term, ("title",)) for term in terms]
    return (" AND " if all_terms else " OR ").join(parts)


def prominently(term: Term) -> str:
    """Returns the expression for entries with a term in their title or among the names
    or tags of their thread; empty if the term is for another field."""
    fields = [field for field in PROMINENT_FIELDS if term.field in {"", field}]
    return _in(term, fields) if fields else ""


def _in(term: Term, columns: Iterable[str]) -> str:
    # Words contain neither quotes nor anything else with a meaning in a query.
    phrase = f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'
    return f"{{{' '.join(columns)}}} : {phrase}"

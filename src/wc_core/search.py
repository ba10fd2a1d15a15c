"""Plain search: every word must occur in an entry, whatever its case."""

from __future__ import annotations

from typing import NamedTuple

from wc_core.errors import InvalidInputError, WcError
from wc_core.times import utc
from wc_core.views import cursor_of, cursor_parts, matching, numbered, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.model import Entry
    from wc_core.reader import StoreReader
    from wc_core.views import Filter, Numbered, Viewer

_AROUND = 60


class Hit(NamedTuple):
    """An entry that matches, and the words around the first match."""

    topic: str
    found: Numbered
    snippet: str

    def to_json(self) -> dict[str, Any]:
        """The hit of the search shape."""
        entry = self.found.entry
        return {
            "topic": self.topic,
            "idx": self.found.idx,
            "id": entry.id,
            "at": utc(entry.at),
            "author": entry.agent,
            "title": entry.title,
            "snippet": self.snippet,
        }


class Hits(NamedTuple):
    """Some of the hits, the newest first; ``cursor`` gets the rest.

    ``unreadable`` are threads that could not be searched.
    """

    hits: tuple[Hit, ...]
    total: int
    cursor: str = ""
    unreadable: tuple[str, ...] = ()

    def to_json(self, store: str, query: str) -> dict[str, Any]:
        """The search shape."""
        fields: dict[str, Any] = {
            "store": store,
            "query": query,
            "total": self.total,
            "hits": [hit.to_json() for hit in self.hits],
        }
        if self.cursor:
            fields |= {"cursor": self.cursor, "truncated": True}
        if self.unreadable:
            fields["unreadable"] = list(self.unreadable)
        return fields


class Question(NamedTuple):
    """What to look for, where, and how much of it to show (0: all)."""

    query: str
    where: Filter
    limit: int = 0
    cursor: str = ""


def search(reader: StoreReader, viewer: Viewer, question: Question) -> Hits:
    """The entries that contain every word, in title, body, topic or author.

    A walk by cursor gives each hit once: ids only grow. ``total`` counts the
    hits of all pages. Raises InvalidInputError for a query without words and
    for a foreign cursor.
    """
    words = [word.casefold() for word in question.query.split()]
    if not words:
        raise InvalidInputError(
            "There is nothing to search for.", "Give one word or more."
        )
    before = cursor_parts(question.cursor, 2, "a search") if question.cursor else []
    found: list[tuple[str, str, Numbered]] = []
    unreadable = []
    for one in matching(rows(reader, viewer), question.where, viewer):
        try:
            found.extend(_in_thread(reader, one.topic, words))
        except WcError:
            unreadable.append(one.topic)
    found.sort(key=_recency, reverse=True)
    left = found
    if before:
        left = [one for one in found if _recency(one) < tuple(before)]
    shown = left[: question.limit] if question.limit else left
    cursor = ""
    if len(shown) < len(left):
        cursor = cursor_of(*_recency(shown[-1]))
    hits = tuple(Hit(topic, one, _snippet(one.entry, words)) for _, topic, one in shown)
    return Hits(hits, len(found), cursor, tuple(unreadable))


def _recency(one: tuple[str, str, Numbered]) -> tuple[str, str]:
    # Two threads can have an entry of the same id: pages imported from
    # copies.
    return one[:2]


def _in_thread(
    reader: StoreReader, topic: str, words: list[str]
) -> list[tuple[str, str, Numbered]]:
    """The entries that match, each with its id and topic."""
    if not reader.may_contain(topic, words):
        return []
    found = []
    for one in numbered(reader.thread(topic)):
        entry = one.entry
        texts = (entry.title, entry.body, topic, entry.agent)
        folded = [text.casefold() for text in texts]
        if all(any(word in text for text in folded) for word in words):
            found.append((entry.id, topic, one))
    return found


def _snippet(entry: Entry, words: list[str]) -> str:
    """One line around the first match, the match between ``«`` and ``»``."""
    text = entry.body or entry.title
    folded = text.casefold()
    places = [folded.find(word) for word in words]
    found = [(at, word) for at, word in zip(places, words, strict=True) if at >= 0]
    if not found or len(folded) != len(text):
        # Folding changed the length ("ß"): positions would be off.
        return " ".join(text[: 2 * _AROUND].split())
    at, word = min(found)
    end = at + len(word)
    before = text[max(0, at - _AROUND) : at]
    after = text[end : end + _AROUND]
    return " ".join(f"{before}«{text[at:end]}»{after}".split())

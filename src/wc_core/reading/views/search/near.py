"""Entries with a meaning similar to a query, among those with some of its words."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.lookup.search.nearness import Nearness, mixed
from wc_core.reading.views.search.query import Match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol

    from wc_core.lookup.search.nearness import EntryName
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.query import SearchQuery

    class MeaningSource(Protocol):
        """Knows which entries of a store are near a query:
        `wc_core.reading.meaning`."""

        def nearest(self, query: str, topics: Sequence[str], newest: str) -> Nearness:
            """Returns the nearest entries of threads, of those up to the id ``newest``
            if there is one."""

        def entry(self, topic: str, entry_id: str) -> Numbered:
            """Returns an entry. Raises WcError if it no longer exists."""


# For a query with fewer words, entries without any of them do not match.
LEAST_TERMS = 2
# The most entries in a result that have none of the words.
_MOST_NEAR = 20
# They are at least so near, as a part of the nearest. In a small store, everything
# would be in every answer otherwise.
_LEAST_NEAR = 0.25
_SCALE = 1_000_000


class NearQuery(NamedTuple):
    """A natural-language query, the source that knows which entries are near it, and
    what returns the threads that are searched."""

    text: str
    source: MeaningSource
    topics: Callable[[], Sequence[str]]


class Mixture(NamedTuple):
    """Entries in the order of their mixed scores. ``near`` are those without any of the
    words. ``problem`` is why meaning was not used. ``newest`` is the greatest id of the
    entries on whose nearness the order depends."""

    entries: list[tuple[Match, Numbered]]
    near: frozenset[EntryName] = frozenset()
    problem: str = ""
    newest: str = ""


def with_meaning(
    near_query: NearQuery,
    query: SearchQuery,
    scored: list[tuple[Match, Numbered]],
    answered: Iterable[EntryName],
    whole: float,
) -> Mixture:
    """Returns entries ``scored`` by their words and those near the query, except
    those already ``answered``; only in the requested threads and with the requested
    mentions. An entry with all of the words has a score of about ``whole``."""
    nearness = near_query.source.nearest(
        near_query.text, near_query.topics(), query.newest
    )
    if not nearness.scores:
        return Mixture(scored, problem=nearness.problem)
    entries = {(place.topic, place.id): numbered for place, numbered in scored}
    by_words = {(place.topic, place.id): float(place.rank) for place, _ in scored}
    done = {*answered}
    scores = mixed(by_words, nearness.scores, nearness.floor, whole)
    least = _LEAST_NEAR * max(nearness.scores.values())
    near: set[EntryName] = set()
    places: list[tuple[Match, Numbered]] = []
    for name in sorted(scores, key=lambda name: (-scores[name], name[1], name[0])):
        if name in done:
            continue
        is_near = len(near) < _MOST_NEAR and nearness.scores.get(name, 0.0) >= least
        if name not in entries and is_near:
            numbered = _matching_entry(near_query.source, query, name, nearness)
            if numbered is None:
                continue
            entries[name] = numbered
            near.add(name)
        if name in entries:
            topic, entry_id = name
            place = Match(round(scores[name] * _SCALE), entry_id, topic)
            places.append((place, entries[name]))
    places.sort(reverse=True, key=lambda item: item[0])
    newest = max(entry_id for _, entry_id in nearness.scores)
    return Mixture(places, frozenset(near), newest=newest)


def _matching_entry(
    source: MeaningSource, query: SearchQuery, name: EntryName, nearness: Nearness
) -> Numbered | None:
    """The entry, if its text is still the one that was scored and it mentions what the
    query requires."""
    try:
        numbered = source.entry(*name)
    except WcError:
        return None  # removed since its vector was made
    entry = numbered.entry
    if not nearness.is_current(name[0], entry):
        return None
    return numbered if query._replace(terms=()).rank(entry) is not None else None

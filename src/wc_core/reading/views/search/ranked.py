"""A ranked result: entries with every word in the order of their scores and, if there
are fewer than a handful, entries with some of the words after them.

A result is a snapshot: its cursors contain what its order depends on, the newest of the
entries that were compared and the weights of the terms. Entries written later are not
in it.
"""

from __future__ import annotations

from operator import itemgetter

from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.values import NamedTuple
from wc_core.lookup.search.ranking import (
    SearchedText,
    chosen_terms,
    even_weights,
    loose_terms,
    required_terms,
    term_weights,
    whole_score,
)
from wc_core.reading.views.overview import cursor_of, cursor_parts
from wc_core.reading.views.search.near import LEAST_TERMS, Mixture, with_meaning
from wc_core.reading.views.search.query import LooseQuery, Match, topic_counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wc_core.lookup.search.nearness import EntryName
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.near import NearQuery
    from wc_core.reading.views.search.query import (
        Candidates,
        Matches,
        SearchEngine,
        SearchQuery,
        Topics,
    )

# The most entries that are ordered by their texts. If more have every word, none are.
RANKED = 100
# With this many entries with every word, others are not looked for; and the most others
# that are added to fewer.
HANDFUL, SUGGESTED = 5, 10
# The first part of a cursor: whether the order is that of the words alone.
_BY_WORDS, _BY_MEANING = "ranked", "mixed"
_PARTS = 7
# Follows the weight of a term that makes no entry a candidate.
_NOT_CHOSEN = "c"
# Greater than any score.
_MOST_DIGITS = 12


class RankedPlace(NamedTuple):
    """The place of an entry in a result; the greatest comes first. ``is_whole``: it has
    every word."""

    is_whole: bool
    score: int
    id: str
    topic: str


class Position(NamedTuple):
    """The content of a cursor: the last place before the page, the newest entry that
    was compared with others, in the result or not, the weights of the terms, which of
    these were chosen (see `chosen_terms`), and whether the order also depends on
    meaning. Without a cursor, all of it is empty."""

    place: RankedPlace | None = None
    newest: str = ""
    weights: tuple[int, ...] = ()
    chosen: tuple[bool, ...] = ()
    is_mixed: bool = False

    def cursor(self, place: RankedPlace) -> str:
        """Returns the cursor of the page after ``place``."""
        numbers = str(int(place.is_whole)), str(place.score)
        weights = "-".join(
            f"{weight}{'' if is_chosen else _NOT_CHOSEN}"
            for weight, is_chosen in zip(self.weights, self.chosen, strict=True)
        )
        mark = _BY_MEANING if self.is_mixed else _BY_WORDS
        return cursor_of(mark, self.newest, weights, *numbers, place.id, place.topic)


def is_ranked_cursor(cursor: str) -> bool:
    """Returns whether a cursor continues a ranked answer."""
    return cursor.startswith((f"{_BY_WORDS}~", f"{_BY_MEANING}~"))


def position_of(cursor: str, terms: int) -> Position | None:
    """Returns the content of a ranked result's cursor, for a query with this many
    terms; ``None`` for the cursor of another search."""
    mark, newest, weights, is_whole, score, entry_id, topic = cursor_parts(
        cursor, _PARTS, "a search"
    )
    listed = [weight for weight in weights.split("-") if weight]
    if is_whole not in {"0", "1"} or len(listed) not in {0, terms}:
        return None
    numbers = [weight.removesuffix(_NOT_CHOSEN) for weight in listed]
    if not all(
        number.isascii() and number.isdecimal() and len(number) < _MOST_DIGITS
        for number in (score, *numbers)
    ):
        return None
    place = RankedPlace(is_whole == "1", int(score), entry_id, topic)
    chosen = tuple(map(str.isdecimal, listed))
    mixed = mark == _BY_MEANING
    return Position(place, newest, tuple(map(int, numbers)), chosen, mixed)


class Ranked(NamedTuple):
    """A result: all of its entries in order, each with its place. ``topics`` counts
    them by thread. ``candidates`` counts the entries with some of the words; the result
    has the best of these. ``near`` are the entries without any of the words but with a
    similar meaning; ``by_words`` is why there can be none. ``names`` has the names of
    the threads that were read, by topic."""

    entries: list[tuple[RankedPlace, Numbered]]
    topics: dict[str, int]
    candidates: int
    position: Position
    unreadable: tuple[str, ...]
    near: frozenset[EntryName]
    by_words: str
    names: Mapping[str, str]


def ranked_answer(
    engine: SearchEngine,
    topics: Topics,
    query: SearchQuery,
    start: tuple[Matches | None, Position],
    *,
    loosely: bool,
    near_query: NearQuery | None = None,
) -> Ranked:
    """Returns the result for these threads. ``start``: all matches with every word, or
    ``None`` if entries with any word are requested; and the cursor's content.
    ``loosely``: entries with some of the words may follow, and with a ``near_query``
    those with a similar meaning. Raises InvalidInputError if the cursor's order depends
    on meaning that is no longer available."""
    whole, position = start
    entries: list[tuple[RankedPlace, Numbered]] = []
    unreadable: tuple[str, ...] = ()
    terms, required = loose_terms(query.terms), required_terms(query.terms)
    candidates, mixture = 0, Mixture([])
    compared: list[Match] = []
    if whole is not None:
        scored = _scored(engine, whole.best, query, even_weights(query.terms))
        entries = [(RankedPlace(True, *place), entry) for place, entry in scored]
        unreadable = whole.unreadable
        is_other_query = len(terms) > 1 or {*terms, *required} != {*query.terms}
        loosely = loosely and len(entries) < HANDFUL and is_other_query
    if loosely and terms:
        position, loose = _loose(engine, topics, query, position)
        compared = loose.best
        whole_matches = {(place.id, place.topic) for place, _ in entries}
        partial_matches = [
            candidate
            for candidate in loose.best
            if (candidate.id, candidate.topic) not in whole_matches
        ]
        scored = _scored(
            engine, partial_matches, query._replace(terms=terms), position.weights
        )
        mixture = Mixture(scored)
        if query.by_title and len(terms) >= LEAST_TERMS:
            # Scores of words and mixed ones cannot be compared: later pages are like
            # the first, whether or not there is a model by now.
            if near_query is not None and (position.is_mixed or not position.place):
                answered = {(topic, entry_id) for entry_id, topic in whole_matches}
                asked = query._replace(newest=position.newest)
                # From the cursor alone, so that the order is the same on each page.
                whole_words = whole_score(position.weights)
                mixture = with_meaning(near_query, asked, scored, answered, whole_words)
            if position.is_mixed and not mixture.newest:
                raise without_meaning(mixture.problem)
            position = position._replace(is_mixed=bool(mixture.newest))
        partial = [
            (RankedPlace(False, *place), entry) for place, entry in mixture.entries
        ]
        entries += partial if whole is None else partial[:SUGGESTED]
        candidates, unreadable = loose.total, loose.unreadable
    counts = topic_counts(place.topic for place, _ in entries)
    if not position.newest:
        ids = [candidate.id for candidate in compared]
        ids += [place.id for place, _ in entries]
        position = position._replace(newest=max((mixture.newest, *ids)))
    near = mixture.near.intersection((place.topic, place.id) for place, _ in entries)
    # The threads of scored entries have been read.
    names = {
        place.topic: engine.thread_words(place.topic).name
        for place, _ in entries
        if (place.topic, place.id) not in near
    }
    return Ranked(
        entries,
        counts,
        candidates,
        position,
        unreadable,
        near,
        mixture.problem,
        names,
    )


def _loose(
    engine: SearchEngine, topics: Topics, query: SearchQuery, position: Position
) -> tuple[Position, Candidates]:
    """Returns the best entries with some of the words, and the position with the
    weights of these."""
    loose = LooseQuery(
        loose_terms(query.terms),
        required_terms(query.terms),
        query.about,
        RANKED if query.by_title else 0,
        position.newest,
    )
    if not position.weights:
        threads, counts = engine.counts(topics, loose)
        position = position._replace(
            weights=term_weights(counts, threads), chosen=chosen_terms(counts)
        )
    chosen = tuple(map(int.__mul__, position.weights, map(int, position.chosen)))
    return position, engine.candidates(topics, loose._replace(weights=chosen))


def without_meaning(problem: str) -> InvalidInputError:
    """Returns the error for a cursor whose order cannot be computed again."""
    return InvalidInputError(
        "The cursor's result was ordered by meaning, which is not available now"
        f"{problem and f': {problem}'}.",
        "Search again without a cursor.",
    )


def _scored(
    engine: SearchEngine,
    matches: Iterable[Match],
    query: SearchQuery,
    weights: Sequence[int],
) -> list[tuple[Match, Numbered]]:
    """Returns the entries of matches in order: by score, or newest first."""
    entries: list[tuple[Match, Numbered]] = []
    for match in matches:
        try:
            numbered = engine.entry(match.topic, match.id)
            thread = engine.thread_words(match.topic)
        except WcError:
            continue  # replaced since it was found, so no longer a match
        score = 0
        if query.by_title:
            text = SearchedText(numbered.entry, thread)
            score = text.exact_score(query.terms, weights)
        entries.append((Match(score, match.id, match.topic), numbered))
    entries.sort(key=itemgetter(0), reverse=True)
    return entries

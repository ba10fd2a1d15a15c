"""A ranked result: entries with every word in the order of their scores and, if there
are fewer than a handful, entries with some of the words or a similar meaning after
them.

A result is a snapshot: its cursors contain what its order depends on, the newest of the
entries that were compared and the weights of the terms. Entries written later are not
in it.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.values import NamedTuple
from wc_core.lookup.nearness import Nearness, mixed
from wc_core.lookup.ranking import (
    SearchedText,
    chosen_terms,
    even_weights,
    loose_terms,
    required_terms,
    term_weights,
    whole_score,
)
from wc_core.reading.views.overview import cursor_of, cursor_parts
from wc_core.reading.views.search.facets import NO_COUNTS
from wc_core.reading.views.search.query import (
    LooseQuery,
    Match,
    Matches,
    topic_counts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from wc_core.lookup.nearness import EntryName
    from wc_core.lookup.words import Term
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.rows import Filter
    from wc_core.reading.views.search.facets import Counts
    from wc_core.reading.views.search.query import (
        SearchEngine,
        SearchQuery,
    )

# The most entries that are ordered by their texts. If more have every word, none are.
RANKED = 100
# With this many entries with every word, others are not looked for; and the most others
# that are added to fewer.
HANDFUL, SUGGESTED = 5, 10
# For a query with fewer words, entries without any of them do not match.
_LEAST_TERMS = 2
# The most entries in a result that have none of the words.
_MOST_NEAR = 20
# They are at least so near, as a part of the nearest. In a small store, everything
# would be in every answer otherwise.
_LEAST_NEAR = 0.25
_SCALE = 1_000_000
# The first part of a cursor: the order is that of the engine, of the scores of words,
# or also that of the meaning.
LISTED, BY_WORDS, BY_MEANING = "listed", "ranked", "mixed"
_PARTS = 7
# Follows the weight of a term that makes no entry a candidate.
_NOT_CHOSEN = "c"
# Greater than any score.
_MOST_DIGITS = 12


class ResultPlace(NamedTuple):
    """The place of an entry in a result; the greatest comes first. ``is_whole``: it has
    every word."""

    is_whole: bool
    score: int
    id: str
    topic: str


class Position(NamedTuple):
    """The content of a cursor: the order, the last place before the page, the newest
    entry that was compared with others, in the result or not, the weights of the terms,
    and which of these were chosen (see `chosen_terms`). Without a cursor, all of it is
    empty."""

    order: str = ""
    place: ResultPlace | None = None
    newest: str = ""
    weights: tuple[int, ...] = ()
    chosen: tuple[bool, ...] = ()

    def cursor(self, place: ResultPlace) -> str:
        """Returns the cursor of the page after ``place``."""
        numbers = str(int(place.is_whole)), str(place.score)
        weights = "-".join(
            f"{weight}{'' if is_chosen else _NOT_CHOSEN}"
            for weight, is_chosen in zip(self.weights, self.chosen, strict=True)
        )
        order = self.order or BY_WORDS
        return cursor_of(order, self.newest, weights, *numbers, place.id, place.topic)


def position_of(cursor: str, terms: int) -> Position:
    """Returns the content of a cursor, for a query with this many loose terms. Raises
    InvalidInputError for the cursor of another search."""
    order, newest, weights, is_whole, score, entry_id, topic = cursor_parts(
        cursor, _PARTS, "a search"
    )
    listed = [weight for weight in weights.split("-") if weight]
    numbers = [weight.removesuffix(_NOT_CHOSEN) for weight in listed]
    if (
        order not in {LISTED, BY_WORDS, BY_MEANING}
        or is_whole not in {"0", "1"}
        or len(listed) not in {0, terms}
        or not all(
            number.isascii() and number.isdecimal() and len(number) < _MOST_DIGITS
            for number in (score, *numbers)
        )
    ):
        raise InvalidInputError(
            f"{cursor!r} is not a cursor of a search.",
            "Use the cursor of the previous page, or none to start.",
        )
    place = ResultPlace(is_whole == "1", int(score), entry_id, topic)
    chosen = tuple(map(str.isdecimal, listed))
    return Position(order, place, newest, tuple(map(int, numbers)), chosen)


class Result(NamedTuple):
    """The ``places`` of all entries of a result in order; of one in the engine's order,
    of those that follow the cursor. ``topics`` counts them by thread.

    ``entries`` has those that were read, by topic and id, and ``counts`` the values of
    the others. ``candidates`` counts the entries with some of the words; the result has
    the best of these. ``near`` are the entries without any of the words but with a
    similar meaning; ``by_words`` is why there can be none.
    """

    places: list[ResultPlace]
    position: Position
    topics: dict[str, int]
    entries: dict[EntryName, Numbered]
    unreadable: tuple[str, ...] = ()
    is_more: bool = False
    counts: Counts = NO_COUNTS
    candidates: int = 0
    near: Collection[EntryName] = ()
    by_words: str = ""


class Ranking:
    """Makes one ranked result of an engine. ``text`` is the query in full."""

    def __init__(
        self,
        engine: SearchEngine,
        criteria: Filter,
        query: SearchQuery,
        text: str,
        position: Position,
    ) -> None:
        self._engine = engine
        self._criteria = criteria
        self._query = query
        self._text = text
        self._position = position
        self._entries: dict[EntryName, Numbered] = {}
        # The ids of the entries that were compared.
        self._compared = [""]
        self._near: set[EntryName] = set()
        self._by_words = ""

    def result(self, whole: Matches | None, *, loosely: bool) -> Result:
        """Returns the result. ``whole``: all matches with every word, or ``None`` if
        entries with any word are requested. ``loosely``: entries with some of the words
        may follow. Raises InvalidInputError if the cursor's order depends on meaning
        that is no longer available."""
        query = self._query
        terms = loose_terms(query.terms)
        scored: list[Match] = []
        unreadable: tuple[str, ...] = ()
        if whole is not None:
            weights = even_weights(query.terms)
            scored = self._scored(whole.best, query.terms, weights)
            unreadable = whole.unreadable
            needed = {*terms, *required_terms(query.terms)}
            is_other_query = len(terms) > 1 or needed != {*query.terms}
            loosely = loosely and len(scored) < HANDFUL and is_other_query
        places = [ResultPlace(True, *match) for match in scored]
        candidates = Matches([], {}, unreadable=unreadable)
        if loosely and terms:
            candidates = self._candidates(terms)
            partial = self._partial(terms, candidates, scored)
            most = None if whole is None else SUGGESTED
            places += [ResultPlace(False, *match) for match in partial[:most]]
        self._compared += [place.id for place in places]
        newest = self._position.newest or max(self._compared)
        return Result(
            places,
            self._position._replace(newest=newest),
            topic_counts(place.topic for place in places),
            self._entries,
            candidates.unreadable,
            candidates=candidates.total,
            near=self._near,
            by_words=self._by_words,
        )

    def _candidates(self, terms: tuple[Term, ...]) -> Matches:
        """The best entries with some of the words. The position gets the weights of
        these, unless it has them from the first page."""
        query, position = self._query, self._position
        loose = LooseQuery(
            terms,
            required_terms(query.terms),
            query.about,
            RANKED if query.by_title else 0,
            position.newest,
        )
        if not position.weights:
            threads, counts = self._engine.counts(self._criteria, loose)
            position = position._replace(
                weights=term_weights(counts, threads), chosen=chosen_terms(counts)
            )
            self._position = position
        chosen = tuple(map(int.__mul__, position.weights, map(int, position.chosen)))
        loose = loose._replace(weights=chosen)
        return self._engine.candidates(self._criteria, loose)

    def _partial(
        self, terms: tuple[Term, ...], candidates: Matches, whole: Iterable[Match]
    ) -> list[Match]:
        """The entries with some of the words and those near the query, in order,
        without those with every word."""
        position, query = self._position, self._query
        done = {(match.topic, match.id) for match in whole}
        partial = [
            match for match in candidates.best if (match.topic, match.id) not in done
        ]
        self._compared += [match.id for match in candidates.best]
        scored = self._scored(partial, terms, position.weights)
        if not query.by_title or len(terms) < _LEAST_TERMS:
            return scored
        # Scores of words and mixed ones cannot be compared: later pages are like the
        # first, whether or not there is a model by now.
        if position.place is None or position.order == BY_MEANING:
            nearness = self._nearness()
            self._by_words = nearness.problem
            if nearness.scores:
                self._position = position._replace(order=BY_MEANING)
                return self._mixed(scored, nearness, done)
            if position.order == BY_MEANING:
                raise _without_meaning(nearness.problem)
        return scored

    def _scored(
        self, matches: Iterable[Match], terms: Sequence[Term], weights: Sequence[int]
    ) -> list[Match]:
        """Returns matches with their scores, in order: by score, or newest first."""
        engine, scored = self._engine, []
        for match in matches:
            try:
                numbered = engine.entry(match.topic, match.id)
                thread = engine.thread_words(match.topic)
            except WcError:
                continue  # replaced since it was found, so no longer a match
            score = 0
            if self._query.by_title:
                text = SearchedText(numbered.entry, thread)
                score = text.exact_score(terms, weights)
            self._entries[match.topic, match.id] = numbered
            scored.append(match._replace(rank=score))
        scored.sort(reverse=True)
        return scored

    def _nearness(self) -> Nearness:
        meaning = self._engine.meaning
        # A word in a field is not natural language.
        if meaning is None or any(term.field for term in self._query.terms):
            return Nearness({})
        return meaning.nearest(self._text, self._topics, self._position.newest)

    def _topics(self) -> list[str]:
        return self._engine.overview.topics(self._criteria)

    def _mixed(
        self, scored: Iterable[Match], nearness: Nearness, done: set[EntryName]
    ) -> list[Match]:
        """Returns entries scored by their words and those near the query, except those
        already ``done``; only with the requested mentions."""
        by_words = {(match.topic, match.id): float(match.rank) for match in scored}
        # From the weights alone, so that the order is the same on each page.
        whole = whole_score(self._position.weights)
        scores = mixed(by_words, nearness.scores, nearness.floor, whole)
        least = _LEAST_NEAR * max(nearness.scores.values())
        best: list[Match] = []
        for name in sorted(scores, key=lambda name: (-scores[name], name[1], name[0])):
            if name in done:
                continue
            if name not in by_words:
                is_near = nearness.scores[name] >= least
                if len(self._near) >= _MOST_NEAR or not is_near:
                    continue
                numbered = self._near_entry(name, nearness)
                if numbered is None:
                    continue
                self._entries[name] = numbered
                self._near.add(name)
            topic, entry_id = name
            best.append(Match(round(scores[name] * _SCALE), entry_id, topic))
        best.sort(reverse=True)
        self._compared += [entry_id for _, entry_id in nearness.scores]
        return best

    def _near_entry(self, name: EntryName, nearness: Nearness) -> Numbered | None:
        """The entry, if its text is still the one that was scored and it mentions what
        the query requires."""
        try:
            numbered = self._engine.entry(*name)
        except WcError:
            return None  # removed since its vector was made
        if not nearness.is_current(name[0], numbered.entry):
            return None
        mentions = self._query._replace(terms=())
        return numbered if mentions.rank(numbered.entry) is not None else None


def _without_meaning(problem: str) -> InvalidInputError:
    """Returns the error for a cursor whose order cannot be computed again."""
    return InvalidInputError(
        "The cursor's result was ordered by meaning, which is not available now"
        f"{problem and f': {problem}'}.",
        "Search again without a cursor.",
    )

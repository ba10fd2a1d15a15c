"""Threads about the same subject as a given one, by their words."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.lookup.search import words
from wc_core.lookup.search.ranking import (
    STEM_LENGTH,
    SearchedText,
    is_stop_word,
    stem,
    whole_score,
)
from wc_core.lookup.search.words import Term
from wc_core.reading.views.excerpts.spans import SpanQuery, thread_span
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.loose import LooseQuery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.search.query import Engine

# The most words of a thread that are searched in others, and how many of them are
# shown.
_TERMS, _REASONS = 24, 5
# How many of a thread's entries count: a long thread is about what was said last.
_LAST = 500
# The most entries that are examined, and how many of one thread count.
_ENTRIES, _BEST = 100, 3
# On real threads, those about the same subject reach 0.6, and the nearest of the others
# at most 0.5.
_CLOSE = 0.55
# A word of a title weighs as much as this many in a body.
_TITLE = 5


class SimilarThread(NamedTuple):
    """A thread, its nearness (greater is nearer), and the words that it shares, the
    most significant first. ``share`` compares its best entry with one that has
    every word searched for once: about 1 if it is about the same."""

    row: ThreadRow
    score: int
    words: tuple[str, ...]
    share: float = 0.0

    @property
    def is_close(self) -> bool:
        """Whether it is worth showing to someone who did not ask for related threads:
        one word in common is chance, and so are few of many."""
        return len(self.words) > 1 and self.share >= _CLOSE

    def to_json(self) -> dict[str, Any]:
        """Returns the thread in the list shape, with its score and words."""
        return {**self.row.to_json(), "score": self.score, "words": list(self.words)}


def related_threads(
    engine: Engine, overview: Overview, topic: str, limit: int
) -> list[SimilarThread]:
    """Returns at most ``limit`` other threads (0: all), the nearest first. Raises
    WcError if the thread cannot be read."""
    forms = most_used_words(overview, topic)
    return threads_with(engine, overview, forms, topic)[: limit or None]


def threads_with(
    engine: Engine, overview: Overview, forms: Mapping[str, str], without: str = ""
) -> list[SimilarThread]:
    """Returns the threads of a store that use these words, from `most_used_words`, the
    nearest first; all but the one whose topic is ``without``."""
    terms = tuple(Term((word,)) for word in forms)
    topics = [name for name in overview.reader.topics() if name != without]
    if not terms or not topics:
        return []
    loose = engine.loose_matches(topics, LooseQuery(terms, limit=_ENTRIES))
    scores: dict[str, list[int]] = {}
    weights: dict[str, dict[str, int]] = {}
    for match in loose.best:
        try:
            entry = engine.entry(match.topic, match.id).entry
            thread = engine.thread_words(match.topic)
        except WcError:
            continue  # replaced since it was found
        text = SearchedText(entry, thread)
        score = text.exact_score(terms, loose.weights)
        scores.setdefault(match.topic, []).append(score)
        shared = weights.setdefault(match.topic, {})
        for term, place, weight in zip(
            terms, text.places(terms), loose.weights, strict=True
        ):
            if place:
                shared[forms[term.words[0]]] = weight
    nearness = {
        topic: sum(sorted(thread_scores, reverse=True)[:_BEST])
        for topic, thread_scores in scores.items()
    }
    rows = overview.matching(Filter(topics=frozenset(nearness)))
    whole = whole_score(loose.weights)
    threads = [
        SimilarThread(
            row,
            nearness[row.topic],
            _heaviest(weights[row.topic]),
            max(scores[row.topic]) / whole,
        )
        for row in rows
    ]
    # `rows` begins with the latest move, which stays first among equals.
    threads.sort(key=lambda thread: thread.score, reverse=True)
    return threads


def _heaviest(weights: Mapping[str, int]) -> tuple[str, ...]:
    by_weight = sorted(weights, key=lambda word: (-weights[word], word))
    return tuple(by_weight[:_REASONS])


def most_used_words(overview: Overview, topic: str) -> dict[str, str]:
    """Returns the stems that a thread uses most in its title and its last entries, each
    with one of its forms. Raises WcError if the thread cannot be read."""
    query = SpanQuery(start=-_LAST)
    span = thread_span(overview.reader, topic, query, overview.viewer)
    weights: dict[str, int] = {}

    def add_words(text: str, weight: int) -> None:
        for word in words.plain_words(text).split():
            weights[word] = weights.get(word, 0) + weight

    add_words(span.thread.state.title, _TITLE)
    for item in span.entries:
        if not item.retracted:
            add_words(item.entry.title, _TITLE)
            add_words(item.entry.body, 1)
    counts: dict[str, int] = {}
    forms: dict[str, str] = {}
    # Stem each word once: a long thread repeats most of its words.
    for word in filter(_is_significant, weights):
        beginning = stem(word)
        counts[beginning] = counts.get(beginning, 0) + weights[word]
        forms.setdefault(beginning, word)
    most_used = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: forms[word] for word in most_used[:_TERMS]}


def significant_words(text: str) -> Iterable[str]:
    """Returns the words of a text that indicate its subject: no stop words, numbers or
    short words."""
    return filter(_is_significant, words.plain_words(text).split())


def _is_significant(word: str) -> bool:
    return not is_stop_word(word) and not word.isdecimal() and len(word) >= STEM_LENGTH

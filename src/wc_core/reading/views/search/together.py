"""Several stores that are searched as if they were one.

The topic of a thread is its store's key and its own topic, so everything else works as
in one store: matches, order, meaning, cursors.
"""

from __future__ import annotations

from wc_core.lookup.nearness import Nearness
from wc_core.reading.views.search.query import (
    joined_counts,
    merged,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.lookup.nearness import EntryName
    from wc_core.lookup.threadwords import ThreadWords
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.rows import Filter, ThreadRow
    from wc_core.reading.views.search.query import (
        LooseQuery,
        Match,
        Matches,
        SearchEngine,
        SearchQuery,
        TermCounts,
    )

# Separates a store's key from a topic; occurs in neither.
_BETWEEN = "\x1f"
# Sorts after every topic.
_LAST = "\U0010ffff"


class Together:
    """An engine for several stores: those of the ``parts``, by their keys, whose order
    decides between equal entries. It is its own overview and source of meaning."""

    def __init__(self, parts: Mapping[str, SearchEngine]) -> None:
        self._parts = parts

    @property
    def overview(self) -> Together:
        """The threads of all stores."""
        return self

    @property
    def meaning(self) -> Together:
        """What the stores know more than words."""
        return self

    @staticmethod
    def store_of(topic: str) -> str:
        """Returns the key of a thread's store."""
        return topic.partition(_BETWEEN)[0]

    # The threads.

    @property
    def viewer(self) -> Viewer:
        """The viewer, in the first of the stores."""
        return next(iter(self._parts.values())).overview.viewer

    def topics(self, criteria: Filter) -> list[str]:
        """Like `Overview.topics`."""
        return [
            _joined(key, topic)
            for key, part in self._parts.items()
            for topic in part.overview.topics(criteria)
        ]

    def names(self, topics: Collection[str]) -> dict[str, str]:
        """Like `Overview.names`."""
        return {
            _joined(key, topic): name
            for key, own in _by_store(topics).items()
            for topic, name in self._parts[key].overview.names(own).items()
        }

    def matching(self, criteria: Filter) -> list[ThreadRow]:
        """Like `Overview.matching`."""
        chosen = None if criteria.topics is None else _by_store(criteria.topics)
        rows = []
        for key, part in self._parts.items():
            own = criteria
            if chosen is not None:
                own = criteria._replace(topics=frozenset(chosen.get(key, ())))
            rows += [
                row._replace(topic=_joined(key, row.topic))
                for row in part.overview.matching(own)
            ]
        return rows

    # The matching entries.

    def matches(self, criteria: Filter, query: SearchQuery) -> Matches:
        """Like `SearchEngine.matches`."""
        parts = []
        for key, part in self._parts.items():
            behind = query.behind and _in_store(query.behind, key)
            own_query = query._replace(behind=behind, unranked=0)
            parts.append(_placed(key, part.matches(criteria, own_query)))
        return merged(parts, query.limit and query.limit + 1)

    def counts(self, criteria: Filter, query: LooseQuery) -> TermCounts:
        """Like `SearchEngine.counts`: the rarity of a term is counted in all stores."""
        parts = (part.counts(criteria, query) for part in self._parts.values())
        return joined_counts(parts, query)

    def candidates(self, criteria: Filter, query: LooseQuery) -> Matches:
        """Like `SearchEngine.candidates`."""
        parts = (
            _placed(key, part.candidates(criteria, query))
            for key, part in self._parts.items()
        )
        return merged(parts, query.limit)

    def entry(self, topic: str, entry_id: str) -> Numbered:
        """Like `SearchEngine.entry`."""
        key, own = _split(topic)
        return self._parts[key].entry(own, entry_id)

    def thread_words(self, topic: str) -> ThreadWords:
        """Like `SearchEngine.thread_words`."""
        key, own = _split(topic)
        return self._parts[key].thread_words(own)

    def nearest(
        self, query: str, topics: Callable[[], Sequence[str]], newest: str
    ) -> Nearness:
        """Like `MeaningSource.nearest`. It has a problem only if every store has
        one."""
        by_key = {
            key: meaning.nearest(query, own.copy, newest)
            for key, own in _by_store(topics()).items()
            if (meaning := self._parts[key].meaning) is not None
        }
        scores: dict[EntryName, float] = {
            (_joined(key, topic), entry_id): score
            for key, nearness in by_key.items()
            for (topic, entry_id), score in nearness.scores.items()
        }

        def is_current(topic: str, entry: Entry) -> bool:
            key, own = _split(topic)
            return by_key[key].is_current(own, entry)

        problems = [nearness.problem for nearness in by_key.values()]
        return Nearness(
            scores,
            max((nearness.floor for nearness in by_key.values()), default=0.0),
            is_current,
            sum(nearness.missing for nearness in by_key.values()),
            "" if scores else next(filter(None, problems), ""),
        )


def own_topic(topic: str) -> str:
    """Returns a thread's topic in its own store."""
    return _split(topic)[1]


def _joined(key: str, topic: str) -> str:
    return f"{key}{_BETWEEN}{topic}"


def _split(topic: str) -> tuple[str, str]:
    key, _, own = topic.partition(_BETWEEN)
    return key, own


def _by_store(topics: Iterable[str]) -> dict[str, list[str]]:
    by_store: dict[str, list[str]] = {}
    for topic in topics:
        key, own = _split(topic)
        by_store.setdefault(key, []).append(own)
    return by_store


def _placed(key: str, matches: Matches) -> Matches:
    """The matches in a store, with its key."""
    return matches._replace(
        best=[
            match._replace(topic=_joined(key, match.topic)) for match in matches.best
        ],
        topics={_joined(key, topic): count for topic, count in matches.topics.items()},
        unreadable=tuple(_joined(key, topic) for topic in matches.unreadable),
    )


def _in_store(match: Match, key: str) -> Match:
    """The match in one store after which exactly those matches come that come after
    this match."""
    own_key, topic = _split(match.topic)
    if key == own_key:
        return match._replace(topic=topic)
    return match._replace(topic="" if key > own_key else _LAST)

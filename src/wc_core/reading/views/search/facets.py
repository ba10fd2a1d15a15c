"""Facets: how many hits each value of a filter would leave."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.lookup.words import plain_words
from wc_core.reading.views.rows import Filter, filter_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from wc_core.ledger.threads.model import Entry
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.rows import ThreadRow

    # How many entries have each value, by the name of the facet.
    Counts = Mapping[str, Mapping[str, int]]

NAMES = ("status", "ball", "author", "kind", "tag", "branch", "file")
# The value of a free ball, as in a filter.
FREE_BALL = "anyone"
# The most values per facet in an answer.
MOST_VALUES = 20
NO_COUNTS: dict[str, dict[str, int]] = {}


class Facet(NamedTuple):
    """The values of one filter, and how many hits have each, most first. Answers show
    the first `MOST_VALUES` of them."""

    name: str
    values: tuple[tuple[str, int], ...]

    def to_json(self) -> list[dict[str, Any]]:
        """Returns the values and their counts."""
        return [{"value": value, "hits": count} for value, count in self.values]


def entry_values(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yields an entry's values, each after the name of its facet. Its files are the
    recorded ones."""
    yield from indexed_values(entry.agent, entry.any_kind, entry.code_branch)
    for path in dict.fromkeys(entry.file_refs):
        yield "file", path


def indexed_values(author: str, kind: str, branch: str) -> Iterator[tuple[str, str]]:
    """Yields those of the values that the index also has."""
    yield "author", author
    yield "kind", kind
    yield "branch", branch


def counted(values: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Returns how often each value occurs, by facet."""
    counts: dict[str, dict[str, int]] = {}
    for name, value in values:
        if value:
            of_name = counts.setdefault(name, {})
            of_name[value] = of_name.get(value, 0) + 1
    return counts


def added(first: Counts, second: Counts) -> Counts:
    """Returns the sums of two counts."""
    if not first or not second:
        return first or second
    sums = {name: {**values} for name, values in first.items()}
    for name, values in second.items():
        of_name = sums.setdefault(name, {})
        for value, count in values.items():
            of_name[value] = of_name.get(value, 0) + count
    return sums


def facets(
    counts: Counts,
    rows: Sequence[ThreadRow],
    viewer: Viewer,
    topics: Mapping[str, int],
) -> tuple[Facet, ...]:
    """Returns the facets of hits: the ``counts`` of their entries, and the values of
    their threads, the ``rows``. ``topics`` has the number of hits in each thread."""
    of_threads: dict[str, dict[str, int]] = {}
    for row in rows:
        for name, value in (("status", row.status), *(("tag", t) for t in row.tags)):
            of_name = of_threads.setdefault(name, {})
            of_name[value] = of_name.get(value, 0) + topics[row.topic]
    for value in {row.ball or FREE_BALL for row in rows}:
        # One name may stand for several.
        held = filter_rows(rows, Filter(ball=value), viewer)
        hits = sum(topics[row.topic] for row in held)
        of_threads.setdefault("ball", {})[value] = hits
    sums = added(counts, of_threads)
    if authors := sums.get("author"):
        sums = {**sums, "author": _by_author(authors)}
    return tuple(
        Facet(name, tuple(sorted(sums[name].items(), key=_most_first)[:MOST_VALUES]))
        for name in NAMES
        if sums.get(name)
    )


def _by_author(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns how many entries each name finds: those whose authors have its words."""
    words = {name: frozenset(plain_words(name).split()) for name in counts}
    return {
        name: sum(counts[other] for other in counts if words[name] <= words[other])
        for name in counts
    }


def _most_first(value_count: tuple[str, int]) -> tuple[int, str]:
    return -value_count[1], value_count[0]

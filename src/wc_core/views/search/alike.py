"""Is there a thread like one that is being created? By topics and titles alone."""

from __future__ import annotations

from wc_core.search.ranking import stem
from wc_core.search.words import Term
from wc_core.views.rows import Filter
from wc_core.views.search.related import telling_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.views.overview import Overview
    from wc_core.views.rows import ThreadRow

# Up to so many threads are all looked at. Of more, those that the index finds.
_FEW = 100
_CANDIDATES = 20
_LEAST = 2


def similar_thread(overview: Overview, topic: str, title: str) -> ThreadRow | None:
    """Returns the thread whose topic and title have most words of these two, if they
    have at least two, and at least half of them."""
    stems = _stems(topic, title)
    if len(stems) < _LEAST:
        return None
    topics = [name for name in overview.reader.topics() if name != topic]
    if len(topics) > _FEW:
        topics = _with_words(overview, stems, topic)
    best, most = None, max(_LEAST - 1, (len(stems) - 1) // 2)
    for row in overview.matching(Filter(topics=frozenset(topics))):
        shared = len(stems & _stems(row.name, row.title))
        if shared > most:
            best, most = row, shared
    return best


def _stems(topic: str, title: str) -> set[str]:
    return {stem(word) for word in telling_words(f"{topic} {title}")}


def _with_words(overview: Overview, stems: Iterable[str], topic: str) -> list[str]:
    """Returns the threads in the index with most of the words in their topic or an
    entry's title. It need not be up to date: the threads are read afterwards."""
    from wc_core.index import entries as entryfile  # 9 ms (sqlite3), for large stores

    shared: dict[int, int] = {}
    try:
        file = entryfile.EntryFile(overview.reader.layout)
        names = {thread.number: name for name, thread in file.threads().items()}
        for word in stems:
            expression = entryfile.prominent_expression(Term((word,)))
            for number, _ in file.counts(expression):
                shared[number] = shared.get(number, 0) + 1
    except entryfile.UnusableIndexError:
        return []
    numbers = [number for number in shared if names.get(number, topic) != topic]
    numbers.sort(key=shared.__getitem__, reverse=True)
    return [names[number] for number in numbers[:_CANDIDATES]]

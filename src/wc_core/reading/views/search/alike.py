"""Finds a thread similar to one being created, only by topics and titles."""

from __future__ import annotations

from wc_core.lookup.index.overview import read_records
from wc_core.lookup.search import words
from wc_core.lookup.search.ranking import stem
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.related import significant_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.rows import ThreadRow

# Up to this many threads are all compared. With more, only those whose index records
# have the words: that takes 25 ms for 10,000, however many entries they have.
_FEW = 100
_CANDIDATES = 20
_LEAST = 2


def similar_thread(overview: Overview, topic: str, title: str) -> ThreadRow | None:
    """Returns the thread whose topic and title have most of these words, if they have
    at least two, and at least half of them."""
    stems = _stems(topic, title)
    if len(stems) < _LEAST:
        return None
    records = read_records(overview.reader.layout)
    if len(records) > _FEW:
        topics = _with_words(records, stems, topic)
    else:
        topics = [name for name in overview.reader.topics() if name != topic]
        if len(topics) > _FEW:
            return None  # without the index there are too many logs to read
    best, most = None, max(_LEAST - 1, (len(stems) - 1) // 2)
    for row in overview.matching(Filter(topics=frozenset(topics))):
        shared = len(stems & _stems(row.name, row.title))
        if shared > most:
            best, most = row, shared
    return best


def _stems(topic: str, title: str) -> set[str]:
    return {stem(word) for word in significant_words(f"{topic} {title}")}


def _with_words(
    records: Mapping[str, str], stems: Iterable[str], topic: str
) -> list[str]:
    """Returns the threads with most of the words in their index records. The records
    may be outdated: the threads are read afterwards."""
    shared: dict[str, int] = {}
    for name, record in records.items():
        text = words.fold_text(f"{name} {record}")
        count = sum(word in text for word in stems)
        if count >= _LEAST and name != topic:
            shared[name] = count
    return sorted(shared, key=shared.__getitem__, reverse=True)[:_CANDIDATES]

"""Determines which words are common in a store."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import Entry
from wc_core.lookup.search.words import plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from wc_core.ledger.threads.reader import StoreReader

    Item = TypeVar("Item")

# With fewer entries, a phrase of the most common words is found in 4 ms of CPU time, so
# pairs are not worth their space.
LARGE = 20_000
# A word is common if at least one entry in this many has it. Positions of any other
# word are read in a quarter of the time, and pairs of these would be many.
_ONE_IN = 4
# Long entries of a few authors share hundreds of words.
_MOST_WORDS = 200
# How many threads are read, and how many entries of each: enough to estimate the share
# of entries with a word to a few percent.
_THREADS, _ENTRIES_OF_THREAD = 100, 10


def common_words(reader: StoreReader, large: int = LARGE) -> list[str]:
    """Return the most common words of the titles and bodies in a sample of the entries,
    the most common first; none if the store has less than about ``large`` entries."""
    topics = reader.topics()
    sampled_topics = _evenly(topics, _THREADS)
    entries, sample = 0, list[Entry]()
    for topic in sampled_topics:
        # Searches report logs that cannot be read.
        with contextlib.suppress(WcError):
            lines = (reader.log_bytes(topic) or b"").splitlines()
            entries += len(lines)
            parsed = (
                codec.read_line(topic, line)
                for line in _evenly(lines, _ENTRIES_OF_THREAD)
            )
            sample += (entry for entry in parsed if isinstance(entry, Entry))
    if entries * len(topics) < large * len(sampled_topics):
        return []
    counts: dict[str, int] = {}
    for entry in sample:
        for word in {*plain_words(f"{entry.title}\n{entry.body}").split()}:
            counts[word] = counts.get(word, 0) + 1
    common = sorted(
        word for word, count in counts.items() if count * _ONE_IN >= len(sample)
    )
    common.sort(key=counts.__getitem__, reverse=True)
    return common[:_MOST_WORDS]


def _evenly(items: Sequence[Item], most: int) -> Sequence[Item]:
    """Return up to so many of the items, at equal distances."""
    return items[:: -(-len(items) // most) or 1]

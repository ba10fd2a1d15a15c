"""Which threads stay in memory, and how many entries they have at most."""

from __future__ import annotations

from wc_core.ledger.threads import model
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.reader import Thread
from wc_core.ledger.threads.snapshot import Snapshot
from wc_observe.stores.live.filestamps import Stamp
from wc_observe.stores.live.reader import (
    MOST_BYTES,
    MOST_ENTRIES,
    CachedThread,
    ThreadCache,
)

HALF = MOST_ENTRIES // 2


def cached(length: int, data: bytes = b"") -> CachedThread:
    """A thread with so many entries."""
    entry = Entry("1", "t", "a", "")
    snapshot = Snapshot(model.initial_state("t"), 0, fresh=False)
    thread = Thread(snapshot, (entry,) * length, data=data)
    return CachedThread(Stamp(), Stamp(), thread)


def test_the_thread_put_longest_ago_is_dropped_first() -> None:
    cache = ThreadCache()
    for topic in ("one", "two", "one", "three"):
        cache.put(topic, cached(HALF))
    assert [topic for topic in ("one", "two", "three") if cache.get(topic)] == [
        "one",
        "three",
    ]


def test_entries_are_counted_whatever_happens() -> None:
    cache = ThreadCache()
    for _ in range(3):  # replaced
        cache.put("one", cached(HALF))
    for _ in range(3):  # taken out
        cache.put("two", cached(HALF))
        assert cache.pop("two")
    assert cache.pop("two") is None
    cache.put("three", cached(HALF))
    assert cache.get("one")
    cache.clear()
    cache.put("one", cached(HALF))
    cache.put("two", cached(HALF))
    assert cache.get("one")
    assert cache.get("two")


def test_a_thread_with_too_many_entries_is_not_kept() -> None:
    cache = ThreadCache()
    cache.put("long", cached(MOST_ENTRIES + 1))
    assert cache.get("long") is None
    cache.put("one", cached(MOST_ENTRIES))
    assert cache.get("one")


def test_few_entries_may_be_too_many_bytes() -> None:
    data = bytes(MOST_BYTES // 2)
    cache = ThreadCache()
    for topic in ("one", "two", "two", "three"):
        cache.put(topic, cached(1, data))
    assert [topic for topic in ("one", "two", "three") if cache.get(topic)] == [
        "two",
        "three",
    ]
    cache.pop("two")
    cache.put("four", cached(1, data))
    assert cache.get("three")
    cache.put("large", cached(1, bytes(MOST_BYTES + 1)))
    assert cache.get("large") is None

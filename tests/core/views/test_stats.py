"""A store in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import AGENTS, NOON_MS, chain, entry, viewer, write_thread
from wc_core.ledger.threads.model import Ball
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views import stats as figures
from wc_core.reading.views.stats import (
    RECENT_THREADS,
    StoreStats,
    store_stats,
)

if TYPE_CHECKING:
    from pathlib import Path

    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import Thread

A, B, C = AGENTS
HOUR_MS = 3600 * 1000


class Counting(StoreReader):
    """A reader that remembers whose log it read."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.read: list[str] = []

    def thread(self, topic: str) -> Thread:
        self.read.append(topic)
        return super().thread(topic)


def bouncing(start: int, *holders: str | None, title: str = "") -> list[Entry]:
    """An entry a minute, by whoever had the ball; ``start`` in minutes."""
    by = [A, *holders]
    return chain(
        *(
            entry((start + i) * 60, by[i] or A, ball=Ball(one), title=title)
            for i, one in enumerate(holders)
        )
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_thread(tmp_path, "old", bouncing(0, B), meta=True)
    write_thread(tmp_path, "ping", bouncing(1, A, B, A, B), meta=True)
    write_thread(tmp_path, "free", bouncing(10, A, None), meta=True)
    closed = [*bouncing(12, A), entry(800, A, ball=Ball(None), status="CLOSED")]
    write_thread(tmp_path, "closed", chain(*closed), meta=True)
    write_thread(tmp_path, "fresh", bouncing(50, "claude (PAT)"))
    return tmp_path


def found(root: Path, stale_ms: int = 30 * 60_000) -> StoreStats:
    reader = StoreReader(str(root))
    return store_stats(reader, viewer(), NOON_MS + HOUR_MS, stale_ms)


def test_only_the_logs_of_the_latest_threads_are_read(tmp_path: Path) -> None:
    for number in range(RECENT_THREADS + 3):
        write_thread(tmp_path, f"t{number}", bouncing(number, A), meta=True)
    reader = Counting(str(tmp_path))
    told = store_stats(reader, viewer(), NOON_MS, HOUR_MS)
    assert (told.total, told.recent.threads) == (RECENT_THREADS + 3, RECENT_THREADS)
    assert len(reader.read) == RECENT_THREADS
    assert not {"t0", "t1", "t2"} & set(reader.read)


def test_a_log_that_is_too_long_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_thread(tmp_path, "short", bouncing(0, A), meta=True)
    write_thread(tmp_path, "long", bouncing(1, A, B, A), meta=True)
    monkeypatch.setattr(figures, "RECENT_ENTRIES", 2)
    told = found(tmp_path)
    assert (told.recent.threads, told.recent.entries) == (1, 1)
    assert told.busiest[0].entry_count == 3

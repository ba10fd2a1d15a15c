"""A store in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import AGENTS, NOON_MS, chain, entry, viewer, write_thread
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads.model import Ball
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views import stats as figures
from wc_core.reading.views.stats import (
    RECENT_THREADS,
    StoreStats,
    stale_after_ms,
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


def test_the_figures_of_a_store(root: Path) -> None:
    told = found(root)
    assert told.by_status == {"OPEN": 4, "CLOSED": 1}
    assert [(one.holder, one.threads, one.topic) for one in told.piles] == [
        ("claude (PAT)", 3, "old"),
        (None, 1, "free"),
    ]
    assert [one.topic for one in told.stale] == ["old", "ping"]
    assert [one.topic for one in told.busiest][:3] == ["ping", "closed", "free"]
    assert (told.recent.threads, told.recent.entries) == (5, 10)
    assert told.recent.authors == ((A, 9), (B, 1))
    ((topic, bounced),) = told.recent.bounces
    assert (topic, bounced.bounces, bounced.changes) == ("ping", 2, 3)


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


def test_a_thread_that_cannot_be_read_spoils_no_figure(root: Path) -> None:
    log = root / "graph/baseline/threads/old/entries.jsonl"
    log.unlink()
    log.mkdir()
    told = found(root)
    assert (told.total, told.unreadable) == (5, ("old",))
    assert told.to_json("S")["unreadable"] == ["old"]
    assert [one.topic for one in told.stale] == ["ping"]


def test_lists_are_cut_and_say_so(root: Path) -> None:
    told = found(root)
    short = told.to_json("S", 1)
    assert short["truncated"]
    assert [len(short[one]) for one in ("balls", "stale", "busiest")] == [1, 1, 1]
    assert short["stale_total"] == 2
    assert [len(short["recent"][one]) for one in ("authors", "bounces")] == [1, 1]
    assert "truncated" not in told.to_json("S", 5)
    assert told.to_json("S") == told.to_json("S", 5)


def test_an_empty_store(tmp_path: Path) -> None:
    told = found(tmp_path)
    assert told == StoreStats(NOON_MS + HOUR_MS)
    assert told.to_json("S", 20)["threads"] == {"total": 0, "by_status": {}}


@pytest.mark.parametrize(
    ("text", "ms"), [("2d", 48 * HOUR_MS), (" 90M ", 90 * 60_000), ("0s", 0)]
)
def test_how_long_a_ball_may_lie(text: str, ms: int) -> None:
    assert stale_after_ms(text) == ms


@pytest.mark.parametrize("text", ["", "2", "d", "2 days", "-1d", "1234567890d", "²d"])
def test_the_error_for_a_bad_duration_says_what_is_allowed(text: str) -> None:
    with pytest.raises(InvalidInputError) as told:
        stale_after_ms(text)
    assert "2d" in told.value.hint

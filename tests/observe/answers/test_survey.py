"""Health of a store that is too large to be read at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.core.strategies import viewer
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.overview import Overview
from wc_observe.answers.health import survey

if TYPE_CHECKING:
    from tests.observe.stores import Store


def test_logs_are_read_in_full_as_long_as_the_time_lasts(store: Store) -> None:
    for topic in ("one", "two", "three"):
        store.thread(topic)
    with Path(store.layout.log("two")).open("ab") as log:
        log.write(b"not JSON\n")
    overview = Overview(StoreReader(str(store.root)), viewer())
    short = survey(overview, 0.0)
    assert (short.by_status, short.examined) == ({"OPEN": 3}, 0)
    whole = survey(overview, 60.0)
    assert (whole.total, whole.examined) == (3, 3)
    assert list(whole.damaged) == ["two"]


def test_a_thread_that_cannot_be_read_is_damaged_at_once(store: Store) -> None:
    Path(store.layout.log("one")).mkdir(parents=True)
    found = survey(Overview(StoreReader(str(store.root)), viewer()), 0.0)
    assert (found.by_status, found.examined) == ({"?": 1}, 1)
    assert "not a regular file" in found.damaged["one"]

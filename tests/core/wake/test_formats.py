"""The files about waking come back as they were written, and nothing breaks readers."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import texts
from wc_core.attention.wake import records, waiters
from wc_core.attention.wake.records import WakeRecord
from wc_core.attention.wake.waiters import Waiter
from wc_core.base.layout import Layout
from wc_core.ledger.git.private import private_layout

if TYPE_CHECKING:
    from collections.abc import Callable

numbers = st.integers(0, 2**53)
some_waiters = st.builds(
    Waiter,
    *(texts, texts, texts),
    st.lists(texts, max_size=4).map(tuple),
    texts,
    *(numbers, numbers, texts, numbers, st.booleans()),
    st.lists(texts, max_size=3).map(tuple),
)
some_records = st.builds(
    WakeRecord,
    *(texts, texts, texts, texts, numbers),
    is_stranger=st.booleans(),
    turn_ms=numbers,
    failure=texts,
)


def kept(folder: str, data: bytes, read: Callable[[Layout], object]) -> object:
    """What is read of a file with these bytes, by whatever name."""
    with TemporaryDirectory() as root:
        layout = Layout(root)
        file = Path(private_layout(layout).local, folder, "name")
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
        return read(layout)


@given(some_waiters)
def test_a_waiter_comes_back(waiter: Waiter) -> None:
    data = waiter.to_bytes()
    assert kept("waiters", data, lambda layout: waiters.load(layout, "name")) == waiter


@given(some_records)
def test_a_record_comes_back(record: WakeRecord) -> None:
    data = record.to_bytes()
    assert kept("wakes", data, lambda layout: records.load(layout, "name")) == record


@given(st.binary(max_size=200) | st.sampled_from([b"[1]", b"{}", b'{"version": 2}']))
def test_other_bytes_are_nothing(data: bytes) -> None:
    assert kept("waiters", data, lambda layout: waiters.load(layout, "name")) is None
    assert kept("wakes", data, lambda layout: records.load(layout, "name")) is None


@given(st.binary(max_size=40))
def test_a_switch_is_a_time_or_for_ever(data: bytes) -> None:
    def read(layout: Layout) -> float:
        private = private_layout(layout)
        Path(private.waiters, "name").rename(private.wake_switch)
        return waiters.off_until_ms(layout)

    until_ms = kept("waiters", data, read)
    text = data.decode(errors="replace").strip()
    is_time = text.isascii() and text.isdigit() and len(text) <= 16
    assert until_ms == (int(text) if is_time else math.inf)


def test_without_a_switch_agents_may_be_woken(tmp_path: Path) -> None:
    assert waiters.off_until_ms(Layout(str(tmp_path))) == 0

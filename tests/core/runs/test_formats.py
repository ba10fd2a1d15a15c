"""The files about runs come back as they were written, and nothing breaks readers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import texts
from wc_core.attention.runs import records, waiting
from wc_core.attention.runs.records import RunRecord
from wc_core.attention.runs.waiting import WaitingThreads
from wc_core.base import processes
from wc_core.base.layout import Layout
from wc_core.ledger.git.private import private_layout

if TYPE_CHECKING:
    from collections.abc import Callable

numbers = st.integers(0, 2**53)
some_records = st.builds(
    RunRecord,
    *(texts, texts, texts, texts, texts, numbers, texts, texts),
    *(numbers, numbers, numbers, numbers, numbers, texts, numbers),
    *(st.none() | st.integers(-64, 255), texts, texts),
)


def kept(name: str, data: bytes, read: Callable[[Layout], object]) -> object:
    """What is read of a file with these bytes."""
    with TemporaryDirectory() as root:
        layout = Layout(root)
        file = Path(private_layout(layout).runs, name)
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
        return read(layout)


@given(some_records)
def test_a_record_comes_back(record: RunRecord) -> None:
    data = record.to_bytes()
    assert kept("a.json", data, lambda layout: records.load(layout, "a")) == record


@given(some_records)
def test_a_record_of_an_older_version_comes_back(record: RunRecord) -> None:
    fields = json.loads(record.to_bytes())
    del fields["given"]
    data = json.dumps(fields).encode()
    found = kept("a.json", data, lambda layout: records.load(layout, "a"))
    assert found == record._replace(given="")


@given(st.dictionaries(texts, texts, max_size=4))
def test_what_waits_comes_back_while_its_process_runs(reasons: dict[str, str]) -> None:
    begin = processes.started(os.getpid()) or 0
    noted = WaitingThreads(os.getpid(), begin, reasons)
    assert kept("1.waiting", noted.to_bytes(), waiting.reasons) == reasons
    ended = noted._replace(runner=2**22 + 1, begin=1)
    assert kept("1.waiting", ended.to_bytes(), waiting.reasons) == {}


@given(st.binary(max_size=200) | st.sampled_from([b"[1]", b"{}", b'{"version": 2}']))
def test_other_bytes_are_nothing(data: bytes) -> None:
    assert kept("a.json", data, lambda layout: records.load(layout, "a")) is None
    assert kept("1.waiting", data, waiting.reasons) == {}

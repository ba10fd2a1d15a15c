"""The JSON form of a thread gives its log again, byte for byte."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.core import strategies
from wc_core.ledger.threads import codec, model
from wc_core.ledger.threads.reader import Thread
from wc_core.ledger.threads.snapshot import Snapshot
from wc_core.reading.exchange import jsonexport


def thread_of(data: bytes) -> Thread:
    log = codec.read_log("t", data)
    snapshot = Snapshot(model.initial_state("t"), len(data), fresh=False)
    return Thread(snapshot, log.entries, log, data)


def exported(data: bytes) -> list[object]:
    text = json.dumps(jsonexport.to_json([thread_of(data)]))
    (fields,) = json.loads(text)["threads"]
    log: list[object] = fields["log"]
    return log


@given(strategies.forked_logs())
def test_a_log_comes_back(entries: list[model.Entry]) -> None:
    data = b"".join(codec.to_line(entry, idx) for idx, entry in enumerate(entries))
    items = exported(data)
    assert all(isinstance(item, dict) for item in items)
    assert jsonexport.log_bytes(items) == data


@given(st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"))))
def test_lines_of_any_text_come_back(lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines if line.encode().strip()).encode()
    assert jsonexport.log_bytes(exported(data)) == data


def test_other_tools_keys_and_spelling_come_back() -> None:
    data = b'{"entry_id": "x", "agent": "A", "odd": [1, 2.50]}\n'
    assert jsonexport.log_bytes(exported(data)) == data
    compact = b'{"entry_id":"x","agent":"A","odd":[1]}\n'
    assert exported(compact) == [{"entry_id": "x", "agent": "A", "odd": [1]}]


def test_lines_that_are_no_text_are_counted() -> None:
    thread = thread_of(b'{"entry_id":"x"}\n\xff\xfe\n')
    assert jsonexport.unreadable_lines(thread) == 1
    assert exported(thread.data) == [{"entry_id": "x"}]


def test_a_thread_without_a_log_has_the_entries_of_its_page() -> None:
    entries = (strategies.entry(1), strategies.entry(2))
    thread = thread_of(b"")._replace(entries=entries)
    (fields,) = jsonexport.to_json([thread])["threads"]
    data = jsonexport.log_bytes(fields["log"])
    assert codec.read_log("t", data).entries == entries

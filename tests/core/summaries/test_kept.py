"""Summaries by models: their file, how two of them are merged, and which one counts."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import entry, json_values, relaxed
from wc_core.ledger.summaries import choosing
from wc_core.ledger.summaries.choosing import Summary, summary_of
from wc_core.ledger.summaries.kept import KeptSummary, merge, parse, text_hash

ids = st.sampled_from(["A1", "A2", "{ulid}-Cöde x-t"])
records = st.builds(
    KeptSummary,
    id=ids,
    hash=st.sampled_from(["h1", "h2"]),
    summary=st.sampled_from(["It works.", "It doesn't."]),
    model=st.sampled_from(["", "small"]),
    at=st.sampled_from(["", "2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z"]),
)


def spaced(record: KeptSummary) -> bytes:
    """The same record, as another program would write it."""
    return f"{json.dumps({**record._asdict(), 'more': 1})}\n".encode()


lines = st.one_of(
    records.map(KeptSummary.to_line),
    records.map(spaced),
    json_values.map(lambda value: f"{json.dumps(value)}\n".encode()),
    st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"") + b"\n"),
    st.just(b'{"id": "A1", "hash": "h1", "summary": "torn'),
)
files = st.lists(lines, max_size=6).map(b"".join)


@relaxed
@given(st.lists(files, max_size=3), files)
def test_a_merge_does_not_depend_on_the_order(versions: list[bytes], x: bytes) -> None:
    merged = merge(versions)
    for order in itertools.permutations(versions):
        assert merge(order) == merged
    assert merge([merged]) == merged
    assert merge([merged, *versions]) == merged
    assert merge([merged, x]) == merge([*versions, x])


@relaxed
@given(files, files)
def test_a_merge_has_what_either_has(ours: bytes, theirs: bytes) -> None:
    merged = merge([ours, theirs])
    alone, other, both = parse(ours), parse(theirs), parse(merged)
    assert both.by_key.keys() == alone.by_key.keys() | other.by_key.keys()
    for key, record in both.by_key.items():
        rivals = [one.by_key[key] for one in (alone, other) if key in one.by_key]
        assert record == max(rivals, key=lambda one: (one.at, one))
    for line in (ours + b"\n" + theirs).split(b"\n"):
        if line.strip() and not parse(line).by_key:
            assert line + b"\n" in merged


@given(st.lists(records.map(KeptSummary.to_line)).map(b"".join), ids)
def test_those_of_one_entry_are_among_all(data: bytes, entry_id: str) -> None:
    everything = parse(data).by_key
    own = {key: record for key, record in everything.items() if key[0] == entry_id}
    assert parse(data, entry_id).by_key == own


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"id": "A", "hash": "h"},
        {"id": "", "hash": "h", "summary": "x"},
        {"id": "A", "hash": "h", "summary": " \x1b[0m\n"},
        {"id": "A", "hash": "h", "summary": "x", "at": 5},
        ["A", "h", "x"],
    ],
)
def test_what_is_no_summary_says_nothing(fields: Any) -> None:
    assert parse(json.dumps(fields).encode()).by_key == {}


def test_which_summary_counts() -> None:
    plain = entry(1, title="Retries", body="We back off. It works well now.")
    assert summary_of(plain) == ("We back off. It works well now.", choosing.LEAD)
    record = KeptSummary(plain.id, text_hash(plain), "Backs off\x1b[0m", "small", "t")
    summaries = parse(record.to_line())
    assert summary_of(plain, summaries) == ("Backs off", choosing.MODEL)
    own = plain._replace(summary="In my words.")
    assert summary_of(own, summaries) == ("In my words.", choosing.AUTHOR)
    for changed in (plain._replace(body="No, not"), plain._replace(title="Retry")):
        assert summary_of(changed, summaries).by == choosing.LEAD
    bare = plain._replace(body="")
    assert summary_of(bare, summaries) == choosing.NO_SUMMARY
    assert choosing.NO_SUMMARY.to_json() == {}
    assert Summary("x", "lead").to_json() == {"summary": "x", "summary_by": "lead"}


def test_a_title_cannot_be_taken_for_a_body() -> None:
    assert text_hash(entry(1, title="a", body="b")) != text_hash(
        entry(1, title="a\n\nb", body="")
    )

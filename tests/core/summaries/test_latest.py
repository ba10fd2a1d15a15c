"""What was said last in a thread, from the end of its log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.core.strategies import entry
from wc_core.base.layout import Layout
from wc_core.ledger.summaries.kept import KeptSummary, text_hash
from wc_core.ledger.summaries.latest import NO_WORDS, latest_words
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from pathlib import Path

    from wc_core.ledger.threads.model import Entry


@pytest.fixture
def reader(tmp_path: Path) -> StoreReader:
    (tmp_path / "graph/baseline/threads/t").mkdir(parents=True)
    return StoreReader(str(tmp_path))


def log(reader: StoreReader, *entries: Entry, more: bytes = b"") -> None:
    lines = (codec.to_line(item, idx) for idx, item in enumerate(entries))
    with open(reader.layout.log("t"), "wb") as file:
        file.write(b"".join(lines) + more)


def said(step: int, body: str = "", **fields: Any) -> Entry:
    return entry(step, body=body, action="say", **fields)


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([], ""),
        ([said(1)], ""),
        ([said(1, "It is so."), said(2, "It is not.")], "It is not."),
        ([said(1, "It is so."), said(2, title="No.")], "No."),
        ([said(1, "It is so."), entry(2, action="tag")], "It is so."),
        ([said(1, "It is so."), entry(2, action="set_status")], "It is so."),
        ([said(1, "It is so."), entry(2, action="take")], "It is so."),
        ([said(1, "It is so."), entry(2, action="handoff")], "It is so."),
        ([said(1, "It is so."), entry(2, action="handoff", body="Look.")], "Look."),
        ([said(1, "It is so."), entry(2, action="ack", title="Ack")], "It is so."),
        ([said(1, "It is so."), entry(2, action="ack", title="Ok")], "Ok"),
        ([said(1, "It is so."), said(2, summary="Mine.")], "Mine."),
    ],
)
def test_the_last_entry_that_says_something(
    reader: StoreReader, entries: list[Entry], text: str
) -> None:
    log(reader, *entries)
    assert latest_words(reader, "t", "title 1").summary.text == text


def test_corrections_count(reader: StoreReader) -> None:
    first, second = said(1, "It is first."), said(2, "It is old.")
    amended = entry(3, action="amend", body="It is new.", supersedes=second.id)
    log(reader, first, second, amended)
    assert latest_words(reader, "t", "Title").summary.text == "It is new."
    # A model was given the amended text of the second entry.
    record = KeptSummary(second.id, text_hash(amended), "Brand new.", "m")
    path = Layout(reader.layout.root).summaries("t")
    with open(path, "wb") as file:
        file.write(record.to_line())
    assert latest_words(reader, "t", "Title").summary == ("Brand new.", "model")
    retracted = entry(4, action="retract", supersedes=second.id)
    log(reader, first, second, amended, retracted)
    words = latest_words(reader, "t", "Title")
    assert words.to_json() == {
        "summary": "It is first.",
        "summary_by": "lead",
        "summary_of": first.agent,
    }


def test_damage_hides_no_other_entry(reader: StoreReader) -> None:
    log(reader, said(1, "It is so."), more=b'no JSON\n\n{"entry_id": "x", "torn')
    assert latest_words(reader, "t", "Title").summary.text == "It is so."
    assert latest_words(reader, "nowhere", "Title") == NO_WORDS
    assert latest_words(reader, "../t", "Title") == NO_WORDS
    assert NO_WORDS.to_json() == {}


def test_only_the_end_is_read(reader: StoreReader) -> None:
    log(reader, said(1, "It is so."), said(2, summary="x", body="y" * 40_000))
    assert latest_words(reader, "t", "Title") == NO_WORDS
    log(reader, said(1, "x" * 40_000), said(2, "It is so."))
    assert latest_words(reader, "t", "Title").summary.text == "It is so."

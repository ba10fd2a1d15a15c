"""The kind of an entry in words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.strategies import entry
from wc_core.ledger.remarks import wording


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, ("Note", "", "")),
        ({"type": "Decision"}, ("Decision", "", "")),
        ({"kind": "decision", "type": "Decision"}, ("", "decision", "")),
        ({"kind": "decision"}, ("Note", "decision", "")),
        ({"kind": "decision", "type": "Plan"}, ("Plan", "decision", "")),
        ({"kind": "warning", "severity": "high"}, ("", "warning (high)", "")),
        ({"kind": "question", "asks": "Alex"}, ("", "question to Alex", "")),
        ({"answers": "01X"}, ("Note", "", "answers 01X")),
        ({"kind": "hunch", "severity": "9"}, ("", "hunch (9)", "")),
    ],
)
def test_the_words_of_an_entry(
    fields: dict[str, Any], words: tuple[str, str, str]
) -> None:
    item = entry(0, **fields)
    assert words == (
        wording.type_text(item),
        wording.kind_text(item),
        wording.answer_text(item),
    )

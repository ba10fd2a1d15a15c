from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_observe.front.opening import repair_line, repaired_input


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        (rb'"\ud83d\ude00"', None),
        (rb'"\uD83D\uDE00 \u00e9 \n \\"', None),
        (rb'"a \\ud83d"', None),
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\uDE00\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (b'"\\ud8', None),
        (b"\xff\\ud83d", b"\xff\\ufffd"),
        (b"", None),
    ],
)
def test_halves_are_replaced_and_nothing_else(line: bytes, whole: bytes | None) -> None:
    assert repair_line(line) == (line if whole is None else whole)


@given(st.text(st.characters(categories=["Cs"]) | st.sampled_from('\\u"a\n😀é')))
def test_what_is_repaired_is_text(text: str) -> None:
    line = json.dumps(text)
    found = json.loads(repair_line(line.encode()))
    assert found == re.sub("[\ud800-\udfff]", "\ufffd", json.loads(line))


def test_lines_come_as_they_are_written_however_long() -> None:
    lines = [b'"\\ud83d"\n', b"x" * 100_000 + b"\n", b"{}\n", b"the end"]
    stream = repaired_input(io.BytesIO(b"".join(lines)))
    assert [len(one) for one in stream] == [9, 100_001, 3, 7]

"""Counting tokens in transcripts, in the shapes that clients write."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.people.cost.usage import Meter, Usage, count

NEW = Meter(total=Usage())


def claude(key: str, **usage: int) -> dict[str, Any]:
    fields = {f"{name}_tokens": number for name, number in usage.items()}
    return {"type": "assistant", "message": {"id": key, "usage": fields}}


def codex(total: dict[str, int], latest: dict[str, int]) -> dict[str, Any]:
    info = {
        name: {f"{key}_tokens": number for key, number in figures.items()}
        for name, figures in (
            ("total_token_usage", total),
            ("last_token_usage", latest),
        )
    }
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def written(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


RESPONSE = {"input": 3, "output": 2, "cache_read_input": 50}
FIRST = {"input": 100, "cached_input": 60, "output": 7}
TWICE = {"input": 250, "cached_input": 120, "output": 17}


@pytest.mark.parametrize(
    ("records", "tokens"),
    [
        ([claude("m1", **RESPONSE)], Usage(3, 2, 50)),
        # A line for each part of a response, the last with the final figures.
        (
            [claude("m1", **RESPONSE), claude("m1", **RESPONSE | {"output": 90})],
            Usage(3, 90, 50),
        ),
        # Two responses whose lines alternate.
        (
            [claude(key, output=5) for key in ("m1", "m2", "m1", "m2")],
            Usage(output=10),
        ),
        ([claude("m1", cache_creation_input=9)], Usage(cache_write=9)),
        ([codex(FIRST, FIRST)], Usage(40, 7, 60)),
        # The same totals come again with each report of limits.
        ([codex(FIRST, FIRST)] * 3, Usage(40, 7, 60)),
        ([codex(FIRST, FIRST), codex(TWICE, {})], Usage(130, 17, 120)),
        # After the totals fell, the last response is all that is certain.
        (
            [codex(TWICE, TWICE), codex(FIRST, {"output": 4})],
            Usage(130, 21, 120),
        ),
        (
            [{"type": "event_msg", "payload": {"type": "token_count", "info": None}}],
            Usage(),
        ),
        (
            [{"type": "user", "message": {"id": "m", "usage": {"output_tokens": 1}}}],
            Usage(),
        ),
        ([claude("", output=5), claude("m1", output=-5)], Usage()),
        ([[], "token_count", {"message": {"usage": []}, "type": "assistant"}], Usage()),
    ],
)
def test_tokens_of_lines(records: list[object], tokens: Usage) -> None:
    assert count(written(*records), NEW)[0] == tokens


def test_what_is_no_json_counts_nothing() -> None:
    data = b'{"usage": \xff\n{"usage"\n' + b'{"usage": ' + b"[" * 100_000 + b"\n"
    assert count(data, NEW) == (Usage(), NEW)


def test_of_an_unknown_total_only_the_last_response_counts() -> None:
    data = written(codex(TWICE, {"output": 10}), codex(TWICE, {"output": 10}))
    assert count(data, Meter())[0] == Usage(output=10)


LINES = st.lists(
    st.builds(
        claude,
        st.sampled_from(["a", "b", "c"]),
        input=st.integers(0, 9),
        output=st.integers(0, 9),
    )
    | st.builds(
        lambda number: codex({"output": number}, {"output": 1}), st.integers(0, 9)
    )
)


@given(records=LINES, cut=st.integers(0, 20))
def test_a_transcript_can_be_read_in_pieces(
    records: list[dict[str, Any]], cut: int
) -> None:
    whole, meter = count(written(*records), NEW)
    first, between = count(written(*records[:cut]), NEW)
    second, end = count(written(*records[cut:]), between)
    assert (first.plus(second), end) == (whole, meter)

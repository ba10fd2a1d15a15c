"""The file that the radar is kept in."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.edits.radar import kept
from wc_core.edits.radar.model import (
    KINDS,
    ApprovedBranch,
    Pair,
    Radar,
    SharedFile,
    Side,
)

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=8)
NUMBERS = st.integers(0, 2**53)
FILES = st.builds(
    SharedFile,
    TEXTS,
    st.sampled_from(KINDS),
    TEXTS,
    st.lists(TEXTS, max_size=3).map(tuple),
)
SIDES = st.builds(
    Side,
    *([TEXTS] * 8),
    st.lists(TEXTS, max_size=3).map(tuple),
    *([NUMBERS] * 3),
    TEXTS,
)


@st.composite
def radars(draw: st.DrawFn) -> Radar:
    sides = draw(st.lists(SIDES, min_size=2, max_size=4).map(tuple))
    rights = draw(st.lists(st.integers(1, len(sides) - 1), max_size=3))
    pairs = [
        Pair(right - 1, right, draw(st.lists(FILES, max_size=2).map(tuple)), "")
        for right in rights
    ]
    approved = st.builds(ApprovedBranch, *([TEXTS] * 5), st.lists(FILES).map(tuple))
    branches = draw(st.lists(approved, max_size=2).map(tuple))
    return Radar(draw(NUMBERS), draw(TEXTS), sides, tuple(pairs), branches)


@given(radars())
def test_what_is_kept_comes_back(radar: Radar) -> None:
    assert kept.decode(json.loads(kept.encode(radar, {"states": {}}))) == radar


VALUES = st.recursive(
    st.none() | NUMBERS | TEXTS | st.just(math.inf),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(TEXTS, x, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from(["", "states", "bases"]))
def test_a_damaged_record_of_the_worktrees_is_none(value: Any, key: str) -> None:
    rows = {"states": {"/app": ["d", "c"]}, "bases": [["h", "b", "m"]]}
    record = kept.decode_record({"seen": {**rows, key: value} if key else value})
    assert all(map(isinstance, record.states, [str] * len(record.states)))
    assert all(len(pair) == 2 for pair in [*record.states.values(), *record.bases])


def test_the_record_of_the_worktrees_comes_back() -> None:
    rows = {"states": {"/app": ["d", "c"]}, "bases": [["h", "b", "m"]]}
    fields = json.loads(kept.encode(Radar(7), rows))
    assert kept.decode_record(fields) == kept.WorktreeRecord(
        {"/app": ("d", "c")}, {("h", "b"): "m"}
    )


@given(VALUES, st.sampled_from(["v", "at", "base", "sides", "pairs", "approved"]))
def test_a_damaged_file_is_not_a_radar_or_another_one(value: Any, key: str) -> None:
    radar = Radar(5, "main", (Side("a"), Side("b")), (Pair(0, 1),))
    fields = json.loads(kept.encode(radar, {}))
    fields[key] = value
    decoded = kept.decode(fields)
    assert decoded is None or isinstance(decoded, Radar)


@pytest.mark.parametrize(
    "pairs", [[[0, 2, [], ""]], [[1, 0, [], ""]], [[0, 1, [["a", "warm", "", []]], ""]]]
)
def test_pairs_of_no_sides_and_unknown_kinds_are_refused(pairs: list[Any]) -> None:
    fields = json.loads(kept.encode(Radar(5, "main", (Side("a"), Side("b"))), {}))
    assert kept.decode(fields) is not None
    assert kept.decode({**fields, "pairs": pairs}) is None

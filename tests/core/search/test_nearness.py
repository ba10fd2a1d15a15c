"""Two kinds of scores are made one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.lookup.nearness import mixed

scores = st.dictionaries(st.integers(0, 9), st.floats(0.001, 100), max_size=8)


def test_words_count_more_as_a_part_of_all_words() -> None:
    words = {"a": 12.0, "b": 6.0}
    meaning = {"b": 0.4, "c": 0.2}
    scores = mixed(words, meaning, 0.0, whole=24.0)
    assert scores == pytest.approx({"a": 0.375, "b": 0.4375, "c": 0.125})
    assert mixed(words, meaning, 0.0, whole=6.0)["a"] == pytest.approx(0.75)


def test_what_is_not_among_the_nearest_is_as_near_as_the_next() -> None:
    assert mixed({"a": 1.0}, {"b": 0.5}, 0.25, 1.0)["a"] == pytest.approx(0.875)


@given(scores, scores, st.floats(0.1, 10))
def test_no_score_depends_on_the_unit_of_a_kind(
    words: dict[int, float], meaning: dict[int, float], factor: float
) -> None:
    scaled = {item: score * factor for item, score in words.items()}
    assert mixed(scaled, meaning, 0.0, 0.0) == pytest.approx(
        mixed(words, meaning, 0.0, 0.0)
    )
    assert all(
        0 <= score <= 1.0001 for score in mixed(words, meaning, 0.0, 0.0).values()
    )

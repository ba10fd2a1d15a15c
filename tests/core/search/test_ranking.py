"""How well an entry answers a question in someone's own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.lookup.ranking import (
    COMMON,
    chosen_terms,
    loose_terms,
    required_terms,
    stem,
    term_weights,
)
from wc_core.lookup.words import parse_query


@pytest.mark.parametrize(
    ("word", "beginning"),
    [
        ("retries", "retr"),
        ("retry", "retr"),
        ("backing", "back"),
        ("wanted", "want"),
        ("crashes", "crash"),
        ("state", "stat"),
        ("use", "use"),
        ("red", "red"),
        ("2nds", "2nds"),
        ("größe", "größe"),
        ("認証", "認証"),
    ],
)
def test_forms_of_a_word_begin_alike(word: str, beginning: str) -> None:
    assert stem(word) == beginning


@given(st.text(st.characters(codec="utf-8"), max_size=12))
def test_a_stem_begins_the_word(word: str) -> None:
    assert word.startswith(stem(word))


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    query = parse_query("how do we retry? title:we")
    assert [term.words for term in loose_terms(query)] == [("retr",)]
    assert [term.words for term in required_terms(query)] == [("we",)]
    assert len(loose_terms(parse_query("how do we"))) == 3
    assert loose_terms(parse_query('"retries of" src/retries.py')) == parse_query(
        '"retries of" src/retries.py'
    )


@given(st.lists(st.integers(0, 10**6), max_size=5), st.integers(0, 10**5))
def test_a_rarer_term_weighs_more(counts: list[int], threads: int) -> None:
    weights = term_weights(counts, threads)
    for count, weight in zip(counts, weights, strict=True):
        assert (weight > 0) == (count > 0)
        for other, other_weight in zip(counts, weights, strict=True):
            assert not 0 < count < other or weight >= other_weight


def test_a_term_that_very_many_have_chooses_nothing_unless_all_are_such() -> None:
    assert chosen_terms([1, 0, COMMON + 1]) == (True, False, False)
    assert chosen_terms([COMMON + 9, 0, COMMON + 1]) == (False, False, True)
    assert chosen_terms([0, 0]) == (False, False)

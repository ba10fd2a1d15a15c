"""The part of a text that a hit shows."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given

from tests.core.search.test_words import PIECES
from wc_core.lookup import excerpts, words


@given(PIECES, PIECES)
@example("a.b ab a-b", '"a b"')
@example("aab", "ab")
@example("a12", "a")
def test_a_term_is_marked_where_this_pattern_matches(text: str, query: str) -> None:
    letter, gap = "[0-9A-Za-z\x80-\U0010ffff]", "[^0-9A-Za-z\x80-\U0010ffff]+"
    for term in words.parse_query(query):
        ending = f"{letter}*" if term.prefix else f"(?!{letter})"
        pattern = f"(?<!{letter}){gap.join(map(re.escape, term.words))}{ending}"
        form = words.fold_text(text)
        if len(form) == len(text):
            expected = re.sub(pattern, lambda match: f"«{match[0]}»", form)
            marked = excerpts.mark_terms(form, [term], len(form))
            assert marked == " ".join(expected.split())


@pytest.mark.parametrize(
    ("text", "query", "around", "shown"),
    [
        ("Passkeys work", "passkey", 40, "«Passkeys» work"),
        ("Passkeys work", '"passkey"', 40, "Passkeys work"),
        ("They re-authenticated", "auth", 40, "They re-«authenticated»"),
        ("one three needles five seven", "needle", 7, "… three «needles» five …"),
        ("one three needle", "needle", 7, "… three «needle»"),
        ("needle five seven", "needle", 7, "«needle» five …"),
        ("first second third", "none", 7, "first second …"),
        ("新しい認証を使う", "認証", 2, "… しい«認証»を使 …"),
        (f"{'x' * 90} needle", "needle", 20, "… «needle»"),
        (f"{'x' * 90}-needle", "needle", 20, f"… {'x' * 19}-«needle»"),
        ("   needle   ", "needle", 1, "«needle»"),
        ("le cafe\u0301 noir", "cafe", 40, "le «cafe\u0301» noir"),
        ("le cafe\u0301 noir", "café", 40, "le «cafe\u0301» noir"),
        (
            "\u1112\u1161\u11ab\u1100\u116e\u11a8 x",
            "한국",
            40,
            "«\u1112\u1161\u11ab\u1100\u116e\u11a8» x",
        ),
        ("か\u3099くせい", "が", 40, "«か\u3099»くせい"),
    ],
)
def test_an_excerpt_has_whole_words(
    text: str, query: str, around: int, shown: str
) -> None:
    assert excerpts.mark_terms(text, words.parse_query(query), around) == shown

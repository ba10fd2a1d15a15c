"""`wc_core.base.phrases`."""

from __future__ import annotations

import shlex

from hypothesis import example, given
from hypothesis import strategies as st

from wc_core.base.phrases import bounded, listed, quoted


@given(st.text())
@example("")
@example("it's")
@example("a-topic")
@example("@a%b+c=d:e,f./g_h")
@example("é")
@example("~")
def test_a_word_is_quoted_as_the_library_quotes_it(word: str) -> None:
    assert quoted(word) == shlex.quote(word)


def test_a_list_has_an_end() -> None:
    assert listed("", 2) == ""
    assert listed("ab", 2) == "a, b"
    assert listed("abc", 2) == "a, b, c"
    assert listed("abcd", 2) == "a, b and 2 more"


def test_notes_have_an_end() -> None:
    assert bounded("ab", 2) == ["a", "b"]
    assert bounded("abc", 2) == ["a", "b", "c"]
    assert bounded("abcd", 2) == ["a", "b", "… and 2 more"]
    assert bounded("abcd", 2, "all: x")[-1] == "… and 2 more (all: x)"

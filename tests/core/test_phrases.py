"""`wc_core.base.phrases`."""

from __future__ import annotations

import shlex

from hypothesis import example, given
from hypothesis import strategies as st

from wc_core.base.phrases import quoted


@given(st.text())
@example("")
@example("it's")
@example("a-topic")
@example("@a%b+c=d:e,f./g_h")
@example("é")
@example("~")
def test_a_word_is_quoted_as_the_library_quotes_it(word: str) -> None:
    assert quoted(word) == shlex.quote(word)

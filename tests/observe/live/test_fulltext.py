"""The index in memory: what it finds, and that no file can come of it."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.search import words
from wc_observe.live.fulltext import FullText, is_available

if TYPE_CHECKING:
    from pathlib import Path

pieces = st.lists(
    st.sampled_from(
        [
            "ab",
            "Abc",
            "b",
            "ß",
            "é",
            "e\u0301",
            "\n",
            "1",
            "12",
            "認証",
            "🚀",
            "a_b",
            "\0",
        ]
    )
    | st.text(max_size=5),
    max_size=6,
).map(" ".join)


@given(
    texts=st.lists(st.tuples(*[pieces] * 5), max_size=4),
    query=pieces | pieces.map('"{}"'.format) | pieces.map("title:{}".format),
)
def test_it_finds_what_is_found_in_the_texts_themselves(
    texts: list[tuple[str, ...]], query: str
) -> None:
    terms = words.parse_query(query)
    index = FullText()
    index.add(enumerate(texts))
    if not terms:
        return
    fields = [
        dict(zip(words.FIELDS, map(words.plain_words, text), strict=False))
        for text in texts
    ]
    expected = [
        row
        for row, known in enumerate(fields)
        if all(words.contains_term(one, known) for one in terms)
    ]
    assert sorted(index.find(terms)) == expected
    for every, judge in ((True, all), (False, any)):
        titles = {
            row
            for row, known in enumerate(fields)
            if judge(one.needle in known["title"] for one in terms)
        }
        assert index.in_titles(terms, all_terms=every) == titles


def test_it_opens_no_other_database(tmp_path: Path) -> None:
    assert is_available()
    index = FullText()
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        index._db.execute(f"ATTACH DATABASE '{tmp_path / 'new'}' AS new")
    assert not [*tmp_path.iterdir()]

"""Phrases of common words: which words those are, and that pairs of them find what the
words find."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cli.index.histories import Store, soon
from tests.cli.index.test_entriesfile import assert_the_same
from tests.core.strategies import chain, entry
from wc_cli.ledger.index import entriesfile
from wc_core.lookup.index.entries import COLUMNS, SCHEMA, EntryFile
from wc_core.lookup.index.expressions import CommonWords, Expressions, indexed_words
from wc_core.lookup.search.ranking import PROMINENT_FIELDS
from wc_core.lookup.search.words import FIELDS, Term, contains_term, plain_words
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.query import ANY, NEWEST, Question

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

WORDS = ("a", "b", "bc", "é", "x")
# Words, what separates them, and the marks of the index.
PIECES = (*WORDS, "A", " ", " ", " ", "\0", "-", "\n", "†", "§", "‡", "‡a‡b", "字")
some_texts = st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join) | st.text(
    st.sampled_from("".join(PIECES)), max_size=12
)
some_fields = st.fixed_dictionaries(dict.fromkeys(COLUMNS, some_texts))
some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(tuple)
some_terms = st.builds(
    Term, some_words, st.booleans(), st.sampled_from(("", "", *FIELDS))
)
some_common = st.sets(st.sampled_from(WORDS), min_size=1).map(CommonWords)
ALL_COMMON = CommonWords(WORDS)


@contextlib.contextmanager
def indexed(
    fields: Mapping[str, str], common: CommonWords
) -> Iterator[sqlite3.Connection]:
    """The index of one entry with these texts."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SCHEMA)
        texts = [indexed_words(column, fields[column], common) for column in COLUMNS]
        marks = ", ".join("?" * len(COLUMNS))
        database.execute(
            f"INSERT INTO words(rowid, {', '.join(COLUMNS)}) VALUES (1, {marks})", texts
        )
        yield database


def finds(database: sqlite3.Connection, expression: str) -> bool:
    query = "SELECT rowid FROM words WHERE words MATCH ?"
    return bool(database.execute(query, [expression]).fetchall())


def a_body(text: str) -> dict[str, str]:
    return dict.fromkeys(COLUMNS, "") | {"body": text}


@given(fields=some_fields, common=some_common, terms=st.lists(some_terms, min_size=1))
@example(fields=a_body("a b x b bc"), common=CommonWords("ab"), terms=[Term(("a",))])
@example(
    fields=a_body("a b x b bc"),
    common=CommonWords(("a", "b", "bc")),
    terms=[Term(("a", "b", "bc"), prefix=False)],
)
@example(fields=a_body("b a"), common=ALL_COMMON, terms=[Term(("a", "b"))])
@example(
    fields=a_body("x a") | {"title": "b x"},
    common=ALL_COMMON,
    terms=[Term(("a", "b")), Term(("a", "x"), prefix=False)],
)
@example(
    fields=a_body("a") | {"title": "a", "topic": "b"},
    common=ALL_COMMON,
    terms=[Term(("a", "a"), prefix=False), Term(("a", "a"))],
)
@example(
    fields=a_body("a a\0a ‡a‡b"),
    common=ALL_COMMON,
    terms=[Term(("a",) * 3, prefix=False), Term(("a",) * 4, prefix=False)],
)
def test_expressions_find_what_the_texts_contain(
    fields: dict[str, str], common: CommonWords, terms: list[Term]
) -> None:
    searched = {name: plain_words(fields[name]) for name in FIELDS}
    recorded = plain_words(fields["recorded"])
    expressions = Expressions(common)
    with indexed(fields, common) as database:
        for term in terms:
            expected = contains_term(term, searched)
            assert finds(database, expressions.words([term])) is expected
            in_title = contains_term(term._replace(field="title"), searched)
            title = expressions.title([term], all_terms=True)
            assert finds(database, title) is in_title
            if prominent := expressions.prominent(term):
                names = {term.field} if term.field else {*PROMINENT_FIELDS}
                expected = any(term.needle in searched[name] for name in names)
                assert finds(database, prominent) is expected
            if not term.field:
                expected = any(
                    term.needle in text
                    for text in (searched["title"], searched["body"], recorded)
                )
                assert finds(database, expressions.words((), [term])) is expected
        every = all(contains_term(term, searched) for term in terms)
        assert finds(database, expressions.words(terms)) is every


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def filled(store: Store, threads: int = 4) -> None:
    """Each entry has *all* and *the*, every other one *some*, a fifth *seldom*."""
    for number in range(threads):
        log = [
            entry(
                number * 10 + step,
                title="all",
                body=f"the {'some' if step % 2 else ''} {'' if step else 'seldom'}",
            )
            for step in range(5)
        ]
        store.write(f"t{number:03}", chain(*log))


QUERIES = ('"all the"', '"the some"', 'body:"the some"', '"the seldom"', '"all"')


def assert_the_same_phrases(store: Store) -> None:
    for query in QUERIES:
        for question in (
            Question(query, Filter(), limit=3),
            Question(query, Filter(), sort=NEWEST),
            Question(f"{query} nowhere", Filter(), mode=ANY, limit=3),
        ):
            assert not any(assert_the_same(store.reader, question))


def test_the_common_words_of_a_file_stay_what_they_are(store: Store) -> None:
    filled(store)
    entriesfile.rebuild(store.reader, soon, large=20)
    made = os.stat(store.reader.layout.entry_index).st_ino
    assert_the_same_phrases(store)
    # Now other words are common, and the former ones are not.
    for number in range(30):
        store.write(f"u{number}", [entry(1000 + number, body="new words all the some")])
    entriesfile.update(store.reader, ["u1", "u2"], soon, large=20)
    entriesfile.rebuild(store.reader, soon, large=20)
    assert os.stat(store.reader.layout.entry_index).st_ino == made
    assert_the_same_phrases(store)
    phrase = Term(("new", "words"), prefix=False)
    assert EntryFile(store.reader.layout).expressions.words([phrase]) == '"new words" '
    entriesfile.remake(store.reader, soon, large=20)
    file = EntryFile(store.reader.layout)
    assert file.expressions.words([phrase]) == '"‡new‡words" '
    assert_the_same_phrases(store)


def test_a_file_is_made_again_once_the_store_is_large(store: Store) -> None:
    filled(store, threads=2)
    phrase = Term(("all", "the"), prefix=False)
    entriesfile.rebuild(store.reader, soon, large=20)
    file = EntryFile(store.reader.layout)
    assert file.expressions.words([phrase]) == '"all the" '
    filled(store)
    entriesfile.update(store.reader, store.reader.topics(), soon, large=20)
    assert_the_same_phrases(store)
    file = EntryFile(store.reader.layout)
    assert file.expressions.words([phrase]) == '"all the" '
    entriesfile.rebuild(store.reader, soon, large=20)
    file = EntryFile(store.reader.layout)
    assert file.expressions.words([phrase]) == '"‡all‡the" '
    assert_the_same_phrases(store)

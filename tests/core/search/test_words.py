"""Words: how texts are cut, what a query asks for, how a match is shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wc_core.base.errors import InvalidInputError
from wc_core.lookup import excerpts, words
from wc_core.lookup.words import Term


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Log in, please!", ["log", "in", "please"]),
        ("snake_case-and.dots/2", ["snake", "case", "and", "dots", "2"]),
        ("Straße ÉCOLE e\u0301te\u0301", ["strasse", "ecole", "ete"]),
        ("ﬁne Ⅳ ½", ["fine", "iv", "1", "2"]),
        ("新しいAPI認証", [*"新しい", "api", *"認証"]),
        ("ทดสอบ", [*"ทดสอบ"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("인증을 확인", ["인증을", "확인"]),
        ("שלום, עולם", ["שלום", "עולם"]),
        ("ship it 🚀🚀!", ["ship", "it", "🚀", "🚀"]),
        ("a\0b\u200bc\u00a0d—e", ["a", "b", "c", "d", "e"]),
    ],
)
def test_a_text_is_cut_into_words(text: str, expected: list[str]) -> None:
    assert words.plain_words(text).split() == expected


@given(st.text())
def test_folding_says_the_same_however_often(text: str) -> None:
    once = words.plain_words(text)
    assert words.plain_words(once) == once
    assert once.startswith(" ")
    assert once.endswith(" ")
    # Whoever cuts the folded text at ASCII alone, as an index does, finds the same.
    cut = "".join(
        one if one.isalnum() or ord(one) > 127 else " " for one in words.fold_text(text)
    )
    assert cut.split() == once.split()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("one TWO", [Term(("one",)), Term(("two",))]),
        ("one one", [Term(("one",))]),
        ('"Log out" now', [Term(("log", "out"), prefix=False), Term(("now",))]),
        ('"log out"*', [Term(("log", "out"))]),
        ('"no end', [Term(("no", "end"), prefix=False)]),
        ("src/auth.py", [Term(("src", "auth", "py"))]),
        ("12 v2 12*", [Term(("12",), prefix=False), Term(("v2",)), Term(("12",))]),
        (
            'Title:fix author:"Claude Code"',
            [
                Term(("fix",), field="title"),
                Term(("claude", "code"), prefix=False, field="author"),
            ],
        ),
        ("http://x", [Term(("http", "x"))]),
        ("認証", [Term(("認", "証"))]),
        ('* … () : ""', []),
        ("", []),
    ],
)
def test_a_query_is_read_as_terms(query: str, expected: list[Term]) -> None:
    assert list(words.parse_query(query)) == expected


# A part of a query: a field's name, then quoted text or a word, and a star.
PART = re.compile(
    rf"(?i)(?:({'|'.join(words.FIELDS)}):)?"
    r'(?:"(?P<exact>[^"]*)"?|(?P<bare>[^\s"]+))\*?'
)
PIECES = st.lists(
    st.sampled_from(
        ["title:", "TAG:", "body", ":", '"', "*", " ", "\n", "\u00a0", "a", "12", "é"]
    )
).map("".join)


@given(PIECES)
@example('a "b c"*d')
@example('title:"a* b*')
@example('title:body:"a"')
@example('title: "a" title:*')
def test_a_query_is_cut_as_this_pattern_cuts_it(query: str) -> None:
    terms = []
    for part in PART.finditer(query):
        exact = part["exact"] is not None
        found = tuple(words.plain_words(part["exact" if exact else "bare"]).split())
        if found:
            is_whole = exact or found[-1].isdecimal()
            prefix = not is_whole or part[0].endswith("*")
            terms.append(Term(found, prefix, (part[1] or "").lower()))
    assert words.parse_query(query) == tuple(dict.fromkeys(terms))


def test_a_query_of_very_many_terms_is_refused() -> None:
    assert len(words.parse_query(" ".join(f"a{n}" for n in range(32)))) == 32
    with pytest.raises(InvalidInputError, match="101 terms"):
        words.parse_query(" ".join(f"a{n}" for n in range(101)))


@given(before=st.text(), word=st.text(min_size=1), exact=st.booleans())
def test_what_is_in_a_text_is_found_and_marked(
    before: str, word: str, *, exact: bool
) -> None:
    text = f"{before} {word}"
    terms = words.parse_query(f'"{word}"' if exact else word)
    fields = {"body": words.plain_words(text)}
    wanted = words.plain_words(word)
    if wanted.strip() and '"' not in word and ":" not in word:
        assert all(words.contains_term(one, fields) for one in terms) or "*" in word
    shown = excerpts.mark_terms(text, terms, 10_000)
    assert shown.replace("«", "").replace("»", "") == " ".join(text.split()).replace(
        "«", ""
    ).replace("»", "")

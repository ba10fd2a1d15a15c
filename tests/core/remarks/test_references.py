"""What an entry is about, recorded or named in its text."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import relaxed
from tests.core.views import patterns
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.remarks.references import (
    References,
    code_words,
    named_in,
    references,
)
from wc_core.ledger.threads.model import Entry
from wc_core.lookup.mentions import Mentions


def entry(body: str = "", **fields: Any) -> Entry:
    return Entry("01K6Y12JRGB165MR2QJP0HNEXC", "auth", "Pat", "", body=body, **fields)


FILES = {
    "Fixed src/auth.py:12, and lib/b.rs.": ("src/auth.py", "lib/b.rs"),
    "`a.py` **lib/a.py** (./bin/x.sh)": ("lib/a.py", "bin/x.sh"),
    "auth.py and then src/auth.py": ("src/auth.py",),
    "Dockerfile, docker/Makefile": ("Dockerfile", "docker/Makefile"),
    ".github/workflows/ci.yml and .eslintrc.json": (
        ".github/workflows/ci.yml",
        ".eslintrc.json",
    ),
    "früh/übung.py": ("früh/übung.py",),
    "e.g. and/or 1.2 v1.2.3 Node.js crates.io docs.rs a.b": (),
    "https://github.com/o/r/blob/main/src/x.py": (),
    "localhost:8000/x.py ~/notes.md /etc/x.conf ../other/x.py": (),
    "*.py x/*.py .json and a.python a.py3": (),
    "x.py/ x.pyc": (),
}
PRS = {
    "see #12, PR 7, PRs 8": (12, 7, 8),
    "#9.and #10.5 #11.": (9, 11),
    "!4 and https://github.com/o/r/pull/99": (4, 99),
    "Pull request #8, pull request 9, PR#10, pr11": (8, 9, 10, 11),
    "7 at the start, and a number alone 12": (),
    "PR 12345678 #12345678 #1234567": (1234567,),
    "a#6 #7-intro #0 #1.5 sprs 12 12 &#39; ##3": (),
}
COMMITS = {
    "abcdef1 at the start, at the end 0000abc": ("abcdef1", "0000abc"),
    "é1234abc x1234abc _1234abc @1234abc 1234abcé 1234abc-x 1234abc.x": (),
    "0123456789abcdef 0123456789abcdef0 0123456789abcdef01234567890": (
        "0123456789abcdef",
    ),
    "since 3f2a1b9, reverts 3f2a1b9c0": ("3f2a1b9c0",),
    "0123456789abcdef0123456789abcdef01234567": (
        "0123456789abcdef0123456789abcdef01234567",
    ),
    "#a1b2c3d deadbeef 1234567 abc12 0xc0ffee12 0badc0de-1234 x/3f2a1b9": (),
    "d41d8cd98f00b204e9800998ecf8427e": (),
    "decade1 abcdef12, xdecade1 abcdef1g": ("decade1", "abcdef12"),
    "abcdef" * 7 + "1": (),
}


@pytest.mark.parametrize("text", FILES)
def test_files_in_a_text(text: str) -> None:
    assert references(entry(text)).files == FILES[text]
    assert references(entry(title=text)).files == FILES[text]


@pytest.mark.parametrize("text", PRS)
def test_pull_requests_in_a_text(text: str) -> None:
    assert references(entry(text)).prs == PRS[text]


@pytest.mark.parametrize("text", COMMITS)
def test_commits_in_a_text(text: str) -> None:
    assert references(entry(text)).commits == COMMITS[text]


def test_what_is_recorded_comes_first_and_is_not_repeated() -> None:
    about = references(
        entry(
            "a.py, src/a.py, b.py, c/a.py; #3 #12; 3f2a1b9 3f2a1b9c 1234abc",
            file_refs=("src/a.py", "anything goes"),
            pr_refs=(12,),
            commit_refs=("3f2a1b9c",),
        )
    )
    assert about == References(
        ("src/a.py", "anything goes", "b.py", "c/a.py"),
        (12, 3),
        ("3f2a1b9c", "1234abc"),
    )
    assert about.to_json() == {
        "file_refs": ["src/a.py", "anything goes", "b.py", "c/a.py"],
        "pr_refs": [12, 3],
        "commit_refs": ["3f2a1b9c", "1234abc"],
    }
    assert about.words(6) == [*about.files, "#12", "#3", "and 2 more"]
    assert about.words(0)[-2:] == ["3f2a1b9", "1234abc"]
    assert references(entry("nothing")).to_json() == {}


@pytest.mark.parametrize(
    ("branch", "commit", "words"),
    [
        ("login", "3f2a1b9c0", "on login (3f2a1b9)"),
        ("login", "", "on login"),
        ("", "3f2a1b9c0", "on 3f2a1b9"),
        ("", "", ""),
    ],
)
def test_code(branch: str, commit: str, words: str) -> None:
    assert code_words(entry(code_branch=branch, code_commit=commit)) == words


PIECES = st.sampled_from(
    [
        *(" ", "\n", "/", ".", "-", "#", "!", ":", "(", "src", "a", ".py", "Makefile"),
        *("src/a.py", "lib.md", "PR ", "pull request ", "12", "3f2a1b9", "é", "//"),
    ]
)


TEXTS = st.lists(
    st.sampled_from(
        [
            *(
                *"0129abf#!/.-+@~: \n(&_xséİ",
                "PR",
                "pr",
                "PRs ",
                "/pull/",
                "pull request ",
            ),
            *("12", "3f2a1b9", "0123456789abcdef", "0a" * 20, "Pull request #", ".."),
            *("py", ".c", ".json", ".gradle", "Makefile", "src/a", ".py", "node.js"),
        ]
    ),
    max_size=20,
).map("".join)


@relaxed
@given(TEXTS)
def test_the_rules_are_those_of_regular_expressions(text: str) -> None:
    assert named_in(text) == References(
        tuple(patterns.files_in(text)),
        tuple(patterns.prs_in(text)),
        tuple(patterns.commits_in(text)),
    )


@relaxed
@given(st.lists(PIECES, max_size=30).map("".join))
def test_search_finds_all_that_is_taken_from_a_text(text: str) -> None:
    """The patterns here are stricter, never wider."""
    item = entry(text)
    about = references(item)
    asked = [
        *(Mentions(file=path) for path in about.files),
        *(Mentions(pr=number) for number in about.prs),
        *(Mentions(commit=commit) for commit in about.commits),
    ]
    for mentions in asked:
        try:
            checked = mentions.checked()
        except InvalidInputError:
            continue  # a name of nothing but punctuation
        assert checked.fit(item), mentions


PIECES_OF_LONG_TEXTS = [
    *("a", "a/", "a.", "#1 ", ".py", "/", "abc1234 ", ".c ", "file", "0a"),
    # Each is the end of a path, but all together are the path of the last one.
    "a.py..",
]


@pytest.mark.parametrize("piece", PIECES_OF_LONG_TEXTS)
def test_a_long_text_takes_linear_time(piece: str) -> None:
    begun = time.process_time()
    references(entry("//" + piece * (500_000 // len(piece))))
    assert time.process_time() - begun < 5


def test_a_path_is_no_longer_than_the_system_allows() -> None:
    longest = f"{'a/' * 2046}b.py"
    assert len(longest) == 4096
    assert references(entry(longest)).files == (longest,)
    assert references(entry(f"a{longest} a.py")).files == ("a.py",)

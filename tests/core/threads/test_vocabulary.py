"""The words an entry may be made of."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads import vocabulary


@pytest.mark.parametrize(
    "title",
    [
        "\U0001f469\u200d\U0001f4bb codes",  # a woman, joined to a computer
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian needs a ZWNJ
        "Pr\u00eat\u00a0!",  # a blank that does not break, as French has it
        "\u30ed\u30b0\u30a4\u30f3\u3000\u4fee\u6b63",  # the blank of Japanese
        "new \U0001fae9",  # newer than this Python's tables may be
        "co\u00adoperate",
    ],
)
def test_a_title_is_written_as_people_write(title: str) -> None:
    assert vocabulary.title(title) == title
    assert vocabulary.reason(f" {title} ") == title


@pytest.mark.parametrize(
    "bad",
    [
        *("a\x1b[31mb", "a\x00b", "a\x9bb", "a\u202eb", "a\u2066b", "a\U000e0041b"),
        *("a\udcffb", "a\u2028b", "a\x85b", "a\nb", "", " ", "\u200d", "\u00ad\u200b"),
    ],
)
def test_what_acts_or_is_not_seen_is_no_title(bad: str) -> None:
    with pytest.raises(InvalidInputError):
        vocabulary.title(bad)


@pytest.mark.parametrize("bad", ["a\u200db", "a\u00a0b", "a\u00adb"])
def test_what_is_typed_again_looks_as_it_is(bad: str) -> None:
    for check in (vocabulary.name, vocabulary.key):
        with pytest.raises(InvalidInputError):
            check(bad)


def is_branch_to_git(name: str) -> bool:
    """What ``git check-ref-format --branch`` says, which also takes ``@{-1}``."""
    words = ["git", "check-ref-format", f"refs/heads/{name}"]
    done = subprocess.run(words, capture_output=True, check=False)
    return done.returncode == 0 and name != "HEAD" and name[0] != "-"


BRANCHES = st.lists(
    st.sampled_from(
        [*"ab-./@{}~^:?*[]\\ \t\x7f\x01", "..", ".lock", "HEAD", "é", "@{"]
    ),
    min_size=1,
    max_size=6,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(BRANCHES)
@example("fix/login")
@example("HEAD")
@example("@")
@example("a.lock/b")
@example("refs/heads/a")
def test_a_branch_is_what_git_allows(name: str) -> None:
    name = name.strip() or "-"
    try:
        assert vocabulary.branch(name) == name
        allowed = True
    except InvalidInputError:
        allowed = False
    assert allowed == is_branch_to_git(name)


@pytest.mark.parametrize("bad", ["b" * 251, "a\nb", "a\x1b[31m", "a\udcff", "\x9b"])
def test_what_git_allows_and_we_do_not(bad: str) -> None:
    with pytest.raises(InvalidInputError):
        vocabulary.branch(bad)


def test_no_branch() -> None:
    assert vocabulary.branch("") == ""
    assert vocabulary.branch(" fix/ui ") == "fix/ui"

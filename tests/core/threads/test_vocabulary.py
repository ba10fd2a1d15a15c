"""The words an entry may be made of."""

from __future__ import annotations

import pytest

from wc_core.errors import InvalidInputError
from wc_core.threads import vocabulary


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

"""Wrapping text at words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_cli.run.widths import width_of, wrapped

_COLOR = r"\x1b\[[0-9;]*m"
WORDS = st.text("abc日\u0301🎾", min_size=1, max_size=12)
COLORED = st.builds("\x1b[1m{}\x1b[0m".format, WORDS)
PHRASES = st.lists(WORDS | COLORED, min_size=1, max_size=30).map(" ".join)
BEGINNINGS = st.sampled_from(["", "  ", "    ", "- ", "  > ", "1. "])
LINES = st.builds(
    "{}{}{}".format, BEGINNINGS, PHRASES, st.sampled_from(["", ": wc take x"])
)


@given(st.lists(LINES, min_size=1, max_size=3).map("\n".join), st.integers(20, 90))
def test_lines_fit_and_no_word_is_lost(text: str, width: int) -> None:
    shown = re.sub(_COLOR, "", wrapped(text, width))
    plain = re.sub(_COLOR, "", text)
    assert _words(shown) == _words(plain)
    for line in shown.split("\n"):
        longest = max(map(width_of, line.split()), default=0)
        assert width_of(line) <= width or longest + 6 > width or "wc take" in line
    if all(width_of(line) <= width for line in plain.split("\n")):
        assert wrapped(text, width) == text


def _words(text: str) -> list[str]:
    return [word for word in text.split() if word != ">"]


@given(st.lists(WORDS, min_size=1, max_size=30).map(" ".join), st.integers(20, 60))
def test_no_colour_goes_beyond_its_line(text: str, width: int) -> None:
    for line in wrapped(f"\x1b[2m{text}\x1b[0m", width).split("\n"):
        assert re.fullmatch(r" *\x1b\[2m[^\x1b]+\x1b\[0m", line)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three four", "one two three\n  four"),
        ("  one two three four", "  one two\n    three four"),
        ("- one two three four", "- one two\n  three four"),
        ("  > one two three four", "  > one two\n  > three four"),
        (
            "\x1b[1mone two three four\x1b[0m",
            "\x1b[1mone two three\x1b[0m\n  \x1b[1mfour\x1b[0m",
        ),
        # A long word begins a line, and a command is never broken.
        ("see /a/path/that/is/long now", "see\n  /a/path/that/is/long\n  now"),
        ("Take it: wc take login -m x", "Take it:\n  wc take login -m x"),
        ("    wc take login -m long", "    wc take login -m long"),
        ("Run: wc undo now. Or not at all", "Run:\n  wc undo now.\n  Or not at\n  all"),
    ],
)
def test_what_continues_a_line_is_indented(text: str, shown: str) -> None:
    assert wrapped(text, 14) == shown

"""What conflicting lines are in."""

from __future__ import annotations

import pytest

from wc_cli.edits.radar.merges import OneSide, conflict_symbols, split_sides

MARKED = b"""\
import os

def login(user):
<<<<<<< aa11
    check(user)
||||||| base
    pass
=======
    verify(user)
    trace(user)
>>>>>>> bb22
    return user

class Form:
    async def show(self):
        one = 1
<<<<<<< aa11
        two = 2
=======
>>>>>>> bb22
"""


def test_the_sides_of_a_marked_text() -> None:
    left, right = split_sides(MARKED, "aa11", "bb22")
    assert left.hunks == ((4, 4), (10, 10))
    assert right.hunks == ((4, 5), (11, 10))
    assert left.text.splitlines()[3] == b"    check(user)"
    assert right.text.splitlines()[3:5] == [b"    verify(user)", b"    trace(user)"]
    assert b"pass" not in left.text + right.text
    assert left.text.splitlines()[9] == b"        two = 2"


def test_marks_that_a_file_has_of_its_own_are_text() -> None:
    text = b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"
    left, right = split_sides(text, "aa11", "bb22")
    assert left == right == OneSide(text, ())


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        (MARKED, ("def login(user)", "async def show(self)")),
        # Two functions at the end of a file.
        (
            b"<<<<<<< aa11\n\ndef out():\n 1\n=======\ndef new():\n 1\n>>>>>>> bb22\n",
            ("def out()", "def new()"),
        ),
        (b"<<<<<<< aa11\n  1\n=======\n  2\n>>>>>>> bb22\n", ()),
        (b"", ()),
        (b"f\xff {\n<<<<<<< aa11\n 1\n=======\n 2\n>>>>>>> bb22\n", ("f\ufffd",)),
    ],
)
def test_headings(marked: bytes, expected: tuple[str, ...]) -> None:
    assert conflict_symbols("a.txt", marked, "aa11", "bb22") == expected


def test_only_a_few_are_named() -> None:
    part = b"def f%d():\n<<<<<<< aa11\n 1\n=======\n 2\n>>>>>>> bb22\n"
    marked = b"".join(part % number for number in range(20))
    assert len(conflict_symbols("a.txt", marked, "aa11", "bb22")) == 8


def test_definitions_on_both_sides() -> None:
    assert conflict_symbols("a.py", MARKED, "aa11", "bb22") == ("login", "Form.show")


def test_what_is_in_no_definition_has_no_name() -> None:
    marked = b"def f():\n 1\n<<<<<<< aa11\n2\n=======\n3\n>>>>>>> bb22\n"
    assert conflict_symbols("a.txt", marked, "aa11", "bb22") == ("def f()",)
    assert conflict_symbols("a.py", marked, "aa11", "bb22") == ()

"""Text fitted to a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from wc_cli.terminal.render import Style, cut_to_width, output_style, width_of

if TYPE_CHECKING:
    from tests.conftest import Repo


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("日本", 4), ("cafe\u0301", 4), ("a\u200db", 2), ("🎾", 2)],
)
def test_width(text: str, width: int) -> None:
    assert width_of(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("日本語", 6, "日本語"),
    ],
)
def test_cut(text: str, width: int, shown: str) -> None:
    assert cut_to_width(text, width) == shown
    assert width_of(shown) <= width


def test_no_colour_is_no_escape() -> None:
    assert Style(color=False)("x", "1") == "x"
    assert Style(color=True)("x", "1", "33") == "\x1b[1;33mx\x1b[0m"
    assert Style(color=True)("", "1") == ""
    assert not output_style({}).color


def test_a_list_fits_its_terminal(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "日本語 and a title that goes on and on " * 3)
    machine = repo.machine
    ours, theirs = pty.openpty()
    subprocess.run(
        [*machine.wc_words, "list"],
        cwd=repo.path,
        env={**machine.env, "TERM": "dumb", "COLUMNS": "70"},
        stdout=theirs,
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode().replace("\r\n", "\n")
    os.close(ours)
    lines = shown.splitlines()
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert max(map(width_of, lines)) <= 70

"""Lists of threads on terminals of any width."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from wc_cli.run.terminal import fitting
from wc_cli.run.terminal.fitting import ListColumn, RowAccent, fitted_widths
from wc_cli.run.terminal.render import COLUMNS
from wc_cli.run.terminal.style import Style
from wc_cli.run.widths import width_of
from wc_core.reading.views.drawing.badges import HUES, Badge, badge_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.reading.views.drawing.badges import Hue

# Letters, blanks, wide characters, combining marks, pictures, and from right to left.
TEXTS = st.text("ab -@日本語한\u0301\u0323é🎾⚠\ufe0f…שלام", max_size=60)
BADGES = st.builds(Badge, st.integers(0, len(HUES) - 1), st.just("X"), st.booleans())
ACCENTS = st.builds(
    RowAccent, st.booleans(), st.booleans(), st.booleans(), st.none() | BADGES
)
ROWS = st.tuples(
    st.tuples(st.sampled_from([">", "?", ""]), *[TEXTS] * len(COLUMNS)), ACCENTS
)
LONG = (
    *(">", "a-topic-of-so-many-words-that-no-terminal-has-room-for-it"),
    *("Claude Code@a-seat-of-many-words (teammate)", "waits for another-topic +2"),
    *("1234 (+56 new)", "12w", "日本語の長い題名と、cafe\u0301 and some more " * 3),
)
SHORT = ("", "日本語の話題名", "Codex", "OPEN", "1", "now", "Short")
MANY = [
    (LONG, RowAccent(is_due=True, is_mine=True, holder=badge_of("Claude Code"))),
    (SHORT, RowAccent(holder=badge_of("Codex"))),
] * 40
WIDTHS = st.integers(0, 60)


@given(
    st.lists(WIDTHS, min_size=7, max_size=7),
    st.integers(40, 200),
    st.permutations(COLUMNS),
    st.integers(1, 6),
)
def test_columns_fit(
    needed: list[int], limit: int, columns: list[str], count: int
) -> None:
    names = ["mark", *columns[:count]]
    widths = dict(zip(names, [needed[0] % 2, *needed[1:]], strict=False))
    short = {name: min(width, 12) for name, width in widths.items()}
    fitted = fitted_widths(widths, short, limit)
    assert set(fitted) <= set(widths)
    assert len(fitted) > 1
    taken = sum(fitted.values()) + 2 * (len(fitted) - 1)
    assert taken <= limit
    if sum(widths.values()) + 2 * (len(widths) - 1) <= limit:
        assert fitted == widths
    if limit >= 80 and "topic" in widths:
        assert fitted["topic"] >= min(widths["topic"], 24)
    if "title" in fitted and len(fitted) > 2:
        assert fitted["title"] >= min(widths["title"], 12)


@given(
    st.lists(ROWS, min_size=1, max_size=6),
    st.permutations(COLUMNS),
    st.integers(1, len(COLUMNS)),
    st.sampled_from([40, 60, 80, 120]),
    st.booleans(),
)
def test_no_line_wraps(
    rows: list[tuple[tuple[str, ...], RowAccent]],
    columns: list[str],
    count: int,
    limit: int,
    color: bool,  # noqa: FBT001
) -> None:
    lines = _lines(rows, columns[:count], limit, color=color)
    assert len(lines) == len(rows) + 1
    assert max(map(cell_len, lines)) <= limit
    assert max(map(width_of, lines)) <= limit


@pytest.mark.parametrize(
    ("limit", "columns", "shown"),
    [
        (40, "TOPIC BALL", ["a-topic-of-so-many-wor…", "Claude Code…"]),
        (60, "TOPIC BALL STATUS NEW AGE", ["-topic-of-so-many-words…", "waits", "+56"]),
        (
            80,
            "TOPIC BALL STATUS NEW AGE TITLE",
            ["a-topic-of-so-many-words…", "Claude Code…", "日本語の長"],
        ),
        (
            120,
            "TOPIC BALL STATUS NEW AGE TITLE",
            ["a-topic-of-so-many-words-that-n", "日本語の長い題名と、caf"],
        ),
        (
            300,
            "TOPIC BALL STATUS ENTRIES AGE TITLE",
            [LONG[1], LONG[2], LONG[3], LONG[4], LONG[5]],
        ),
    ],
)
def test_columns_are_shortened_before_they_are_dropped(
    limit: int, columns: str, shown: list[str]
) -> None:
    heading, first, second, *rest = _lines(MANY, COLUMNS, limit)
    assert heading.split() == columns.split()
    assert [text for text in shown if text not in first] == []
    assert "Codex" in second
    assert len(rest) == len(MANY) - 2
    assert max(map(cell_len, [heading, first, second, *rest])) <= limit
    # Columns are aligned behind characters of any width.
    before_ball = second.partition("Codex")[0]
    assert cell_len(before_ball) == heading.index("BALL")


@pytest.mark.parametrize("hue", HUES)
def test_names_are_readable_on_dark_and_on_light_terminals(hue: Hue) -> None:
    level = _luminance(hue.ink)
    assert (level + 0.05) / 0.05 >= 3.9
    assert 1.05 / (level + 0.05) >= 3.9


def _luminance(color: int) -> float:
    """Returns the relative luminance of one of 256 colours, as WCAG defines it."""
    steps = (0, 95, 135, 175, 215, 255)
    grey = (8 + 10 * (color - 232),) * 3
    place = color - 16
    cube = (steps[place // 36 % 6], steps[place // 6 % 6], steps[place % 6])
    parts = [part / 255 for part in (grey if color >= 232 else cube)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _lines(
    rows: Sequence[tuple[tuple[str, ...], RowAccent]],
    names: Sequence[str],
    limit: int,
    *,
    color: bool = False,
) -> list[str]:
    """Returns the lines of a list, without the colours."""
    marks = [cells[0] for cells, _ in rows]
    columns = []
    for name in names:
        texts = [cells[COLUMNS.index(name) + 1] for cells, _ in rows]
        short = {
            "entries": [text.partition("(")[2].split(" ")[0] for text in texts],
            "status": [text.split(" ")[0] for text in texts],
        }
        heading = "NEW" if name == "entries" else name.upper()
        columns.append(
            ListColumn(name, name.upper(), texts, heading, short.get(name, ()))
        )
    accents = [accent for _, accent in rows]
    style = Style(color=color)
    lines = fitting.fitted_lines(marks, columns, accents, style, limit)
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]

"""Lists of threads on terminals of any width."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from wc_cli.run.terminal import fitting
from wc_cli.run.terminal.fitting import RowAccent, fitted_widths
from wc_cli.run.terminal.render import COLUMNS
from wc_cli.run.terminal.style import Style
from wc_cli.run.terminal.widths import width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# Letters, blanks, wide characters, combining marks, pictures, and from right to left.
TEXTS = st.text("ab -@日本語한\u0301\u0323é🎾⚠\ufe0f…שלام", max_size=60)
ACCENTS = st.builds(
    RowAccent, st.booleans(), st.booleans(), st.none() | st.integers(16, 255)
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
ALL = " ".join(COLUMNS).upper()
MANY = [(LONG, RowAccent(is_due=True, holder_color=130)), (SHORT, RowAccent())] * 40
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
    fitted = fitted_widths(widths, limit)
    assert set(fitted) <= set(widths)
    assert names[-1] in fitted
    assert sum(fitted.values()) + 2 * (len(fitted) - 1) <= limit
    if sum(widths.values()) + 2 * (len(widths) - 1) <= limit:
        assert fitted == {**widths, names[-1]: max(1, widths[names[-1]])}


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
        (40, "TOPIC BALL TITLE", ["a-topic-o…", "Claude …", "日本語の長"]),
        (60, "TOPIC BALL STATUS AGE TITLE", ["a-topic-o…", "Claude …", "waits for…"]),
        (80, ALL, ["a-topic-o…", "Claude …", "waits for a", "日本語の長…"]),
        (120, ALL, ["many-words", "Claude Code…", "waits for another-topic +2"]),
        (300, ALL, [LONG[1], LONG[2], LONG[3], LONG[4], LONG[5]]),
    ],
)
def test_long_balls_and_topics_are_cut_before_columns_are_dropped(
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


def _lines(
    rows: Sequence[tuple[tuple[str, ...], RowAccent]],
    columns: Sequence[str],
    limit: int,
    *,
    color: bool = False,
) -> list[str]:
    """Returns the lines of a list, without the colours."""
    chosen = [0, *(COLUMNS.index(name) + 1 for name in columns)]
    cells = [[cells[n] for n in chosen] for cells, _ in rows]
    accents = [accent for _, accent in rows]
    style = Style(color=color)
    lines = fitting.fitted_lines(columns, cells, accents, style, limit)
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]

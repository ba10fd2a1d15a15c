"""Lists of threads on terminals of any width."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from wc_cli.run.terminal import fitting
from wc_cli.run.terminal.fitting import ListColumn, RowAccent, fitted_widths
from wc_cli.run.terminal.render import COLUMNS
from wc_cli.run.terminal.style import Style
from wc_cli.run.widths import width_of
from wc_core.reading.views.drawing.badges import HUES, Badge

if TYPE_CHECKING:
    from collections.abc import Sequence


# Letters, blanks, wide characters, combining marks, pictures, and from right to left.
TEXTS = st.text("ab -@日本語한\u0301\u0323é🎾⚠\ufe0f…שלام", max_size=60)
BADGES = st.builds(Badge, st.integers(0, len(HUES) - 1), st.just("X"), st.booleans())
ACCENTS = st.builds(
    RowAccent, st.booleans(), st.booleans(), st.booleans(), st.none() | BADGES
)
ROWS = st.tuples(
    st.tuples(st.sampled_from([">", "?", ""]), *[TEXTS] * len(COLUMNS)), ACCENTS
)
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

"""Lists and tables as text.

Untrusted text is cleaned before it is printed.
"""

from __future__ import annotations

from wc_cli.ledger.clock import now_ms
from wc_cli.run.terminal.labels import says_more, short_name
from wc_cli.run.terminal.style import (
    DIM,
    Style,
    is_terminal,
    output_style,
    terminal_width,
)
from wc_cli.run.widths import cut_to_width, pad, width_of
from wc_core.base.errors import InvalidInputError
from wc_core.base.lean.functools import cache
from wc_core.base.text import one_line, one_lines
from wc_core.base.times import (
    age_text,
    ago,
    ago_and_local,
    milliseconds,
    seconds_between,
    utc,
    with_local_times,
)
from wc_core.ledger.threads.model import ball_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_cli.run.context import Context
    from wc_core.base.phrases import Table
    from wc_core.ledger.summaries.latest import LatestWords
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.rows import ThreadRow

_MIN_TITLE = 12
_WIDE = 110  # columns in which a line has room for a time of 31
# The columns of a thread list, after the mark.
COLUMNS = ("topic", "ball", "status", "entries", "age", "title")


def shown_stamp(text: str) -> str:
    """Return a timestamp for the reader of standard output: for people at a terminal,
    how long ago, and on a wide one the time in their zone, too; for programs, RFC 3339.
    Other text is returned unchanged."""
    moment = milliseconds(text) if is_terminal() else None
    if moment is None:
        return utc(text)
    if terminal_width() >= _WIDE:
        return ago_and_local(moment, now_ms())
    return ago(seconds_between(moment, now_ms()))


def chosen_columns(text: str) -> tuple[str, ...]:
    """Return the columns that a text names; all of them if it is empty. Raises
    InvalidInputError."""
    names = [name.strip().casefold() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise InvalidInputError(
            f"A list has no column {unknown[0]!r}.", f"Columns: {', '.join(COLUMNS)}"
        )
    return tuple(dict.fromkeys(names)) or COLUMNS


def thread_list(
    context: Context,
    rows: Sequence[ThreadRow],
    columns: Sequence[str] = COLUMNS,
    words: Sequence[LatestWords] = (),
) -> str:
    """Return one line for each thread: whose move it is, then these columns. With
    ``words``, a second line has the author and summary of the last entry."""
    if not rows:
        return ""
    style, limit, moment_ms = output_style(context.env), terminal_width(), now_ms()
    texts = {name: _TEXTS[name](rows, moment_ms) for name in columns}
    marks = _marks(rows)
    if limit:
        from wc_cli.run.terminal import fitting  # 2 ms, only on a terminal

        if "status" in texts:
            texts["status"] = [*map(with_local_times, texts["status"])]
        if "title" in texts:
            texts["title"] = _short_titles(rows, context.viewer, moment_ms)
        list_columns = fitting.shortened(context.viewer, rows, texts)
        accents = fitting.row_accents(context, rows)
        lines = fitting.fitted_lines(marks, list_columns, accents, style, limit)
    else:
        named = ([name.upper(), *column] for name, column in texts.items())
        lines = _aligned_lines([["", *marks], *named])
    if words:
        lines[1:] = [
            text
            for line, latest in zip(lines[1:], words, strict=True)
            for text in (line, *_words_line(latest, limit, style))
        ]
    return "\n".join(lines)


def _words_line(words: LatestWords, limit: int, style: Style) -> list[str]:
    if not words.summary.text:
        return []
    line = f"     {one_line(words.author or '?')}: {one_line(words.summary.text)}"
    return [style(cut_to_width(line, limit) if limit else line, DIM)]


# --- the columns of a list, each a text for every row -------------------------


def _marks(rows: Sequence[ThreadRow]) -> list[str]:
    return ["?" if row.asked_by else ">" if row.is_due else "" for row in rows]


def _names(rows: Sequence[ThreadRow], _: int) -> list[str]:
    names = one_lines([row.name for row in rows])
    return [
        f"{name}{' ⑂' if row.forked else ''}{' ⚠' if row.damaged else ''}"
        if row.forked or row.damaged
        else name
        for row, name in zip(rows, names, strict=True)
    ]


def _balls(rows: Sequence[ThreadRow], _: int) -> list[str]:
    return [_repeated(ball_text(row.status, row.ball)) for row in rows]


def _statuses(rows: Sequence[ThreadRow], _: int) -> list[str]:
    texts = [row.waits_text if row.waits else row.status_text for row in rows]
    return [
        f"{_repeated(text)} {row.checklist}" if row.checklist.total else _repeated(text)
        for row, text in zip(rows, texts, strict=True)
    ]


def _entry_counts(rows: Sequence[ThreadRow], _: int) -> list[str]:
    return [
        f"{row.entry_count} (+{row.new_for_you} new)"
        if row.new_for_you
        else str(row.entry_count)
        for row in rows
    ]


def _ages(rows: Sequence[ThreadRow], now_ms: int) -> list[str]:
    return [_age(row, now_ms) for row in rows]


def _age(row: ThreadRow, now_ms: int) -> str:
    if not row.updated_at:
        return ""
    moved = row.moved_ms(now_ms)
    return "?" if moved is None else age_text(seconds_between(moved, now_ms))


def _titles(rows: Sequence[ThreadRow], now_ms: int) -> list[str]:
    """Return the titles. Before one is who has a question for the viewer in the thread,
    and how far its ball has come; after it are the thread's tags."""
    titles = one_lines([row.title for row in rows])
    return [
        _with_facts(title, row, now_ms)
        if row.tags or row.asked_by or row.passed is not None
        else title
        for row, title in zip(rows, titles, strict=True)
    ]


def _short_titles(rows: Sequence[ThreadRow], viewer: Viewer, now_ms: int) -> list[str]:
    """Return the titles for a person at a terminal: those that say more than the topic,
    all with their facts."""
    return [
        _with_facts(
            one_line(row.title) if says_more(row.title, row.name) else "",
            row._replace(asked_by=tuple(short_name(n, viewer) for n in row.asked_by)),
            now_ms,
        ).strip()
        for row in rows
    ]


def _with_facts(title: str, row: ThreadRow, now_ms: int) -> str:
    facts = filter(None, (row.way_text, row.asked_text, row.passed_text(now_ms)))
    before = "".join(f"({one_line(fact)}) " for fact in facts)
    return " ".join([f"{before}{title}", *tag_words(row.tags)])


# By the names in COLUMNS.
_TEXTS = {
    "topic": _names,
    "ball": _balls,
    "status": _statuses,
    "entries": _entry_counts,
    "age": _ages,
    "title": _titles,
}


@cache
def _repeated(text: str) -> str:
    """Cached `one_line`, for texts that many threads have."""
    return one_line(text)


def tag_words(tags: Iterable[str]) -> list[str]:
    """Return tags as they are shown, and as `wc tag` takes them."""
    return [f"+{one_line(tag)}" for tag in tags]


def _aligned_lines(columns: Sequence[Sequence[str]], limit: int = 0) -> list[str]:
    """Return the lines of aligned columns. The last column is cut to ``limit`` (0: not
    cut)."""
    widths = [_width(texts) for texts in columns[:-1]]
    lines = zip(*columns, strict=True)
    if limit:
        return [_aligned_line(cells, widths, limit) for cells in lines]
    pattern = "  ".join([*(f"%-{width}s" for width in widths), "%s"])
    texts = ((cells, pattern % cells) for cells in lines)
    # Each ASCII character takes one column.
    return [
        text.rstrip() if text.isascii() else _aligned_line(cells, widths, 0)
        for cells, text in texts
    ]


def _width(texts: Sequence[str]) -> int:
    """Return the width of a column with these texts."""
    if all(map(str.isascii, texts)):
        return max(map(len, texts))
    return max(map(width_of, texts))


def _aligned_line(cells: tuple[str, ...], widths: list[int], limit: int) -> str:
    *fixed, title = cells
    line = "  ".join(map(pad, fixed, widths))
    if limit:
        title = cut_to_width(title, max(_MIN_TITLE, limit - width_of(line) - 2))
    return f"{line}  {title}".rstrip()


def table_lines(table: Table, style: Style) -> list[str]:
    """Return a table as aligned lines, the longest columns cut to the terminal's
    width."""
    lines = [table.head, *(tuple(map(one_line, row)) for row in table.rows)]
    columns: list[Sequence[str]] = [*zip(*lines, strict=True)]
    if limit := terminal_width():
        widths = [*map(_width, columns)]
        most = max(widths)
        # The last column may be cut below what this leaves to the others.
        gaps = 2 * (len(columns) - 1)
        while most > _MIN_TITLE and sum(min(w, most) for w in widths) + gaps > limit:
            most -= 1
        columns = [[cut_to_width(text, most) for text in texts] for texts in columns]
    head, *rows = _aligned_lines(columns, limit)
    return [style(head, DIM), *rows]

"""Threads and entries as terminal text.

Every word of others is cleaned before it is printed. Colours only where a
person looks: a terminal, and no NO_COLOR.
"""

from __future__ import annotations

import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING

from wc_core.phrases import counted
from wc_core.text import clean, one_line
from wc_core.threads.moves import holder_text
from wc_core.times import age, utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.phrases import Table
    from wc_core.threads.codec import Damage
    from wc_core.threads.reader import Thread
    from wc_core.views.rows import Numbered, ThreadRow
    from wc_core.views.search import Hit
    from wc_core.views.updates import News

_BOLD, _DIM, _YELLOW = "1", "2", "33"
_MIN_TITLE = 12


class Style:
    """Colours, or none."""

    def __init__(self, *, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *codes: str) -> str:
        """``text`` in these colours."""
        if not self.color or not text:
            return text
        return f"\033[{';'.join(codes)}m{text}\033[0m"


def style(env: Mapping[str, str]) -> Style:
    """The style for standard output."""
    return Style(color=for_people(env) and not env.get("NO_COLOR"))


def for_people(env: Mapping[str, str]) -> bool:
    """Whether standard output is a terminal that can do more than print."""
    return sys.stdout.isatty() and env.get("TERM", "") != "dumb"


def width_of(text: str) -> int:
    """How many columns a terminal gives ``text``."""
    if text.isascii():
        return len(text)
    return sum(_columns(one) for one in text)


def _columns(one: str) -> int:
    if unicodedata.combining(one) or unicodedata.category(one) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(one) in {"W", "F"} else 1


def cut(text: str, width: int) -> str:
    """The beginning of ``text`` that fits into ``width`` columns."""
    if width_of(text) <= width:
        return text
    kept, used = [], 1
    for one in text:
        used += _columns(one)
        if used > width:
            break
        kept.append(one)
    return f"{''.join(kept)}…"


def left_to_right(text: str) -> str:
    """``text`` so that what follows it on the line stands to its right, though
    its letters run from right to left: a mark of no width ends it."""
    if text.isascii():
        return text
    runs_left = any(unicodedata.bidirectional(one) in {"R", "AL"} for one in text)
    return f"{text}\u200e" if runs_left else text


def _pad(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def terminal_width() -> int:
    """The width to cut lines to; 0 where nobody looks and nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def thread_list(rows: Iterable[ThreadRow], now_ms: int, look: Style) -> str:
    """One line a thread: whose move, topic, ball, NEW, age, title."""
    cells = [_cells(row, now_ms) for row in rows]
    if not cells:
        return ""
    head = ("", "TOPIC", "BALL", "STATUS", "ENTRIES", "AGE", "TITLE")
    table = [head, *(cell for cell, _ in cells)]
    widths = [max(width_of(line[i]) for line in table) for i in range(len(head) - 1)]
    limit = terminal_width()
    lines = [look(_row_line(head, widths, limit), _DIM)]
    for cell, mine in cells:
        line = _row_line(cell, widths, limit)
        lines.append(look(line, _BOLD) if mine else line)
    return "\n".join(lines)


def _cells(row: ThreadRow, now_ms: int) -> tuple[tuple[str, ...], bool]:
    new = f" (+{row.new_for_you} new)" if row.new_for_you else ""
    marks = f"{' ⑂' if row.forked else ''}{' ⚠' if row.damaged else ''}"
    return (
        ">" if row.have_ball else "",
        one_line(row.topic) + marks,
        one_line(holder_text(row.ball)),
        one_line(row.status),
        f"{row.entry_count}{new}",
        age(row.updated_at, now_ms) if row.updated_at else "",
        one_line(row.title),
    ), row.have_ball


def _row_line(cells: tuple[str, ...], widths: list[int], limit: int) -> str:
    *fixed, title = cells
    line = "  ".join(
        _pad(text, width) for text, width in zip(fixed, widths, strict=True)
    )
    if limit:
        title = cut(title, max(_MIN_TITLE, limit - width_of(line) - 2))
    return f"{line}  {title}".rstrip()


def table(shown: Table, look: Style) -> list[str]:
    """A table as aligned lines; the last column as wide as it is, or cut to
    what the terminal has."""
    lines = [shown.head, *(tuple(map(one_line, row)) for row in shown.rows)]
    columns = range(len(shown.head) - 1)
    widths = [max(width_of(line[i]) for line in lines) for i in columns]
    limit = terminal_width()
    head, *rows = (_row_line(line, widths, limit) for line in lines)
    return [look(head, _DIM), *rows]


def thread_head(thread: Thread, look: Style) -> str:
    """Title, whose move it is, and what is wrong, above a thread's entries."""
    state = thread.state
    ball = f"ball: {one_line(holder_text(state.ball))}"
    entries = counted(state.entry_count, "entry", "entries")
    facts = [one_line(state.status), ball, entries]
    lines = [
        look(f"{one_line(state.topic)}: {one_line(state.title)}", _BOLD),
        " · ".join(facts),
    ]
    if state.forked:
        lines.append(f"forked: {len(state.heads)} histories; the next entry joins them")
    lines.extend(f"damage: {damage_line(one)}" for one in thread.damage)
    return "\n".join(lines)


def damage_line(damage: Damage) -> str:
    """``file:line: what is wrong``."""
    return one_line(f"{damage.place}: {damage.message}")


def entry(one: Numbered, look: Style) -> str:
    """One entry: a line about it that ends with its id, its title, its body
    quoted by indentation."""
    item = one.entry
    about = [f"#{one.idx}", item.agent or "?", utc(item.at), item.role, item.type]
    if item.ball is not None:
        about.append(f"ball → {holder_text(item.ball.holder)}")
    if item.status:
        about.append(item.status)
    if one.forked:
        about.append("forked")
    about.append(item.id)
    head = " · ".join(one_line(part) for part in about if part)
    lines = [look(head, _DIM), look(one_line(item.title), _BOLD)]
    if item.reason:
        lines.append(f"reason: {one_line(item.reason)}")
    if item.body:
        # Indented: a body cannot pass for the next entry's head.
        lines.append("")
        lines += [f"    {line}".rstrip() for line in clean(item.body).split("\n")]
    return "\n".join(lines)


def hit(found: Hit, look: Style) -> str:
    """A search result: where it is, its title, the words around the match."""
    item = found.numbered.entry
    place = f"{one_line(found.topic)} #{found.numbered.idx}"
    about = f"{one_line(item.agent)} · {one_line(utc(item.at))}"
    return (
        f"{look(place, _BOLD)} {one_line(item.title)} {look(about, _DIM)}\n"
        f"    {one_line(found.snippet)}"
    )


def news(found: News, look: Style) -> str:
    """A thread in a digest: whose move it is, what came, the last of it."""
    row, last = found.row, found.last
    place = look(one_line(row.topic), _BOLD)
    ball = look(f"ball: {one_line(holder_text(row.ball))}", _YELLOW)
    authors = ", ".join(one_line(one) for one in found.authors)
    count = counted(found.new, "entry", "entries")
    return (
        f"{place} {one_line(row.title)} · {one_line(row.status)} · {ball}\n"
        f"    {count} by {authors}, the last: {one_line(last.entry.title)}"
    )


def update(topic: str, one: Numbered, look: Style) -> str:
    """An entry among the updates: one line."""
    item = one.entry
    place = look(f"{one_line(topic)} #{one.idx}", _BOLD)
    ball = ""
    if item.ball is not None:
        ball = look(f" → {one_line(holder_text(item.ball.holder))}", _YELLOW)
    at = one_line(utc(item.at))
    return f"{at} {place} {one_line(item.agent)}: {one_line(item.title)}{ball}"

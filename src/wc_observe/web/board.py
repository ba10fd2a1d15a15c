"""The board page: threads by holder."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads.model import CLOSED
from wc_core.values import NamedTuple
from wc_core.views.rows import has_words
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import (
    WebPage,
    holder_name,
    moment,
    more_link,
    thread_marks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.views.rows import ThreadRow
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

# Limits: cards in my column, cards in each other column, other columns.
_MINE, _THEIRS, _COLUMNS = 50, 12, 12
_ROWS = 100
_TITLE = 160


class HolderColumn(NamedTuple):
    """The open threads of one holder (``None``: the ball is free), latest move first.

    ``mine`` marks the column of the viewer, with every ball they may play."""

    holder: str | None
    rows: list[ThreadRow]
    mine: bool = False
    waiting: bool = False


def columns(rows: Iterable[ThreadRow]) -> list[HolderColumn]:
    """Returns the open threads by holder: mine, then free balls, then those that wait
    for another thread, then all others.

    Within a column, and among the others, the latest move comes first."""
    mine = HolderColumn(None, [], mine=True)
    free = HolderColumn(None, [])
    waiting = HolderColumn(None, [], waiting=True)
    others: dict[str, HolderColumn] = {}
    for row in rows:
        if row.status == CLOSED:
            continue
        if row.waits:
            waiting.rows.append(row)
        elif row.have_ball:
            mine.rows.append(row)
        elif row.ball is None:
            free.rows.append(row)
        else:
            column = others.setdefault(row.ball, HolderColumn(row.ball, []))
            column.rows.append(row)
    rare = [column for column in (free, waiting) if column.rows]
    return [mine, *rare, *others.values()]


def board_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the board."""
    words = query.get("filter", "")
    rows = rows_with_words(store.overview.rows(), words)
    every_column = columns(rows)
    visible, hidden = every_column[: _COLUMNS + 2], every_column[_COLUMNS + 2 :]
    closed = sum(row.status == CLOSED for row in rows)
    main = joined(
        (
            element("h1", "Board", class_="unseen"),
            _filter(context.links.board(), words, len(rows)),
            element(
                "div",
                *(_column(column, context, words) for column in visible),
                class_="board",
            ),
            _hidden_columns(hidden, context),
            _closed(closed, context, words),
        )
    )
    return WebPage("", main, "board", mark=len(every_column[0].rows))


def rows_with_words(rows: list[ThreadRow], words: str) -> list[ThreadRow]:
    """Returns the rows that have every word in their topic, title or holder, and every
    ``+tag`` among their tags."""
    if not words.strip():
        return rows
    return [row for row in rows if has_words(row, words)]


def _filter(action: str, words: str, count: int) -> Html:
    return element(
        "form",
        element("label", "Filter", for_="filter"),
        element(
            "input",
            id="filter",
            name="filter",
            type="search",
            value=words,
            placeholder="topic, title, holder or +tag",
            autocomplete="off",
            aria_keyshortcuts="f",
        ),
        element("output", counted(count, "thread"), id="count", for_="filter"),
        action=action,
        class_="filter",
    )


def _column(column: HolderColumn, context: PageContext, words: str) -> Html:
    limit = _MINE if column.mine else _THEIRS
    rows, hidden = column.rows[:limit], len(column.rows) - limit
    key = "mine" if column.mine else quote(column.holder or "anyone", safe="")
    holder: Html = (
        element("bdi", context.me) if column.mine else holder_name(column.holder)
    )
    if column.waiting:
        # No holder has such a name.
        key, holder = "=waiting", element("span", "Waiting for another thread")
    heading = [element("span", class_="ball", aria_hidden="true"), holder]
    if column.mine:
        heading.append(element("span", "you", class_="mark you"))
    ball = "me" if column.mine else column.holder or "anyone"
    of_holder = {} if column.waiting else {"ball": ball}
    cards = element("ul", *(_card(row, context) for row in rows)) if rows else NOTHING
    nothing = "No match here." if words.strip() else "Nothing waits for you."
    empty = element("p", nothing, class_="none")
    return element(
        "section",
        element(
            "h2",
            joined(
                (*heading, element("span", str(len(column.rows)), class_="count")), " "
            ),
            id=f"h-{key}",
        ),
        cards or empty,
        more_link(context.links.threads(**of_holder, open="1"), f"{hidden} more")
        if hidden > 0
        else NOTHING,
        class_=f"column {_kind(column)}".strip(),
        aria_labelledby=f"h-{key}",
        id=f"c-{key}",
    )


def _kind(column: HolderColumn) -> str:
    if column.mine:
        return "mine"
    return "free" if column.holder is None else ""


def _card(row: ThreadRow, context: PageContext) -> Html:
    topic = one_line(row.name)
    parts = [
        element("bdi", topic, class_="topic"),
        moment(row.updated_at, context.now_ms),
        element("span", one_line(row.title, _TITLE), class_="title", dir="auto"),
    ]
    if row_marks := thread_marks(row):
        parts.append(element("span", row_marks, class_="marks"))
    return element(
        "li",
        element(
            "a",
            # Screen readers read the words of a link without a pause unless spaces
            # separate them.
            joined(parts, " "),
            href=context.links.thread(row.name),
            id=f"t-{topic}",
            data_item=True,
        ),
        class_="fresh" if row.new_for_you else None,
        id=f"i-{topic}",
    )


def _hidden_columns(columns: list[HolderColumn], context: PageContext) -> Html:
    if not columns:
        return NOTHING
    names = (
        element(
            "li",
            element(
                "a",
                holder_name(column.holder),
                " ",
                element("span", str(len(column.rows)), class_="count"),
                href=context.links.threads(ball=column.holder or "", open="1"),
                data_item=True,
            ),
        )
        for column in columns[:200]
    )
    heading = element("h2", f"{len(columns)} more have a ball")
    return element("section", heading, element("ul", *names), class_="others")


def _closed(count: int, context: PageContext, words: str) -> Html:
    if not count:
        return NOTHING
    href = context.links.threads(status=CLOSED, filter=words)
    return more_link(href, f"{counted(count, 'thread')} closed")

"""Whose move it is: threads by who holds their ball, and threads as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from wc_core.errors import InvalidInputError
from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads.model import CLOSED, STATUSES
from wc_core.views.rows import Filter
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, marks, moment, more_link, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.views.rows import ThreadRow
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

# Threads of mine, of each other column, and columns beside mine.
_MINE, _THEIRS, _COLUMNS = 50, 12, 12
_ROWS = 100
_TITLE = 160


class HolderColumn(NamedTuple):
    """The open threads whose ball is with one holder (``None``: nobody), the
    latest move first; ``mine`` are those whom who looks can play."""

    holder: str | None
    rows: list[ThreadRow]
    mine: bool = False


def columns(rows: Iterable[ThreadRow]) -> list[HolderColumn]:
    """What is open, by holder: mine first, then what anybody may take, then
    the others, the latest move first."""
    mine = HolderColumn(None, [], mine=True)
    free = HolderColumn(None, [])
    others: dict[str, HolderColumn] = {}
    for row in rows:
        if row.status == CLOSED:
            continue
        if row.have_ball:
            mine.rows.append(row)
        elif row.ball is None:
            free.rows.append(row)
        else:
            column = others.setdefault(row.ball, HolderColumn(row.ball, []))
            column.rows.append(row)
    return [mine, *([free] if free.rows else ()), *others.values()]


def board(store: OpenStore, context: PageContext, query: Mapping[str, str]) -> WebPage:
    """Whose move it is."""
    words = query.get("filter", "")
    rows = filtered(store.overview.rows(), words)
    found = columns(rows)
    shown, rest = found[: _COLUMNS + 2], found[_COLUMNS + 2 :]
    closed = sum(row.status == CLOSED for row in rows)
    main = joined(
        (
            element("h1", "Board", class_="unseen"),
            _filter(context.links.board(), words, len(rows)),
            element("div", *(_column(one, context) for one in shown), class_="board"),
            _others(rest, context),
            _closed(closed, context, words),
        )
    )
    return WebPage("", main, "board", mark=len(found[0].rows))


def filtered(rows: list[ThreadRow], words: str) -> list[ThreadRow]:
    """Those with all of the words in their topic, title or holder."""
    wanted = words.casefold().split()
    if not wanted:
        return rows
    return [
        row
        for row in rows
        if all(
            one in f"{row.topic} {row.title} {row.ball or ''}".casefold()
            for one in wanted
        )
    ]


def _filter(action: str, words: str, count: int) -> Html:
    return element(
        "form",
        element("label", "Show only", for_="filter"),
        element(
            "input",
            id="filter",
            name="filter",
            type="search",
            value=words,
            placeholder="topic, title or holder",
            autocomplete="off",
            aria_keyshortcuts="f",
        ),
        element("output", counted(count, "thread"), id="count", for_="filter"),
        action=action,
        class_="filter",
    )


def _column(column: HolderColumn, context: PageContext) -> Html:
    limit = _MINE if column.mine else _THEIRS
    rows, left = column.rows[:limit], len(column.rows) - limit
    key = "mine" if column.mine else quote(column.holder or "anyone", safe="")
    who: Html = element("bdi", context.me) if column.mine else name_of(column.holder)
    heading = [element("span", class_="ball", aria_hidden="true"), who]
    if column.mine:
        heading.append(element("span", "you", class_="mark you"))
    ball = "me" if column.mine else column.holder or "anyone"
    cards = element("ul", *(_card(row, context) for row in rows)) if rows else NOTHING
    none = element("p", "Nothing waits for you.", class_="none")
    return element(
        "section",
        element(
            "h2",
            joined(
                (*heading, element("span", str(len(column.rows)), class_="count")), " "
            ),
            id=f"h-{key}",
        ),
        cards or none,
        more_link(context.links.threads(ball=ball, open="1"), f"{left} more")
        if left > 0
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
    topic = one_line(row.topic)
    parts = [
        element("bdi", topic, class_="topic"),
        moment(row.updated_at, context.now_ms),
        element("span", one_line(row.title, _TITLE), class_="title", dir="auto"),
    ]
    if found := marks(row):
        parts.append(element("span", found, class_="marks"))
    return element(
        "li",
        element(
            "a",
            # The spaces are for who hears it: the words of a link in one breath.
            joined(parts, " "),
            href=context.links.thread(row.topic),
            id=f"t-{topic}",
            data_item=True,
        ),
        class_="fresh" if row.new_for_you else None,
        id=f"i-{topic}",
    )


def _others(rest: list[HolderColumn], context: PageContext) -> Html:
    if not rest:
        return NOTHING
    names = (
        element(
            "li",
            element(
                "a",
                name_of(one.holder),
                " ",
                element("span", str(len(one.rows)), class_="count"),
                href=context.links.threads(ball=one.holder or "", open="1"),
                data_item=True,
            ),
        )
        for one in rest[:200]
    )
    heading = element("h2", f"{len(rest)} more have a ball")
    return element("section", heading, element("ul", *names), class_="others")


def _closed(count: int, context: PageContext, words: str) -> Html:
    if not count:
        return NOTHING
    href = context.links.threads(status=CLOSED, filter=words)
    return more_link(href, f"{counted(count, 'thread')} closed")


# --- the list ----------------------------------------------------------------


def threads(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Threads as a list, the latest move first."""
    status, ball = query.get("status", "").upper(), query.get("ball", "")
    if status and status not in STATUSES:
        raise InvalidInputError(
            f"{status!r} is not a status.", f"There are: {', '.join(STATUSES)}"
        )
    words, cursor = query.get("filter", ""), query.get("cursor", "")
    where = Filter(open_only=bool(query.get("open")), ball=ball, status=status)
    if words:
        rows = filtered(store.overview.matching(where), words)
        shown, total, following = rows[:_ROWS], len(rows), ""
    else:
        page = store.overview.page(where, _ROWS, cursor)
        shown, total, following = [*page.rows], page.total, page.cursor
    kept = {"status": status, "ball": ball, "open": query.get("open", "")}
    more = NOTHING
    if following:
        more = more_link(
            context.links.threads(**kept, cursor=following), "Older threads"
        )
    elif len(shown) < total:
        more = element("p", f"The first {len(shown)} of {total} are shown.")
    main = joined(
        (
            element("h1", "Threads"),
            _choice(context, query, total),
            _table(shown, context),
            more,
        )
    )
    return WebPage("Threads", main, "threads")


def _choice(context: PageContext, query: Mapping[str, str], count: int) -> Html:
    options = [
        ("", "any status"),
        *((one, one.replace("_", " ").lower()) for one in STATUSES),
    ]
    chosen = query.get("status", "").upper()
    return element(
        "form",
        field("filter", "Words", query.get("filter", ""), "topic, title or holder"),
        field("ball", "Ball", query.get("ball", ""), "a name, me, anyone"),
        choice("status", "Status", options, chosen),
        element(
            "label",
            element(
                "input",
                type="checkbox",
                name="open",
                value="1",
                checked=bool(query.get("open")),
            ),
            " open only",
        ),
        element("button", "Show"),
        element("output", counted(count, "thread"), id="count"),
        action=context.links.threads(),
        class_="filter",
    )


def field(name: str, words: str, value: str, hint: str = "") -> Html:
    """A labelled field of a form."""
    return element(
        "label",
        words,
        " ",
        element(
            "input",
            name=name,
            id=name,
            value=value,
            placeholder=hint,
            autocomplete="off",
        ),
    )


def choice(
    name: str, words: str, options: Iterable[tuple[str, str]], chosen: str
) -> Html:
    """A labelled choice in a form."""
    each = (
        element("option", said, value=value, selected=value == chosen)
        for value, said in options
    )
    return element("label", words, " ", element("select", *each, name=name))


def _table(rows: Iterable[ThreadRow], context: PageContext) -> Html:
    lines = [_line(row, context) for row in rows]
    if not lines:
        return element("p", "No thread is like that.", class_="none")
    heads = ("Thread", "Ball", "Entries", "Last move")
    head = element("tr", *(element("th", one, scope="col") for one in heads))
    return element(
        "table", element("thead", head), element("tbody", *lines), class_="list"
    )


def _line(row: ThreadRow, context: PageContext) -> Html:
    topic = one_line(row.topic)
    title = element("span", one_line(row.title, _TITLE), class_="title", dir="auto")
    link = element(
        "a",
        joined((element("bdi", topic, class_="topic"), title), " "),
        href=context.links.thread(row.topic),
        id=f"t-{topic}",
        data_item=True,
    )
    you = element("span", "you", class_="mark you") if row.have_ball else NOTHING
    return element(
        "tr",
        element("td", link, " ", marks(row)),
        element("td", name_of(row.ball), " ", you),
        element("td", str(row.entry_count), class_="number"),
        element("td", moment(row.updated_at, context.now_ms), class_="number"),
        id=f"i-{topic}",
    )

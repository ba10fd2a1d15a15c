"""The list of threads, with filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.rows import Filter, recency
from wc_core.reading.views.search.answers import threads_about
from wc_core.reading.views.search.query import Matches
from wc_observe.web.board.page import rows_with_words
from wc_observe.web.forms import chosen_status, field, filter_form, status_choice
from wc_observe.web.html import NOTHING, Html, code_text, element, joined
from wc_observe.web.page import (
    WebPage,
    holder_person,
    more_link,
    moved,
    ownership_mark,
    thread_marks,
)
from wc_observe.web.search import search_notices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wc_core.reading.views.rows import ThreadRow
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

_ROWS = 100
_TITLE = 160
_FILTERS = ("status", "ball", "branch", "file", "open")


class _Listed(NamedTuple):
    """The rows to show, their total, and the cursor of the next ones."""

    rows: list[ThreadRow]
    total: int
    cursor: str = ""


def threads_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the list of threads, latest move first."""
    criteria, searched = _criteria(store, query)
    listed = _listed(store, criteria, query)
    below = NOTHING
    if listed.cursor:
        kept = {name: query.get(name, "") for name in _FILTERS}
        href = context.links.threads(**kept, cursor=listed.cursor)
        below = more_link(href, "Older threads")
    elif len(listed.rows) < listed.total:
        words = f"The first {len(listed.rows)} of {listed.total} are shown."
        below = element("p", words)
    main = joined(
        (
            element("h1", "Threads"),
            _filters(context, query, listed.total),
            *search_notices(searched),
            _table(listed.rows, context, query),
            below,
        )
    )
    return WebPage("Threads", main, "threads")


def _criteria(store: OpenStore, query: Mapping[str, str]) -> tuple[Filter, Matches]:
    """Returns the filter, and the result of the search for threads about a file."""
    criteria = Filter(
        open_only=bool(query.get("open")),
        ball=query.get("ball", ""),
        status=chosen_status(query),
        branch=query.get("branch", "").strip(),
    )
    about = Mentions(query.get("file", "")).checked()
    if not about.file:
        return criteria, Matches([], {})
    engine = store.engine()
    topics, searched = threads_about(engine, about)
    if criteria.topics is not None:
        topics &= criteria.topics
    return criteria._replace(topics=topics), searched


def _listed(store: OpenStore, criteria: Filter, query: Mapping[str, str]) -> _Listed:
    words, order = query.get("filter", ""), _order(query)
    if words or order.name != "moved" or not order.is_down:
        rows = rows_with_words(store.overview.matching(criteria), words)
        rows = sorted(rows, key=_SORT_KEYS[order.name], reverse=order.is_down)
        return _Listed(rows[:_ROWS], len(rows))
    page = store.overview.page(criteria, _ROWS, query.get("cursor", ""))
    return _Listed([*page.rows], page.total, page.cursor)


def _filters(context: PageContext, query: Mapping[str, str], count: int) -> Html:
    words = query.get("filter", "")
    is_open = bool(query.get("open"))
    box = element("input", type="checkbox", name="open", value="1", checked=is_open)
    fields = (
        field("filter", "Words", words, "title, topic, holder or +tag"),
        field("ball", "Ball", query.get("ball", ""), "a name, me, anyone"),
        field("branch", "Branch", query.get("branch", "")),
        field("file", "File", query.get("file", ""), "src/auth.py"),
        status_choice(query),
        element("label", box, " open only"),
        element("input", type="hidden", name="sort", value=query.get("sort", "")),
        element("button", "Show"),
    )
    output = element("output", counted(count, "thread"), id="count")
    return filter_form(fields, output, context.links.threads())


def _table(
    rows: Iterable[ThreadRow], context: PageContext, query: Mapping[str, str]
) -> Html:
    lines = [_line(row, context) for row in rows]
    if not lines:
        return _nothing(context, query)
    order = _order(query)
    head = element("tr", *(_head(name, order, context, query) for name in _HEADS))
    return element(
        "table", element("thead", head), element("tbody", *lines), class_="list threads"
    )


def _nothing(context: PageContext, query: Mapping[str, str]) -> Html:
    """Returns a hint for an empty list."""
    if not any(query.get(name) for name in (*_FILTERS, "filter")):
        words = "There are no threads yet. Start one: "
        command = element("code", code_text("wc new TOPIC -m '…'"), data_copy=True)
        return element("p", words, command, class_="none")
    href = context.links.threads()
    ways = [element("a", "Show all threads", href=href, class_="more")]
    if words := query.get("filter", "").strip():
        href = context.links.search(q=words)
        label = "Search the entries for these words"
        ways.append(element("a", label, href=href, class_="more"))
    return joined(
        (
            element("p", "No thread matches.", class_="none"),
            element("p", joined(ways, " · ")),
        )
    )


class _Order(NamedTuple):
    """The sort column, and whether the largest value comes first."""

    name: str
    is_down: bool


_HEADS = {"title": "Thread", "ball": "Ball", "entries": "Entries", "moved": "Last move"}
_SORT_KEYS: Mapping[str, Callable[[ThreadRow], tuple[str | int, ...]]] = {
    "title": lambda row: (row.title.casefold(), row.topic),
    "ball": lambda row: ((row.ball or "").casefold(), row.topic),
    "entries": lambda row: (row.entry_count, row.topic),
    "moved": recency,
}
# The order that most people look for first.
_DOWN_FIRST = frozenset({"entries", "moved"})


def _order(query: Mapping[str, str]) -> _Order:
    """Returns the requested order: a column, with a leading dash if the largest value
    comes first. An unknown column means the default order."""
    sort = query.get("sort", "")
    name = sort.removeprefix("-")
    return _Order(name, sort != name) if name in _HEADS else _Order("moved", True)


def _head(
    name: str, order: _Order, context: PageContext, query: Mapping[str, str]
) -> Html:
    """Returns the head of a column: a link that sorts by it, or reverses the order."""
    is_current = order.name == name
    down = not order.is_down if is_current else name in _DOWN_FIRST
    kept = {key: query.get(key, "") for key in (*_FILTERS, "filter")}
    href = context.links.threads(**kept, sort=f"-{name}" if down else name)
    arrow = element("span", " ↓" if order.is_down else " ↑", aria_hidden="true")
    label = element("a", _HEADS[name], arrow if is_current else "", href=href)
    sorting = "descending" if order.is_down else "ascending"
    return element(
        "th",
        label,
        scope="col",
        aria_sort=sorting if is_current else None,
        class_="number" if name in _DOWN_FIRST else None,
    )


def _line(row: ThreadRow, context: PageContext) -> Html:
    topic = one_line(row.name)
    title = element("span", one_line(row.title, _TITLE), class_="title", dir="auto")
    link = element(
        "a",
        joined((title, element("bdi", topic, class_="topic")), " "),
        href=context.links.thread(row.name),
        id=f"t-{topic}",
        data_item=True,
    )
    you = ownership_mark(row.ownership)
    holder = holder_person(row.ball, context.directory)
    if row.status == CLOSED:
        holder, you = element("span", "\u2013", class_="none"), NOTHING
    return element(
        "tr",
        element("td", link, " ", thread_marks(row)),
        element("td", joined(filter(None, (holder, you)), " ")),
        element("td", str(row.entry_count), class_="number"),
        element("td", moved(row, context.now_ms), class_="number"),
        id=f"i-{topic}",
    )

"""The list of threads, with filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.areas.threads import in_area
from wc_core.phrases import counted
from wc_core.search.mentions import Mentions
from wc_core.text import one_line
from wc_core.values import NamedTuple
from wc_core.views.rows import Filter
from wc_core.views.search.answers import Matches, threads_about
from wc_observe.web.board import rows_with_words
from wc_observe.web.forms import chosen_status, field, status_choice
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import (
    WebPage,
    holder_name,
    moment,
    more_link,
    ownership_mark,
    thread_marks,
)
from wc_observe.web.search import search_notices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.views.rows import ThreadRow
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

_ROWS = 100
_TITLE = 160
_FILTERS = ("status", "ball", "branch", "file", "area", "open")


class _Listed(NamedTuple):
    """The rows to show, of how many, and the cursor of the next ones."""

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
            _filters(context, query, listed.total, store.settings.areas),
            *search_notices(searched),
            _table(listed.rows, context),
            below,
        )
    )
    return WebPage("Threads", main, "threads")


def _criteria(store: OpenStore, query: Mapping[str, str]) -> tuple[Filter, Matches]:
    """Returns what to list, and what was searched for the threads about a file."""
    criteria = Filter(
        open_only=bool(query.get("open")),
        ball=query.get("ball", ""),
        status=chosen_status(query),
        branch=query.get("branch", "").strip(),
    )
    if area := query.get("area", "").strip():
        areas = store.settings.areas
        criteria = in_area(store.overview, areas, area, criteria)
    about = Mentions(query.get("file", "")).checked()
    if not about.file:
        return criteria, Matches([], 0, {})
    engine = store.live.engine()
    topics, searched = threads_about(engine, store.reader, about)
    if criteria.topics is not None:
        topics &= criteria.topics
    return criteria._replace(topics=topics), searched


def _listed(store: OpenStore, criteria: Filter, query: Mapping[str, str]) -> _Listed:
    words = query.get("filter", "")
    if words:
        rows = rows_with_words(store.overview.matching(criteria), words)
        return _Listed(rows[:_ROWS], len(rows))
    page = store.overview.page(criteria, _ROWS, query.get("cursor", ""))
    return _Listed([*page.rows], page.total, page.cursor)


def _filters(
    context: PageContext, query: Mapping[str, str], count: int, areas: Iterable[str]
) -> Html:
    words = query.get("filter", "")
    is_open = bool(query.get("open"))
    box = element("input", type="checkbox", name="open", value="1", checked=is_open)
    return element(
        "form",
        field("filter", "Words", words, "topic, title, holder or +tag"),
        field("ball", "Ball", query.get("ball", ""), "a name, me, anyone"),
        field("branch", "Branch", query.get("branch", "")),
        field("file", "File", query.get("file", ""), "src/auth.py"),
        *_area_field(query, areas),
        status_choice(query),
        element("label", box, " open only"),
        element("button", "Show"),
        element("output", counted(count, "thread"), id="count"),
        action=context.links.threads(),
        class_="filter",
    )


def _area_field(query: Mapping[str, str], areas: Iterable[str]) -> list[Html]:
    """The filter for an area, if the repository has any."""
    names = ", ".join(map(one_line, areas))
    return [field("area", "Area", query.get("area", ""), names)] if names else []


def _table(rows: Iterable[ThreadRow], context: PageContext) -> Html:
    lines = [_line(row, context) for row in rows]
    if not lines:
        return element("p", "No thread is like that.", class_="none")
    heads = ("Thread", "Ball", "Entries", "Last move")
    head = element("tr", *(element("th", label, scope="col") for label in heads))
    return element(
        "table", element("thead", head), element("tbody", *lines), class_="list"
    )


def _line(row: ThreadRow, context: PageContext) -> Html:
    topic = one_line(row.name)
    title = element("span", one_line(row.title, _TITLE), class_="title", dir="auto")
    link = element(
        "a",
        joined((element("bdi", topic, class_="topic"), title), " "),
        href=context.links.thread(row.name),
        id=f"t-{topic}",
        data_item=True,
    )
    you = ownership_mark(row.ownership)
    return element(
        "tr",
        element("td", link, " ", thread_marks(row)),
        element("td", holder_name(row.ball), " ", you),
        element("td", str(row.entry_count), class_="number"),
        element("td", moment(row.updated_at, context.now_ms), class_="number"),
        id=f"i-{topic}",
    )

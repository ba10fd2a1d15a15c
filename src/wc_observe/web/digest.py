"""The digest page: what happened since a time, thread by thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.phrases import counted
from wc_core.text import clean, one_line
from wc_core.times import utc
from wc_core.views.news.digest import digest
from wc_observe.web.forms import field
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import (
    WebPage,
    entry_count,
    holder_name,
    moment,
    more_link,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.views.news.digest import Digest, News, SummarizedEntry
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

_SINCE, _THREADS, _MOST_THREADS = "1d", 25, 500
_WIDTH, _AUTHORS = 200, 6


def digest_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the threads with entries since a time, latest move first. Raises
    InvalidInputError if that is not a valid time."""
    since = query.get("since", "").strip() or _SINCE
    branch = query.get("branch", "").strip()
    limit = _MOST_THREADS if query.get("all") else _THREADS
    news = digest(store.overview, since, context.now_ms, limit, branch=branch)
    parts = [
        element("h1", "Digest"),
        _form(context, since, branch),
        element("p", _count_text(news, since), class_="found", role="status"),
        *_unreadable(news),
        element(
            "ol", *(_thread(thread, context) for thread in news.threads), class_="hits"
        ),
    ]
    if news.more and limit < _MOST_THREADS:
        href = context.links.digest(since=since, branch=branch, all="1")
        parts.append(more_link(href, f"{news.more} more"))
    return WebPage("Digest", joined(parts), "digest")


def _form(context: PageContext, since: str, branch: str) -> Html:
    fields = (
        field("since", "Since", since, "3d, or 2026-01-31"),
        field("branch", "Branch", branch),
        element("button", "Show"),
    )
    return element("form", *fields, action=context.links.digest(), class_="filter")


def _count_text(news: Digest, since: str) -> str:
    total = len(news.threads) + news.more
    if not total:
        return f"Nothing happened since {one_line(since, 40)}."
    return f"{counted(total, 'thread')} with entries since {one_line(since, 40)}"


def _unreadable(news: Digest) -> list[Html]:
    if not news.unreadable:
        return []
    names = ", ".join(one_line(topic, 100) for topic in news.unreadable)
    text = f"Could not be read, see wc doctor: {one_line(names, _WIDTH)}"
    return [element("p", text, class_="notice")]


def _thread(news: News, context: PageContext) -> Html:
    row = news.row
    href = context.links.thread(row.name, **{"from": str(news.first.idx)})
    link = element(
        "a",
        one_line(row.title, _WIDTH) or "(no title)",
        href=href,
        data_item=True,
        id=f"x-{row.name}",
    )
    authors = [holder_name(author or "unknown") for author in news.authors[:_AUTHORS]]
    ellipsis = ", …" if len(news.authors) > _AUTHORS else ""
    facts = (
        element("bdi", row.name, class_="topic"),
        *(element("bdi", one_line(change, _WIDTH)) for change in news.changes()),
        joined((f"{entry_count(news.new)} by ", joined(authors, ", "), ellipsis)),
        moment(row.updated_at, context.now_ms),
    )
    decisions = (
        element("p", element("b", "Decided: "), one_line(item.entry.title, _WIDTH))
        for item in news.decisions
    )
    earlier = news.texts - len(news.summaries)
    return element(
        "li",
        element("h2", link, dir="auto"),
        element("p", joined(facts, " · "), class_="by"),
        *decisions,
        *(_entry(item) for item in news.summaries),
        more_link(href, f"and {earlier} before") if earlier else NOTHING,
    )


def _entry(item: SummarizedEntry) -> Html:
    entry = item.numbered.entry
    texts = filter(None, (one_line(clean(entry.title), _WIDTH), item.summary.text))
    return element(
        "p",
        element("span", f"#{item.numbered.idx} ", class_="number"),
        element("span", holder_name(entry.agent or "unknown"), title=utc(entry.at)),
        f": {': '.join(texts)}",
        dir="auto",
    )

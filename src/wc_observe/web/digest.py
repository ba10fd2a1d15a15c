"""The digest page: what happened since a time, thread by thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base import names
from wc_core.base.phrases import counted
from wc_core.base.text import clean, one_line
from wc_core.base.times import utc
from wc_core.ledger.threads.model import CLOSED, OPEN
from wc_core.reading.views.news.digest import digest
from wc_observe.web.forms import field
from wc_observe.web.html import NOTHING, Html, element, joined, text
from wc_observe.web.page import (
    WebPage,
    entry_count,
    holder_person,
    more_link,
    moved,
    outcome_mark,
    person,
    status_mark,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.reading.views.news.digest import Digest, News, SummarizedEntry
    from wc_observe.callers.open_store import OpenStore
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
    listed = ", ".join(one_line(topic, 100) for topic in news.unreadable)
    notice = f"Could not be read, see wc doctor: {one_line(listed, _WIDTH)}"
    return [element("p", notice, class_="notice")]


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
    facts = (
        element("bdi", row.name, class_="topic"),
        *_changes(news, context),
        element("span", f"{entry_count(news.new)} by ", _authors(news, context)),
        moved(row, context.now_ms),
    )
    decisions = (
        element(
            "p",
            element("b", "Decided: "),
            one_line(f"{item.entry.title} {item.way_text}", _WIDTH),
        )
        for item in news.decisions
    )
    earlier = news.texts - len(news.summaries)
    return element(
        "li",
        element("h2", link, dir="auto"),
        element("p", joined(facts, " "), class_="by"),
        *decisions,
        *(_entry(item, context) for item in news.summaries),
        more_link(href, f"and {earlier} before") if earlier else NOTHING,
    )


def _changes(news: News, context: PageContext) -> Iterator[Html]:
    """Yields status, outcome and ball; the former value before one that changed."""
    row, before = news.row, news.before
    if news.begun:
        yield element("span", "new thread", class_="mark new")
    statuses = [row.status] if row.status != OPEN else []
    if before is not None and before.status != row.status:
        statuses = [before.status, row.status]
    if statuses:
        yield element("span", joined(map(status_mark, statuses), " → "))
    if row.review.outcome:
        yield outcome_mark(row.review.outcome)
    if row.status == CLOSED:
        return  # nobody has its ball
    holders = [row.ball]
    if before is not None and before.ball != row.ball:
        holders = [before.ball, row.ball]
    people = (holder_person(holder, context.directory) for holder in holders)
    ball = element("span", class_="ball now", aria_hidden="true")
    words = element("span", "ball: ", class_="unseen")
    yield element("span", ball, " ", words, joined(people, " → "))


def _authors(news: News, context: PageContext) -> Html:
    """Returns the agents and people who wrote, in whatever seat."""
    directory = context.directory
    parsed = (names.parse(author or "unknown") for author in news.authors)
    agents = [*dict.fromkeys(directory.canonical(name).agent for name in parsed)]
    people = [person(agent, directory) for agent in agents[:_AUTHORS]]
    if len(agents) > _AUTHORS:
        people.append(text("…"))
    return joined(people, ", ")


def _entry(item: SummarizedEntry, context: PageContext) -> Html:
    entry = item.numbered.entry
    title = one_line(clean(entry.title), _WIDTH)
    texts = filter(None, (element("b", title) if title else "", item.summary.text))
    return element(
        "p",
        element("span", f"#{item.numbered.idx} ", class_="number"),
        element(
            "span",
            person(entry.agent or "unknown", context.directory),
            title=utc(entry.at),
        ),
        f" {one_line(item.numbered.way_text, _WIDTH)}" if entry.via else NOTHING,
        # Only screen readers need the colons: the texts differ in colour.
        *(
            joined((element("span", ": ", class_="unseen"), " ", part))
            for part in texts
        ),
        dir="auto",
        class_="news",
    )

"""The search page: the same engine, filters and order as for every client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wc_core.errors import InvalidInputError
from wc_core.text import clean, one_line
from wc_core.threads.model import STATUSES
from wc_core.times import utc
from wc_core.views import words
from wc_core.views.mentions import Mentions
from wc_core.views.rows import Filter
from wc_core.views.search import Question, search
from wc_observe.web.board import choice, field
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, entry_count, holder_name, moment, more_link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.views.search import Hit, Hits, SearchQuery
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

# As long as a person waits without wondering; after that, the hits so far.
_SECONDS = 1.0
_HITS, _AROUND, _TOPICS, _WIDTH = 25, 110, 8, 200
# Markers around a match; neither occurs in cleaned text.
_MARKS = ("\x02", "\x03")
_MARKED = re.compile("\x02(.*?)\x03")
_FILTERS = ("file", "branch", "commit", "pr", "ball", "status")


def search_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the hits, or the empty form if nothing was searched for."""
    text = query.get("q", "")
    heading, form = element("h1", "Search"), _form(context, query)
    if not text.strip() and not any(query.get(name) for name in _FILTERS[:4]):
        main = joined((heading, form, _help()))
        return WebPage("Search", main, "search", text)
    question = _question(text, query)
    terms = question.search_query()
    hits = search(store.live.engine(store.overview, _SECONDS), store.overview, question)
    main = joined((heading, form, *_answer(hits, terms, context, query)))
    title = f"Search: {one_line(text, 60)}" if text.strip() else "Search"
    return WebPage(title, main, "search", text)


def _question(text: str, query: Mapping[str, str]) -> Question:
    pr, status = (
        query.get("pr", "").strip().lstrip("#"),
        query.get("status", "").upper(),
    )
    if pr and not (pr.isdecimal() and len(pr) < len("1000000000")):
        raise InvalidInputError(
            f"{one_line(pr, 40)!r} is no pull request.", "Give its number."
        )
    if status and status not in STATUSES:
        raise InvalidInputError(
            f"{one_line(status, 40)!r} is not a status.",
            f"There are: {', '.join(STATUSES)}",
        )
    about = Mentions(
        query.get("file", ""),
        int(pr or 0),
        query.get("commit", ""),
        query.get("branch", ""),
    )
    criteria = Filter(ball=query.get("ball", ""), status=status)
    return Question(text, criteria, _HITS, query.get("cursor", ""), about)


def _form(context: PageContext, query: Mapping[str, str]) -> Html:
    statuses = [
        ("", "any status"),
        *((name, name.replace("_", " ").lower()) for name in STATUSES),
    ]
    fields = (
        element("input", type="hidden", name="q", value=query.get("q", "")),
        field("file", "File", query.get("file", ""), "src/auth.py"),
        field("branch", "Branch", query.get("branch", "")),
        field("pr", "Pull request", query.get("pr", ""), "12"),
        field("commit", "Commit", query.get("commit", ""), "1a2b3c4"),
        field("ball", "Ball", query.get("ball", ""), "a name, me, anyone"),
        choice("status", "Status", statuses, query.get("status", "").upper()),
        element("button", "Narrow down"),
    )
    form = element("form", *fields, action=context.links.search(), class_="filter")
    narrowed = any(query.get(name) for name in _FILTERS)
    return element("details", element("summary", "Filters"), form, open=narrowed)


def _help() -> Html:
    lines = (
        ("auth", "finds words that begin with it: authentication"),
        ('"log out"', "words side by side, as they are"),
        ("title: body: topic: author:", "before a word say where"),
    )
    rows = (
        element("div", element("dt", element("code", example)), element("dd", meaning))
        for example, meaning in lines
    )
    return element("dl", *rows, class_="hints")


def _answer(
    hits: Hits, terms: SearchQuery, context: PageContext, query: Mapping[str, str]
) -> list[Html]:
    count = f"{entry_count(hits.total)} found"
    if len(hits.topics) > 1:
        count += f" in {len(hits.topics)} threads"
    parts = [element("p", count, class_="found", role="status")]
    if hits.partial:
        words_ = f"Looked at {hits.ready} of {hits.entries} entries so far …"
        parts.append(element("p", words_, class_="notice", data_again=1500))
    if hits.unreadable:
        names = ", ".join(one_line(item, 100) for item in hits.unreadable[:_TOPICS])
        notice = f"Could not be read, see wc doctor: {names}"
        parts.append(element("p", notice, class_="notice"))
    parts.append(
        element(
            "ol", *(_hit(item, terms, context) for item in hits.hits), class_="hits"
        )
    )
    if hits.cursor:
        pairs = {item: query.get(item, "") for item in ("q", *_FILTERS)}
        parts.append(
            more_link(context.links.search(**pairs, cursor=hits.cursor), "More")
        )
    return parts


def _hit(hit: Hit, search_query: SearchQuery, context: PageContext) -> Html:
    entry, idx = hit.numbered.entry, hit.numbered.idx
    terms = (*search_query.terms, *search_query.about.terms)
    source = clean(entry.body or entry.title)
    href = context.links.thread(hit.name, **{"from": str(max(0, idx - 5))})
    link = element(
        "a",
        _marked(words.mark_terms(clean(entry.title), terms, _WIDTH, _MARKS))
        or "(no title)",
        href=f"{href}#e{idx}",
        data_item=True,
        id=f"x-{hit.name}-{idx}",
    )
    by = (
        element("bdi", hit.name, class_="topic"),
        element("span", f"#{idx}", class_="number"),
        holder_name(entry.agent or "unknown"),
        moment(utc(entry.at), context.now_ms),
    )
    snippet = _marked(words.mark_terms(source, terms, _AROUND, _MARKS))
    return element(
        "li",
        element("h2", link, dir="auto"),
        element("p", joined(by, " "), class_="by"),
        element("p", snippet, dir="auto") if entry.body else NOTHING,
    )


def _marked(line: str) -> Html:
    parts = []
    for place, words_ in enumerate(_MARKED.split(line)):
        parts.append(element("mark", words_) if place % 2 else words_)
    return joined(parts)

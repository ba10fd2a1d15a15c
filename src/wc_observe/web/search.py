"""Entries that have some words, the best first: the same engine, the same
filters and the same order as for every other client."""

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
from wc_observe.web.page import WebPage, entries, moment, more_link, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.views.search import Hit, Hits, SearchQuery
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

# As long as a person waits without wondering; then what is found so far.
_SECONDS = 1.0
_HITS, _AROUND, _TOPICS, _WIDTH = 25, 110, 8, 200
# Neither is in a text that has been made clean.
_MARKS = ("\x02", "\x03")
_MARKED = re.compile("\x02(.*?)\x03")
_ASKED = ("file", "branch", "commit", "pr", "ball", "status")


def found(store: OpenStore, context: PageContext, said: Mapping[str, str]) -> WebPage:
    """What there is of what was asked for; without a question, the form."""
    query = said.get("q", "")
    heading, form = element("h1", "Search"), _form(context, said)
    if not query.strip() and not any(said.get(one) for one in _ASKED[:4]):
        main = joined((heading, form, _help()))
        return WebPage("Search", main, "search", query)
    question = _question(query, said)
    wanted = question.wanted()
    hits = search(store.live.engine(store.overview, _SECONDS), store.overview, question)
    main = joined((heading, form, *_answer(hits, wanted, context, said)))
    title = f"Search: {one_line(query, 60)}" if query.strip() else "Search"
    return WebPage(title, main, "search", query)


def _question(query: str, said: Mapping[str, str]) -> Question:
    pr, status = said.get("pr", "").strip().lstrip("#"), said.get("status", "").upper()
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
        said.get("file", ""),
        int(pr or 0),
        said.get("commit", ""),
        said.get("branch", ""),
    )
    where = Filter(ball=said.get("ball", ""), status=status)
    return Question(query, where, _HITS, said.get("cursor", ""), about)


def _form(context: PageContext, query: Mapping[str, str]) -> Html:
    statuses = [
        ("", "any status"),
        *((one, one.replace("_", " ").lower()) for one in STATUSES),
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
    told = any(query.get(one) for one in _ASKED)
    return element("details", element("summary", "Filters"), form, open=told)


def _help() -> Html:
    lines = (
        ("auth", "finds words that begin with it: authentication"),
        ('"log out"', "words side by side, as they are"),
        ("title: body: topic: author:", "before a word say where"),
    )
    each = (
        element("div", element("dt", element("code", one)), element("dd", says))
        for one, says in lines
    )
    return element("dl", *each, class_="hints")


def _answer(
    hits: Hits, wanted: SearchQuery, context: PageContext, query: Mapping[str, str]
) -> list[Html]:
    count = f"{entries(hits.total)} found"
    if len(hits.topics) > 1:
        count += f" in {len(hits.topics)} threads"
    parts = [element("p", count, class_="found", role="status")]
    if hits.partial:
        words_ = f"Looked at {hits.ready} of {hits.entries} entries so far …"
        parts.append(element("p", words_, class_="notice", data_again=1500))
    if hits.unreadable:
        names = ", ".join(one_line(one, 100) for one in hits.unreadable[:_TOPICS])
        notice = f"Could not be read, see wc doctor: {names}"
        parts.append(element("p", notice, class_="notice"))
    parts.append(
        element("ol", *(_hit(one, wanted, context) for one in hits.hits), class_="hits")
    )
    if hits.cursor:
        kept = {one: query.get(one, "") for one in ("q", *_ASKED)}
        parts.append(
            more_link(context.links.search(**kept, cursor=hits.cursor), "More")
        )
    return parts


def _hit(hit: Hit, wanted: SearchQuery, context: PageContext) -> Html:
    entry, idx = hit.found.entry, hit.found.idx
    terms = (*wanted.terms, *wanted.about.terms)
    said = clean(entry.body or entry.title)
    href = context.links.thread(hit.topic, **{"from": str(max(0, idx - 5))})
    link = element(
        "a",
        _marked(words.marked(clean(entry.title), terms, _WIDTH, _MARKS))
        or "(no title)",
        href=f"{href}#e{idx}",
        data_item=True,
        id=f"x-{hit.topic}-{idx}",
    )
    by = (
        element("bdi", hit.topic, class_="topic"),
        element("span", f"#{idx}", class_="number"),
        name_of(entry.agent or "unknown"),
        moment(utc(entry.at), context.now_ms),
    )
    snippet = _marked(words.marked(said, terms, _AROUND, _MARKS))
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

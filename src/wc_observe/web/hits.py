"""Hits of a search, by thread, each with the words around its first match."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from wc_core.base.errors import WcError
from wc_core.base.text import clean, one_line
from wc_core.base.times import utc
from wc_core.ledger.summaries.plaintext import plain_text
from wc_core.lookup.search import excerpts
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import entry_count, moment, person

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.search.words import Term
    from wc_core.reading.views.search.answers import Hit, Hits
    from wc_core.reading.views.search.query import SearchQuery
    from wc_observe.web.page import PageContext

_AROUND, _WIDTH, _TITLE = 110, 200, 160
# Longer texts are shown as markdown source.
_MOST_MARKDOWN = 20_000
# Markers around a match. Neither occurs in cleaned text.
_MARKS = ("\x02", "\x03")
_MARKED = re.compile("\x02(.*?)\x03")
# A heading, a quotation, a fence; a list item with or without a checkbox.
_LINE_START = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|(?:```|~~~).*$"
    r"|(?P<item>[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t])?)",
    re.MULTILINE,
)


def hit_list(
    hits: Hits,
    query: SearchQuery,
    context: PageContext,
    reader: StoreReader,
    *,
    by_time: bool,
) -> Html:
    """Returns the threads in the order of their first hit, each with its hits. With
    ``by_time``, hits keep their order: a thread may occur several times."""
    totals = dict(hits.topics)
    items = (
        _thread(group, totals.get(group[0].name, 0), query, context, reader)
        for group in _groups(hits.hits, by_time=by_time)
    )
    return element("ol", *items, class_="hits")


def _groups(hits: Sequence[Hit], *, by_time: bool) -> list[list[Hit]]:
    if not by_time:
        first: dict[str, int] = {}
        for place, hit in enumerate(hits):
            first.setdefault(hit.topic, place)
        hits = sorted(hits, key=lambda hit: first[hit.topic])
    return [list(group) for _, group in groupby(hits, key=lambda hit: hit.topic)]


def _thread(
    group: Sequence[Hit],
    total: int,
    query: SearchQuery,
    context: PageContext,
    reader: StoreReader,
) -> Html:
    name = group[0].name
    title = _title(reader, group[0].topic) or name
    link = element("a", title, href=context.links.thread(name), dir="auto")
    total = max(total, len(group))
    count = entry_count(total)
    if total > len(group):
        count = f"{len(group)} of {count}"
    return element(
        "li",
        element(
            "h2",
            link,
            " ",
            element("bdi", name, class_="topic"),
            " ",
            element("span", count, class_="number"),
        ),
        element("ol", *(_hit(hit, query, context) for hit in group)),
    )


def _title(reader: StoreReader, topic: str) -> str:
    try:
        return one_line(reader.snapshot(topic).state.title, _TITLE)
    except WcError:
        return ""


def _hit(hit: Hit, query: SearchQuery, context: PageContext) -> Html:
    entry, idx, way = hit.numbered.entry, hit.numbered.idx, hit.numbered.way_text
    terms = query.marked_terms(is_partial=hit.is_partial)
    href = context.links.thread(hit.name, **{"from": str(max(0, idx - 5))})
    link = element(
        "a",
        _marked(excerpts.mark_terms(clean(entry.title), terms, _WIDTH, _MARKS))
        or "(no title)",
        href=f"{href}#e{idx}",
        data_item=True,
        id=f"x-{hit.name}-{idx}",
    )
    by = (
        element("span", f"#{idx}", class_="number"),
        element("span", person(entry.agent or "unknown", context.directory)),
        moment(utc(entry.at), context.now_ms),
        element("span", one_line(way), class_="mark") if way else "",
        element("span", _kind(hit), class_="mark") if hit.is_partial else "",
    )
    text = element("p", snippet(clean(entry.body), terms), dir="auto")
    return element(
        "li",
        element("h3", link, dir="auto"),
        element("p", joined(filter(None, by), " "), class_="by"),
        text if entry.body else NOTHING,
    )


def snippet(body: str, terms: Iterable[Term]) -> Html:
    """Returns one line of a text around its first match, with marks around each match;
    as plain text, unless only the markdown source matches."""
    terms = tuple(terms)
    if len(body) <= _MOST_MARKDOWN:
        line = excerpts.mark_terms(_plain(body), terms, _AROUND, _MARKS)
        if _MARKS[0] in line:
            return _marked(line)
    line = excerpts.mark_terms(body, terms, _AROUND, _MARKS)
    if _MARKS[0] in line:
        return _marked(line)
    return _marked(excerpts.mark_terms(_plain(body[:_MOST_MARKDOWN]), (), _AROUND))


def _plain(body: str) -> str:
    """Returns markdown as plain text, in which dots keep list items apart."""
    lines = _LINE_START.sub(lambda found: "· " if found["item"] else "", body)
    return plain_text(lines)


def _kind(hit: Hit) -> str:
    return "by meaning" if hit.is_near else "some of the words"


def _marked(line: str) -> Html:
    # An ellipsis at the end never stands in a line by itself.
    if line.endswith(" …"):
        line = f"{line.removesuffix(' …')}\u00a0…"
    parts = []
    for place, words_ in enumerate(_MARKED.split(line)):
        parts.append(element("mark", words_) if place % 2 else words_)
    return joined(parts)

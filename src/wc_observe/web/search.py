"""The search page, with the same engine, filters and order as for MCP clients. Hits are
listed by thread, each with the words around its first match."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.text import clean, one_line
from wc_core.base.times import since_id, utc
from wc_core.ledger.summaries.plaintext import plain_text
from wc_core.lookup import excerpts
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import count_text, search
from wc_core.reading.views.search.query import (
    AUTO,
    BEST,
    MODES,
    NEWEST,
    SORTS,
    Question,
)
from wc_observe.web.forms import (
    choice,
    chosen_status,
    field,
    kind_choice,
    search_field,
    severity_choice,
    status_choice,
)
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, entry_count, moment, more_link, person

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.words import Term
    from wc_core.reading.views.search.answers import Hit, Hits
    from wc_core.reading.views.search.query import Matches, SearchQuery
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

_MOST_UNREADABLE = 8
_HITS = 25
# Fields that are enough for a search without words.
_FILTERS = (
    *("file", "branch", "commit", "pr", "kind", "severity", "author"),
    *("since", "until", "ball", "status", "tag", "words", "sort"),
)
# The most values shown per facet.
_VALUES, _VALUE_WIDTH = 8, 60
_ENOUGH = 9
_MODE_OPTIONS = (
    ("", "all, else some"),
    ("all", "all of them"),
    ("any", "any of them"),
    ("phrase", "as a phrase"),
)
_SORT_OPTIONS = (("", "best first"), ("newest", "newest first"))
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


def search_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the hits, or the empty form if there is no query."""
    text = query.get("q", "")
    heading = joined((element("h1", "Search"), _words_form(context, text)))
    form = _form(context, query)
    if not text.strip() and not any(query.get(name) for name in _FILTERS[:_ENOUGH]):
        main = joined((heading, form, _help()))
        return WebPage("Search", main, "search", text)
    question = _question(text, query, context.now_ms)
    question = question._replace(counting=True)
    terms = question.search_query()
    hits = search(store.engine(), question)
    main = joined((heading, form, *_answer(hits, terms, store, context, query)))
    title = f"Search: {one_line(text, 60)}" if text.strip() else "Search"
    return WebPage(title, main, "search", text)


def _question(text: str, query: Mapping[str, str], now_ms: int) -> Question:
    pr = query.get("pr", "").strip().lstrip("#")
    if pr and not (pr.isdecimal() and len(pr) < len("1000000000")):
        raise InvalidInputError(
            f"{one_line(pr, 40)!r} is not a pull request.", "Give its number."
        )
    about = Mentions(
        query.get("file", ""),
        int(pr or 0),
        query.get("commit", ""),
        query.get("branch", ""),
        query.get("kind", ""),
        query.get("severity", ""),
        query.get("author", ""),
        *(_floor_id(query.get(name, ""), now_ms) for name in ("since", "until")),
    )
    criteria = Filter(
        ball=query.get("ball", ""),
        status=chosen_status(query),
        tags=tuple(query.get("tag", "").split()),
    )
    mode, sort = query.get("words", ""), query.get("sort", "")
    return Question(
        text,
        criteria,
        _HITS,
        query.get("cursor", ""),
        about,
        mode if mode in MODES else AUTO,
        sort if sort in SORTS else BEST,
    )


def _floor_id(text: str, now_ms: int) -> str:
    return since_id(text, now_ms) if text.strip() else ""


def _words_form(context: PageContext, text: str) -> Html:
    """Returns the field for the words, for screens on which that of the header is
    behind a button."""
    words_field = search_field(text, "Search entries", "q", aria_label="Words")
    return element("form", words_field, action=context.links.search(), class_="again")


def _form(context: PageContext, query: Mapping[str, str]) -> Html:
    fields = (
        choice("words", "Words", _MODE_OPTIONS, query.get("words", "")),
        choice("sort", "Order", _SORT_OPTIONS, query.get("sort", "")),
        element("input", type="hidden", name="q", value=query.get("q", "")),
        field("file", "File", query.get("file", ""), "src/auth.py"),
        field("branch", "Branch", query.get("branch", "")),
        field("pr", "Pull request", query.get("pr", ""), "12"),
        field("commit", "Commit", query.get("commit", ""), "1a2b3c4"),
        kind_choice(query),
        severity_choice(query),
        field("author", "Author", query.get("author", ""), "Codex"),
        field("since", "Since", query.get("since", ""), "2d, 2026-01-31"),
        field("until", "Until", query.get("until", "")),
        field("tag", "Tags", query.get("tag", "")),
        field("ball", "Ball", query.get("ball", ""), "a name, me, anyone"),
        status_choice(query),
        element("button", "Filter"),
    )
    form = element("form", *fields, action=context.links.search(), class_="filter")
    narrowed = any(query.get(name) for name in _FILTERS)
    return element("details", element("summary", "Filters"), form, open=narrowed)


def _help() -> Html:
    lines = (
        ("auth", "also finds words that begin with it, such as authentication"),
        ('"log out"', "this exact phrase"),
        ("title: body: topic: author: tag:", "in front of a word: where to search"),
    )
    rows = (
        element("div", element("dt", element("code", example)), element("dd", meaning))
        for example, meaning in lines
    )
    return element("dl", *rows, class_="hints")


def _answer(
    hits: Hits,
    terms: SearchQuery,
    store: OpenStore,
    context: PageContext,
    query: Mapping[str, str],
) -> list[Html]:
    count = (
        count_text(hits)
        if hits.partial
        else (f"{hits.more_than}{entry_count(hits.total)} found")
    )
    if hits.topic_count > 1:
        count += f" in {hits.topic_count} threads"
    if not (hits.total or hits.partial):
        return [*_nothing(hits, context, query), *search_notices(hits)]
    parts = [element("p", count, class_="found", role="status")]
    parts += search_notices(hits)
    parts.append(_facets(hits, context, query))
    by_time = query.get("sort", "") == NEWEST
    parts.append(hit_list(hits, terms, context, store.reader, by_time=by_time))
    if hits.by_words:
        words_ = f"By words alone: {one_line(hits.by_words)}"
        parts.append(element("p", words_, class_="notice"))
    if hits.cursor:
        pairs = {item: query.get(item, "") for item in ("q", *_FILTERS)}
        parts.append(
            more_link(context.links.search(**pairs, cursor=hits.cursor), "More")
        )
    return parts


def _nothing(
    hits: Hits, context: PageContext, query: Mapping[str, str]
) -> Iterator[Html]:
    """Yields what a search without hits says, and what to try instead."""
    text = one_line(query.get("q", "").strip(), _VALUE_WIDTH)
    about = (" for ", element("b", element("bdi", text))) if text else ()
    yield element("p", "0 entries found", *about, ".", class_="found", role="status")
    if hits.by_words:
        by_words = f"By words alone: {one_line(hits.by_words)}"
        yield element("p", by_words, class_="notice")
    if text and any(query.get(name) for name in _FILTERS):
        href = context.links.search(q=query["q"])
        yield element("p", element("a", "Search without filters", href=href))
        return
    yield element("p", "Try fewer or other words:", class_="hint")
    yield _help()


def _facets(hits: Hits, context: PageContext, query: Mapping[str, str]) -> Html:
    """Returns links that narrow the result, each with its number of hits. The link of a
    chosen value removes that filter."""
    rows = []
    for facet in hits.facets:
        values = facet.values[:_VALUES]
        is_same = values[0][1] == values[-1][1] == hits.total
        if is_same and not _chosen(facet.name, query):
            continue  # all hits have this value
        links = (
            element("li", _facet_link(facet.name, value, count, context, query))
            for value, count in values
        )
        name = element("dt", facet.name.capitalize())
        rows.append(element("div", name, element("dd", element("ul", *links))))
    if not rows:
        return NOTHING
    listed = element("dl", *rows)
    return element("nav", listed, class_="counts", aria_label="Filter")


def _facet_link(
    name: str, value: str, count: int, context: PageContext, query: Mapping[str, str]
) -> Html:
    chosen = _chosen(name, query)
    is_chosen = value.casefold() in chosen
    # A thread may have several tags, but only one value of every other facet.
    kept_values = [item for item in chosen if item != value.casefold()]
    kept = kept_values if name == "tag" else []
    pairs = {item: query.get(item, "") for item in ("q", *_FILTERS)}
    pairs[name] = " ".join(kept if is_chosen else [*kept, value])
    label = one_line(value, _VALUE_WIDTH)
    if name == "status":
        label = label.replace("_", " ").lower()
    return element(
        "a",
        element("bdi", label),
        " ",
        element("span", str(count), class_="number"),
        href=context.links.search(**pairs),
        aria_current="true" if is_chosen else None,
    )


def _chosen(name: str, query: Mapping[str, str]) -> list[str]:
    """Returns the values of a filter that the query has."""
    text = query.get(name, "").strip().casefold()
    if name == "tag":
        return [tag.removeprefix("+") for tag in text.split()]
    return [text] if text else []


def search_notices(searched: Hits | Matches) -> list[Html]:
    """Returns the notes of a page whose search is incomplete."""
    notices = []
    if searched.unreadable:
        listed = searched.unreadable[:_MOST_UNREADABLE]
        names = ", ".join(one_line(topic, 100) for topic in listed)
        words_ = f"Could not be read, see wc doctor: {names}"
        notices.append(element("p", words_, class_="notice"))
    return notices


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

"""The page of a thread, and the page of one entry."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wc_core.errors import InvalidInputError
from wc_core.planning import kinds, linkfiles
from wc_core.planning.checklists import lines as item_lines
from wc_core.planning.checklists import progress
from wc_core.remarks import wording
from wc_core.text import clean, one_line
from wc_core.threads import vocabulary
from wc_core.threads.linerefs import MAX_QUOTED, MAX_WIDTH
from wc_core.threads.model import KINDS, OPEN, SEVERITIES
from wc_core.times import utc
from wc_core.values import NamedTuple
from wc_core.views import entries as entry_views
from wc_core.views import timeline
from wc_core.views.references import code_words, references
from wc_observe.answers import entries
from wc_observe.answers.entries import EntrySpan
from wc_observe.web import markdown
from wc_observe.web.html import NOTHING, Html, element, joined, text
from wc_observe.web.page import (
    WebPage,
    entry_count,
    holder_name,
    moment,
    more_link,
    outcome_mark,
    ownership_mark,
    status_mark,
    tag_marks,
)
from wc_observe.web.timeline import thread_strip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_core.threads.model import Entry, Item
    from wc_core.threads.reader import Thread
    from wc_observe.answers.entries import EntryPage, ShownEntry
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

# Limits: entries on a page, characters of one body, characters of all bodies.
_ENTRIES, _BODY, _WHOLE = 40, 20_000, 400_000
_WIDTH = 300
_REFS = 12


class _EntryContext(NamedTuple):
    """What each entry of a page needs: the topic and the ids that are NEW."""

    topic: str
    new: frozenset[str]
    page: PageContext


def thread_page(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> WebPage:
    """Returns the page of a thread: its latest entries, or those from a number on.

    Raises NotFoundError for a thread that does not exist.
    """
    kind = vocabulary.kind(query.get("kind", ""))
    part = _part(store, topic, kind, query.get("from", ""))
    state = part.thread.state
    cursor = store.reader.cursor(state.topic, store.viewer.key)
    new = frozenset(entry_views.new_ids(part.thread, store.viewer, cursor))
    entry_context = _EntryContext(state.topic, new, context)
    first = part.entries[0].numbered.idx if part.entries else 0
    main = joined(
        (
            _head(store, part.thread, context),
            _notices(part.thread),
            _to_new(part.thread, entry_context),
            _facets(part.thread, kind, context),
            NOTHING if kind else _earlier(first, state.topic, context),
            element(
                "ol",
                *(_entry(entry, entry_context) for entry in part.entries),
                class_="entries",
                start=first,
            ),
            _later(part, state.topic, context, kind),
        )
    )
    return WebPage(
        one_line(state.title, _WIDTH) or part.thread.name,
        main,
        mark=int(store.viewer.holds(state.ball)),
        topic=state.topic,
        up=f"{context.links.board()}#t-{part.thread.name}",
    )


def _part(store: OpenStore, topic: str, kind: str, start: str) -> EntryPage:
    """Returns the entries to show: of a kind the first ones, else the latest; or those
    from a number on."""
    number = _number(start, 0 if kind else -_ENTRIES)
    if kind:
        return _from(store, topic, number, kind)
    part = None if number == -_ENTRIES else _from(store, topic, number)
    # Also for a start beyond the end.
    return part if part is not None and part.entries else _latest(store, topic)


def _facets(thread: Thread, chosen: str, context: PageContext) -> Html:
    """Returns links to the entries of each kind that the thread has."""
    counts = Counter(
        item.entry.any_kind
        for item in entry_views.numbered(thread)
        if item.entry.any_kind in KINDS and not item.retracted
    )
    if not counts and not chosen:
        return NOTHING
    topic = thread.state.topic
    links = [
        element(
            "a",
            f"{kind} {counts[kind]}",
            href=context.links.thread(topic, kind=kind),
            aria_current="true" if kind == chosen else None,
        )
        for kind in KINDS
        if counts[kind]
    ]
    if chosen:
        links.append(element("a", "all entries", href=context.links.thread(topic)))
    return element("nav", joined(links, " "), class_="facets", aria_label="Kinds")


def _number(number: str, default: int) -> int:
    if not number:
        return default
    if not number.isdecimal() or len(number) > len("1000000"):
        raise InvalidInputError(
            f"{one_line(number, 40)!r} is not the number of an entry.",
            "Give a whole number from 0 on.",
        )
    return int(number)


def _from(store: OpenStore, topic: str, start: int, kind: str = "") -> EntryPage:
    span = EntrySpan(start, _ENTRIES, body=_BODY, whole=_WHOLE, kind=kind)
    return entries.entry_page(store, topic, span)


def _latest(store: OpenStore, topic: str) -> EntryPage:
    """Returns as many of the last entries as fit on a page."""
    count = _ENTRIES
    while True:
        span = EntrySpan(-count, count, body=_BODY, whole=_WHOLE)
        part = entries.entry_page(store, topic, span)
        if part.next_index < 0 or count == 1:
            return part
        count //= 2


def _checklist(items: Sequence[Item]) -> Html:
    """Returns the items of a checklist, a line each."""
    shown = (element("div", one_line(line, _WIDTH)) for line in item_lines(items))
    return joined(shown, "")


def _head(store: OpenStore, thread: Thread, context: PageContext) -> Html:
    state = thread.state
    people = thread.authors
    ball = [
        element("span", class_="ball", aria_hidden="true"),
        holder_name(state.ball),
        ownership_mark(store.viewer.whose(state.ball)),
    ]
    facts = [
        ("Ball", joined(ball, " ")),
        ("Status", status_mark(state.status)),
        ("Entries", Html(str(state.entry_count))),
        ("Last move", moment(utc(state.updated_at), context.now_ms)),
        (
            "Written by",
            joined((holder_name(person or "unknown") for person in people), ", "),
        ),
    ]
    if state.review.outcome:
        by = holder_name(state.review.by)
        mark = outcome_mark(state.review.outcome)
        facts.append(("Review", joined((mark, text("by"), by), " ")))
    if tags := tag_marks(thread.snapshot.tags):
        facts.append(("Tags", tags))
    if state.items:
        facts.append((f"Checklist {progress(state.items)}", _checklist(state.items)))
    if links := _links(store, thread, context):
        facts.append(("Plan", links))
    if state.branch:
        facts.append(("Branch", element("code", one_line(state.branch, _WIDTH))))
    rows_ = (
        element("div", element("dt", name), element("dd", value))
        for name, value in facts
    )
    track = timeline.thread_track(thread, context.now_ms, store.viewer.directory)
    return element(
        "header",
        element("p", element("bdi", thread.name), class_="topic"),
        element("h1", one_line(state.title, _WIDTH) or thread.name, dir="auto"),
        element("dl", *rows_, class_="facts"),
        thread_strip(timeline.make_chart((track,), store.viewer.directory), context),
        class_=f"thread {'yours' if store.viewer.holds(state.ball) else ''}".strip(),
    )


def _links(store: OpenStore, thread: Thread, context: PageContext) -> Html:
    """What the thread waits for and belongs to; nothing without links, of it or to
    it."""
    reader, state = store.reader, thread.state
    names = []
    for kind, topic, _ in state.links[:_REFS]:
        name = reader.snapshot(topic).name if reader.has(topic) else topic
        names.append(kinds.sentence("", kind, name).strip())
    if linkfiles.sources(reader.layout, state.topic):
        names.append("others are linked to it")
    if not names:
        return NOTHING
    words = one_line("; ".join(names), _WIDTH)
    return element("a", words, href=context.links.plan(state.topic))


def _notices(thread: Thread) -> Html:
    notices = []
    if thread.state.forked:
        notices.append(
            element(
                "p",
                element("b", "Forked. "),
                "Two clones wrote at once: entries marked so stand side by side. "
                "The next entry joins them.",
            )
        )
    for damage in thread.damage[:_REFS]:
        words = f"{one_line(damage.place, _WIDTH)}: {one_line(damage.message, _WIDTH)}"
        notices.append(element("p", element("b", "Damaged. "), words))
    if thread.damage:
        fix = element("code", "wc doctor")
        notices.append(element("p", "What to do about it says ", fix, "."))
    kind = "notice damaged" if thread.damage else "notice"
    return element("div", *notices, class_=kind) if notices else NOTHING


def _to_new(thread: Thread, context: _EntryContext) -> Html:
    fresh = [idx for idx, entry in enumerate(thread.entries) if entry.id in context.new]
    if not fresh:
        return NOTHING
    anchor = f"#e{fresh[0]}"
    href = anchor
    if len(thread.entries) - fresh[0] > _ENTRIES:
        start = {"from": str(fresh[0])}
        href = f"{context.page.links.thread(context.topic, **start)}{anchor}"
    return more_link(href, f"{entry_count(len(fresh))} new, from #{fresh[0]} on")


def _earlier(first: int, topic: str, context: PageContext) -> Html:
    if first <= 0:
        return NOTHING
    start = {"from": str(max(0, first - _ENTRIES))}
    words = f"{entry_count(first)} before these"
    return more_link(context.links.thread(topic, **start), words)


def _later(part: EntryPage, topic: str, context: PageContext, kind: str) -> Html:
    count = len(part.thread.entries)
    if part.next_index < 0:
        return NOTHING if part.entries else element("p", "No entries.", class_="none")
    start = {"from": str(part.next_index), "kind": kind}
    words = f"{entry_count(count - part.next_index)} after these"
    words = f"more of kind {kind}" if kind else words
    return more_link(context.links.thread(topic, **start), words)


def _entry(shown: ShownEntry, context: _EntryContext) -> Html:
    entry, numbered = shown.numbered.entry, shown.numbered
    number = f"e{numbered.idx}"
    fresh = entry.id in context.new
    title = one_line(entry.title, _WIDTH)
    below = NOTHING
    if shown.is_cut:
        words = f"The rest of its {shown.length:,} characters"
        below = more_link(context.page.links.entry(context.topic, numbered.idx), words)
    return element(
        "li",
        element(
            "article",
            _by(shown, context),
            element("h2", title, dir="auto", id=f"{number}-title")
            if title
            else NOTHING,
            element("p", one_line(entry.summary), class_="summary", dir="auto")
            if entry.summary
            else NOTHING,
            element("div", markdown.rendered(shown.body), class_="body"),
            below,
            _quotations(entry),
            _foot(entry, numbered.idx),
            aria_labelledby=f"{number}-title" if title else None,
            id=number,
            tabindex=-1,
            data_item=True,
            class_="fresh" if fresh else None,
        ),
        value=numbered.idx,
    )


def _by(shown: ShownEntry, context: _EntryContext) -> Html:
    numbered, entry = shown.numbered, shown.numbered.entry
    href = context.page.links.entry(context.topic, numbered.idx)
    parts = [
        element("a", f"#{numbered.idx}", href=href, class_="number"),
        element("b", holder_name(entry.agent or "unknown")),
        *(
            element("span", one_line(kind, 60).lower(), class_="kind")
            for kind in (entry.role, wording.type_text(entry))
            if kind and kind != "Note"
        ),
        moment(utc(entry.at), context.page.now_ms),
    ]
    if kind := wording.kind_text(entry):
        parts.append(element("span", one_line(kind, 120), class_=_kind_class(entry)))
    if entry.outcome:
        parts.append(outcome_mark(entry.outcome))
    if entry.id in context.new:
        parts.append(element("span", "new", class_="mark new"))
    if numbered.forked:
        parts.append(element("span", "forked", class_="mark forked"))
    if numbered.mark:
        parts.append(element("span", numbered.mark, class_="mark corrected"))
    return element("p", joined(parts, " "), class_="by")


def _kind_class(entry: Entry) -> str:
    """Returns the class of the mark that says the kind of an entry."""
    severe = entry.severity in SEVERITIES[2:]
    return "mark severe" if severe else "mark kind"


def _quotations(entry: Entry) -> Html:
    """Returns the lines of files that an entry is about, with their numbers."""
    figures = []
    for reference in entry.line_refs[:_REFS]:
        rows = [
            element(
                "mark" if is_meant else "span",
                f"{number:>5}  {clean(line)[:MAX_WIDTH].expandtabs(4)}",
            )
            for number, line, is_meant in reference.numbered_quote()[:MAX_QUOTED]
        ]
        if rows:
            place = element("code", one_line(reference.place, _WIDTH))
            caption = element("figcaption", place)
            lines = element("pre", joined(rows, "\n"), dir="ltr")
            figures.append(element("figure", caption, lines, class_="lines"))
    return joined(figures)


def _foot(entry: Entry, idx: int) -> Html:
    """Returns what an entry changed, and what it refers to."""
    parts = []
    if entry.ball is not None:
        ball = element("span", class_="ball", aria_hidden="true")
        parts.append(element("span", ball, "ball to ", holder_name(entry.ball.holder)))
    if entry.status and (idx or entry.status != OPEN):
        parts.append(element("span", "status ", status_mark(entry.status)))
    if entry.reason:
        parts.append(element("span", "because: ", one_line(entry.reason, _WIDTH)))
    words = references(entry).words(0)
    parts += [element("code", one_line(word, 120)) for word in words[:_REFS]]
    if len(words) > _REFS:
        parts.append(text(f"and {len(words) - _REFS} more"))
    if code := code_words(entry):
        parts.append(element("span", one_line(code, 120)))
    return element("p", joined(parts, " "), class_="foot") if parts else NOTHING


def entry_page(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> WebPage:
    """Returns the page of one entry, of a very long one a part.

    Raises NotFoundError if there is no such entry.
    """
    offset = _number(query.get("offset", ""), 0)
    number = str(_number(query["idx"], 0))
    thread, shown = entries.find_entry(store, topic, number, offset)
    state, idx = thread.state, shown.numbered.idx
    entry_context = _EntryContext(state.topic, frozenset(), context)
    links = context.links
    ways = [element("a", thread.name, href=f"{links.thread(topic)}#e{idx}", id="up")]
    if idx:
        ways.append(element("a", f"#{idx - 1}", href=links.entry(topic, idx - 1)))
    if idx + 1 < len(thread.entries):
        ways.append(element("a", f"#{idx + 1}", href=links.entry(topic, idx + 1)))
    below = NOTHING
    if shown.end < shown.length:
        href = f"{links.entry(topic, idx)}?offset={shown.end}"
        below = more_link(href, f"{shown.length - shown.end:,} characters more")
    main = joined(
        (
            element("nav", joined(ways, " · "), aria_label="Around", class_="around"),
            element("ol", _entry(shown, entry_context), class_="entries"),
            below,
        )
    )
    title = one_line(shown.numbered.entry.title, _WIDTH)
    up = f"{links.thread(topic)}#e{idx}"
    return WebPage(f"#{idx} {title}".strip(), main, topic=state.topic, up=up)

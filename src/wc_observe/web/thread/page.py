"""The page of a thread, and the page of one entry."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import utc
from wc_core.ledger.planning import unlanded
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import CLOSED, KINDS
from wc_core.reading.views import entries as entry_views
from wc_core.reading.views.history import thread_history
from wc_observe.answers import entries
from wc_observe.answers.entries import EntrySpan
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import (
    WebPage,
    entry_count,
    holder_person,
    moment,
    more_link,
    outcome_mark,
    ownership_mark,
    status_mark,
)
from wc_observe.web.thread.aside import AsideContext, aside
from wc_observe.web.thread.entries import EntryContext, entry_item

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import Thread
    from wc_observe.answers.entries import EntryPage
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

# Limits: entries on a page, characters of one body, characters of all bodies.
_ENTRIES, _BODY, _WHOLE = 40, 20_000, 400_000
_WIDTH = 300
_REFS = 12


def thread_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the page of a thread: its latest entries, or those from a given number
    on.

    Raises NotFoundError for a thread that does not exist.
    """
    kind = vocabulary.kind(query.get("kind", ""))
    part = _part(store, query["topic"], kind, query.get("from", ""))
    state = part.thread.state
    cursor = store.reader.cursor(state.topic, store.viewer.key)
    new = frozenset(entry_views.new_ids(part.thread, store.viewer, cursor))
    past = thread_history(part.thread, context.now_ms, context.directory)
    # Nobody has the ball of a closed thread.
    current = None if state.status == CLOSED else past.current
    passing = "" if current is None else current.entry_id
    title = one_line(state.title, _WIDTH)
    entry_context = EntryContext(state.topic, new, context, passing, title)
    first = part.entries[0].numbered.idx if part.entries else 0
    column = (
        _notices(part.thread),
        _to_new(part.thread, entry_context),
        _facets(part.thread, kind, context),
        NOTHING if kind else _earlier(first, state.topic, context),
        element(
            "ol",
            *(entry_item(entry, entry_context) for entry in part.entries),
            class_="entries",
            start=first,
        ),
        _later(part, state.topic, context, kind),
    )
    about = AsideContext(store, part.thread, context, past, len(new))
    main = element(
        "div",
        element("div", _around(store, state.topic, context), class_="over"),
        _head(store, part.thread, context),
        element("div", *column, class_="column-of-entries"),
        aside(about),
        class_="thread-page",
    )
    return WebPage(
        one_line(state.title, _WIDTH) or part.thread.name,
        main,
        mark=int(_is_due(store, state)),
        topic=state.topic,
        up=f"{context.links.board()}#t-{part.thread.name}",
    )


def _around(store: OpenStore, topic: str, context: PageContext) -> Html:
    """Returns links to the viewer's threads before and after this one, in the board's
    order."""
    mine = [row for row in store.overview.rows() if row.is_due]
    place = next((i for i, row in enumerate(mine) if row.topic == topic), -1)
    others = [row for row in mine if row.topic != topic]
    if not others:
        return NOTHING
    previous = mine[place - 1] if place > 0 else None
    following = mine[place + 1] if place + 1 < len(mine) else None
    ways = [
        element(
            "a",
            words,
            element("bdi", one_line(row.name)),
            href=context.links.thread(row.name),
            rel=rel,
            title=one_line(row.title, _WIDTH),
        )
        for row, rel, words in (
            (previous, "prev", "← yours: "),
            (following, "next", "→ yours: "),
        )
        if row is not None
    ]
    return element("nav", joined(ways, " "), class_="around", aria_label="Yours")


def _part(store: OpenStore, topic: str, kind: str, start: str) -> EntryPage:
    """Returns the entries to show: the first ones of a kind, or those from a given
    number on; by default the latest."""
    number = _number(start, 0 if kind else -_ENTRIES)
    if kind:
        return _from(store, topic, number, kind)
    part = None if number == -_ENTRIES else _from(store, topic, number)
    # Also if the start is beyond the end.
    return part if part is not None and part.entries else _latest(store, topic)


def _facets(thread: Thread, chosen: str, context: PageContext) -> Html:
    """Returns a link for each kind of entry in the thread."""
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
            "Give a whole number, 0 or more.",
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


def _is_due(store: OpenStore, state: State) -> bool:
    """Returns whether a thread waits for the viewer."""
    return bool(unlanded.own_moves(store.reader, store.viewer.holds, state))


def _head(store: OpenStore, thread: Thread, context: PageContext) -> Html:
    """Returns title, topic, status and ball; everything else is beside the entries."""
    state = thread.state
    ball = element("span", class_="ball now", aria_hidden="true")
    holder = element("span", ball, " ", holder_person(state.ball, context.directory))
    whose = ownership_mark(store.viewer.whose(state.ball))
    parts = [
        element("bdi", thread.name, class_="topic"),
        status_mark(state.status),
        outcome_mark(state.review.outcome) if state.review.outcome else NOTHING,
        *(() if state.status == CLOSED else (holder, whose)),
        moment(utc(state.updated_at), context.now_ms),
        element("a", "Details", href="#details", class_="to-details"),
    ]
    return element(
        "header",
        element("h1", one_line(state.title, _WIDTH) or thread.name, dir="auto"),
        element("p", joined(filter(None, parts), " "), class_="facts"),
        class_=f"thread {'yours' if _is_due(store, state) else ''}".strip(),
    )


def _notices(thread: Thread) -> Html:
    notices = []
    if thread.state.forked:
        notices.append(
            element(
                "p",
                element("b", "Forked. "),
                "Two clones wrote at the same time: the marked entries are parallel. "
                "The next entry joins them.",
            )
        )
    for damage in thread.damage[:_REFS]:
        words = f"{one_line(damage.place, _WIDTH)}: {one_line(damage.message, _WIDTH)}"
        notices.append(element("p", element("b", "Damaged. "), words))
    if thread.damage:
        fix = element("code", "wc doctor")
        notices.append(element("p", "To see what to do, run ", fix, "."))
    kind = "notice damaged" if thread.damage else "notice"
    return element("div", *notices, class_=kind) if notices else NOTHING


def _to_new(thread: Thread, context: EntryContext) -> Html:
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
    words = counted(first, "earlier entry", "earlier entries")
    return more_link(context.links.thread(topic, **start), words)


def _later(part: EntryPage, topic: str, context: PageContext, kind: str) -> Html:
    count = len(part.thread.entries)
    if part.next_index < 0:
        return NOTHING if part.entries else element("p", "No entries.", class_="none")
    start = {"from": str(part.next_index), "kind": kind}
    words = counted(count - part.next_index, "later entry", "later entries")
    words = f"more of kind {kind}" if kind else words
    return more_link(context.links.thread(topic, **start), words)


def entry_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the page of one entry; a very long entry takes several pages.

    Raises NotFoundError if there is no such entry.
    """
    topic, offset = query["topic"], _number(query.get("offset", ""), 0)
    number = str(_number(query["idx"], 0))
    thread, shown = entries.find_entry(store, topic, number, offset)
    state, idx = thread.state, shown.numbered.idx
    entry_context = EntryContext(state.topic, frozenset(), context, is_alone=True)
    links = context.links
    name = one_line(state.title, _WIDTH) or thread.name
    ways = [element("a", name, href=f"{links.thread(topic)}#e{idx}", id="up")]
    if idx:
        ways.append(element("a", f"← #{idx - 1}", href=links.entry(topic, idx - 1)))
    if idx + 1 < len(thread.entries):
        ways.append(element("a", f"→ #{idx + 1}", href=links.entry(topic, idx + 1)))
    below = NOTHING
    if shown.end < shown.length:
        href = f"{links.entry(topic, idx)}?offset={shown.end}"
        below = more_link(href, f"{shown.length - shown.end:,} more characters")
    main = joined(
        (
            element("nav", joined(ways, " "), aria_label="Around", class_="around"),
            element("ol", entry_item(shown, entry_context), class_="entries"),
            below,
        )
    )
    title = one_line(shown.numbered.entry.title, _WIDTH)
    up = f"{links.thread(topic)}#e{idx}"
    return WebPage(f"#{idx} {title}".strip(), main, topic=state.topic, up=up)

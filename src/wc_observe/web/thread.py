"""A thread as a page, and one entry of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wc_core.errors import InvalidInputError
from wc_core.text import one_line
from wc_core.threads.model import OPEN
from wc_core.times import utc
from wc_core.views import rows, timeline
from wc_observe.answers import entries as reading
from wc_observe.answers.entries import EntrySpan
from wc_observe.web import markdown
from wc_observe.web.html import NOTHING, Html, element, joined, text
from wc_observe.web.page import (
    WebPage,
    entries,
    moment,
    more_link,
    name_of,
    status_mark,
)
from wc_observe.web.timeline import strip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.threads.model import Entry
    from wc_core.threads.reader import Thread
    from wc_observe.answers.entries import EntryPage, ShownEntry
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

# Entries on a page, and characters of one body and of all of them.
_ENTRIES, _BODY, _WHOLE = 40, 20_000, 400_000
_WIDTH = 300
_REFS = 12


class _Seen(NamedTuple):
    """What an entry is shown with: the thread's name, what is NEW in it."""

    topic: str
    new: frozenset[str]
    look: PageContext


def thread(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> WebPage:
    """A thread, its latest entries or those from a number on.

    Raises NotFoundError for a thread that does not exist.
    """
    start = _number(query.get("from", ""), -_ENTRIES)
    part = None if start == -_ENTRIES else _from(store, topic, start)
    if part is None or not part.entries:  # from beyond the end on, as well
        part = _latest(store, topic)
    state = part.thread.state
    cursor = store.reader.cursor(state.topic, store.viewer.key)
    new = frozenset(rows.new_ids(part.thread, store.viewer, cursor))
    seen = _Seen(state.topic, new, context)
    first = part.entries[0].found.idx if part.entries else 0
    main = joined(
        (
            _head(store, part.thread, context),
            _notices(part.thread),
            _to_new(part.thread, seen),
            _earlier(first, state.topic, context),
            element(
                "ol",
                *(_entry(one, seen) for one in part.entries),
                class_="entries",
                start=first,
            ),
            _later(part, state.topic, context),
        )
    )
    return WebPage(
        one_line(state.title, _WIDTH) or state.topic,
        main,
        mark=int(store.viewer.holds(state.ball)),
        topic=state.topic,
        up=f"{context.links.board()}#t-{state.topic}",
    )


def _number(said: str, default: int) -> int:
    if not said:
        return default
    if not said.isdecimal() or len(said) > len("1000000"):
        raise InvalidInputError(
            f"{one_line(said, 40)!r} is not the number of an entry.",
            "Give a whole number from 0 on.",
        )
    return int(said)


def _from(store: OpenStore, topic: str, start: int) -> EntryPage:
    span = EntrySpan(start, _ENTRIES, body=_BODY, whole=_WHOLE)
    return reading.part(store, topic, span)


def _latest(store: OpenStore, topic: str) -> EntryPage:
    """As many of the last entries as a page takes."""
    count = _ENTRIES
    while True:
        span = EntrySpan(-count, count, body=_BODY, whole=_WHOLE)
        part = reading.part(store, topic, span)
        if part.next_index < 0 or count == 1:
            return part
        count //= 2


def _head(store: OpenStore, found: Thread, context: PageContext) -> Html:
    state = found.state
    you = store.viewer.holds(state.ball)
    people = rows.participants(found.entries)
    ball = [element("span", class_="ball", aria_hidden="true"), name_of(state.ball)]
    if you:
        ball.append(element("span", "you", class_="mark you"))
    facts = [
        ("Ball", joined(ball, " ")),
        ("Status", status_mark(state.status)),
        ("Entries", Html(str(state.entry_count))),
        ("Last move", moment(utc(state.updated_at), context.now_ms)),
        ("Written by", joined((name_of(one or "unknown") for one in people), ", ")),
    ]
    if state.branch:
        facts.append(("Branch", element("code", one_line(state.branch, _WIDTH))))
    each = (
        element("div", element("dt", name), element("dd", value))
        for name, value in facts
    )
    track = timeline.of_thread(found, context.now_ms, store.viewer.directory)
    return element(
        "header",
        element("p", element("bdi", state.topic), class_="topic"),
        element("h1", one_line(state.title, _WIDTH) or state.topic, dir="auto"),
        element("dl", *each, class_="facts"),
        strip(timeline.chart((track,), store.viewer.directory), context),
        class_=f"thread {'yours' if you else ''}".strip(),
    )


def _notices(found: Thread) -> Html:
    said = []
    if found.state.forked:
        said.append(
            element(
                "p",
                element("b", "Forked. "),
                "Two clones wrote at once: entries marked so stand side by side. "
                "The next entry joins them.",
            )
        )
    for one in found.damage[:_REFS]:
        words = f"{one_line(one.place, _WIDTH)}: {one_line(one.message, _WIDTH)}"
        said.append(element("p", element("b", "Damaged. "), words))
    if found.damage:
        fix = element("code", "wc doctor")
        said.append(element("p", "What to do about it says ", fix, "."))
    kind = "notice damaged" if found.damage else "notice"
    return element("div", *said, class_=kind) if said else NOTHING


def _to_new(found: Thread, seen: _Seen) -> Html:
    fresh = [idx for idx, one in enumerate(found.entries) if one.id in seen.new]
    if not fresh:
        return NOTHING
    href = (
        f"{seen.look.links.thread(seen.topic, **{'from': str(fresh[0])})}#e{fresh[0]}"
    )
    if len(found.entries) - fresh[0] <= _ENTRIES:
        href = f"#e{fresh[0]}"
    return more_link(href, f"{entries(len(fresh))} new, from #{fresh[0]} on")


def _earlier(first: int, topic: str, context: PageContext) -> Html:
    if first <= 0:
        return NOTHING
    start = {"from": str(max(0, first - _ENTRIES))}
    words = f"{entries(first)} before these"
    return more_link(context.links.thread(topic, **start), words)


def _later(part: EntryPage, topic: str, context: PageContext) -> Html:
    count = len(part.thread.entries)
    if part.next_index < 0:
        return NOTHING if part.entries else element("p", "No entries.", class_="none")
    start = {"from": str(part.next_index)}
    words = f"{entries(count - part.next_index)} after these"
    return more_link(context.links.thread(topic, **start), words)


def _entry(shown: ShownEntry, seen: _Seen) -> Html:
    one, found = shown.found.entry, shown.found
    number = f"e{found.idx}"
    fresh = one.id in seen.new
    title = one_line(one.title, _WIDTH)
    rest = NOTHING
    if shown.is_cut:
        words = f"The rest of its {shown.length:,} characters"
        rest = more_link(seen.look.links.entry(seen.topic, found.idx), words)
    return element(
        "li",
        element(
            "article",
            _by(shown, seen),
            element("h2", title, dir="auto", id=f"{number}-title")
            if title
            else NOTHING,
            element("div", markdown.rendered(shown.body), class_="body"),
            rest,
            _foot(one, found.idx),
            aria_labelledby=f"{number}-title" if title else None,
            id=number,
            tabindex=-1,
            data_item=True,
            class_="fresh" if fresh else None,
        ),
        value=found.idx,
    )


def _by(shown: ShownEntry, seen: _Seen) -> Html:
    found, entry = shown.found, shown.found.entry
    href = seen.look.links.entry(seen.topic, found.idx)
    parts = [
        element("a", f"#{found.idx}", href=href, class_="number"),
        element("b", name_of(entry.agent or "unknown")),
        *(
            element("span", one_line(one, 60).lower(), class_="kind")
            for one in (entry.role, entry.type if entry.type != "Note" else "")
            if one
        ),
        moment(utc(entry.at), seen.look.now_ms),
    ]
    if entry.id in seen.new:
        parts.append(element("span", "new", class_="mark new"))
    if found.forked:
        parts.append(element("span", "forked", class_="mark forked"))
    return element("p", joined(parts, " "), class_="by")


def _foot(entry: Entry, idx: int) -> Html:
    """What an entry changed, and what it is about."""
    parts = []
    if entry.ball is not None:
        ball = element("span", class_="ball", aria_hidden="true")
        parts.append(element("span", ball, "ball to ", name_of(entry.ball.holder)))
    if entry.status and (idx or entry.status != OPEN):
        parts.append(element("span", "status ", status_mark(entry.status)))
    if entry.reason:
        parts.append(element("span", "because: ", one_line(entry.reason, _WIDTH)))
    refs = [
        *entry.file_refs,
        *(f"#{one}" for one in entry.pr_refs),
        *(one[:12] for one in entry.commit_refs),
    ]
    parts += [element("code", one_line(one, 120)) for one in refs[:_REFS]]
    if len(refs) > _REFS:
        parts.append(text(f"and {len(refs) - _REFS} more"))
    return element("p", joined(parts, " "), class_="foot") if parts else NOTHING


def entry(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> WebPage:
    """One entry, whole; of a very long one a part.

    Raises NotFoundError for what is not there.
    """
    offset = _number(query.get("offset", ""), 0)
    found, shown = reading.entry(store, topic, _number(query["idx"], 0), "", offset)
    state, idx = found.state, shown.found.idx
    seen = _Seen(state.topic, frozenset(), context)
    links = context.links
    ways = [element("a", state.topic, href=f"{links.thread(topic)}#e{idx}", id="up")]
    if idx:
        ways.append(element("a", f"#{idx - 1}", href=links.entry(topic, idx - 1)))
    if idx + 1 < len(found.entries):
        ways.append(element("a", f"#{idx + 1}", href=links.entry(topic, idx + 1)))
    more = NOTHING
    if shown.end < shown.length:
        href = f"{links.entry(topic, idx)}?offset={shown.end}"
        more = more_link(href, f"{shown.length - shown.end:,} characters more")
    main = joined(
        (
            element("nav", joined(ways, " · "), aria_label="Around", class_="around"),
            element("ol", _entry(shown, seen), class_="entries"),
            more,
        )
    )
    title = one_line(shown.found.entry.title, _WIDTH)
    up = f"{links.thread(topic)}#e{idx}"
    return WebPage(f"#{idx} {title}".strip(), main, topic=state.topic, up=up)

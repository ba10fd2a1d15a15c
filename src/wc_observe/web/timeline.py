"""Who held the ball when, drawn to the width of the page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wc_core import times
from wc_core.errors import InvalidInputError, WcError
from wc_core.text import one_line
from wc_core.threads.model import BLOCKED, CLOSED, IN_REVIEW
from wc_core.threads.moves import holder_text
from wc_core.views import timeline
from wc_core.views.rows import Filter
from wc_core.views.timelinesvg import COLOURS
from wc_observe.web.board import choice
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, entries, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.views.rows import ThreadRow
    from wc_core.views.timeline import BallSpan, Chart, Track
    from wc_observe.open_store import OpenStore
    from wc_observe.web.page import PageContext

# The logs of so many threads are read for one picture.
_THREADS = 40
_TICKS = 6
# Per cent of the width, behind which the words of a tick have no room.
_LAST_TICK = 96
_AGES = (
    ("", "from the beginning"),
    ("24h", "24 hours"),
    ("7d", "7 days"),
    ("30d", "30 days"),
    ("90d", "90 days"),
)
_MARKS = {CLOSED: "closed", IN_REVIEW: "review", BLOCKED: "blocked"}
# A thousandth of the width: what is less is not seen.
_LEAST = 0.05


def drawn(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> Chart:
    """The chart of one thread, or of those that moved last.

    Raises NotFoundError for a thread that does not exist, InvalidInputError
    for an age that is none.
    """
    directory, since = (
        store.viewer.directory,
        _since(query.get("since", ""), context.now_ms),
    )
    if topic:
        found = store.reader.thread(store.reader.find(topic))
        track = timeline.of_thread(found, context.now_ms, directory)
        return timeline.chart((track,), directory, since)
    every = query.get("all") == "1"
    rows = store.overview.matching(Filter(open_only=not every))
    tracks = _tracks(store, rows, context.now_ms)
    found_chart = timeline.chart(tracks, directory, since)
    return found_chart._replace(total=len(rows))


def _since(said: str, now_ms: int) -> int | None:
    if not said:
        return None
    back = times.age_ms(said)
    if back is None:
        raise InvalidInputError(
            f"{one_line(said, 40)!r} is not an age.", "Write 90m, 3h, 7d or 4w."
        )
    return now_ms - back


def _tracks(store: OpenStore, rows: list[ThreadRow], now_ms: int) -> Iterator[Track]:
    for row in rows[:_THREADS]:
        try:
            thread = store.reader.thread(row.topic)
        except WcError:
            continue  # the board says so of it
        yield timeline.of_thread(thread, now_ms, store.viewer.directory)


def page(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> WebPage:
    """The timeline of one thread, or of those that moved last."""
    chart = drawn(store, context, topic, query)
    name = one_line(topic) if topic else ""
    title = f"Timeline of {name}" if name else "Timeline"
    left = chart.total - len(chart.tracks)
    main = joined(
        (
            element("h1", title),
            _choice(context, topic, query),
            _chart(chart, context)
            if chart.until
            else element("p", "Nothing to show yet.", class_="none"),
            element(
                "p", f"The {len(chart.tracks)} threads that moved last; {left} more."
            )
            if left > 0 and not topic
            else NOTHING,
            _spans(chart) if topic else NOTHING,
            element(
                "p",
                element(
                    "a",
                    "As a picture (SVG)",
                    href=context.links.picture(topic),
                    download="timeline.svg",
                ),
            ),
        )
    )
    return WebPage(title, main, "timeline")


def _choice(context: PageContext, topic: str, query: Mapping[str, str]) -> Html:
    closed = element(
        "label",
        element(
            "input",
            type="checkbox",
            name="all",
            value="1",
            checked=query.get("all") == "1",
        ),
        " closed ones too",
    )
    return element(
        "form",
        choice("since", "Since", _AGES, query.get("since", "")),
        NOTHING if topic else closed,
        element("button", "Show"),
        action=context.links.timeline(topic),
        class_="filter",
    )


def strip(chart: Chart, context: PageContext) -> Html:
    """A thread's own line, for the head of its page."""
    if not chart.until or chart.since == chart.until:
        return NOTHING
    (track,) = chart.tracks
    href = context.links.timeline(track.topic)
    words = f"Who held the ball, from {_minute(chart.since)} on"
    return element(
        "a", _bars(chart, track), href=href, class_="strip", aria_label=words
    )


def _chart(chart: Chart, context: PageContext) -> Html:
    marks = [
        element("text", one.label, x=f"{chart.place(one.at, 100):.2f}%", y=12)
        for one in timeline.ticks(chart.since, chart.until, _TICKS)
        if chart.place(one.at, 100) < _LAST_TICK
    ]
    axis = element(
        "div",
        element("span", "UTC"),
        element("svg", *marks, class_="axis", aria_hidden="true", height=16),
        class_="track head",
    )
    rows = (_row(chart, one, context) for one in chart.tracks)
    return element("div", _legend(chart), axis, element("ul", *rows), class_="chart")


def _row(chart: Chart, track: Track, context: PageContext) -> Html:
    link = element(
        "a",
        element("bdi", one_line(track.topic)),
        href=context.links.thread(track.topic),
        title=one_line(track.title),
        data_item=True,
        id=f"t-{one_line(track.topic)}",
    )
    return element("li", link, _bars(chart, track), class_="track")


def _bars(chart: Chart, track: Track) -> Html:
    """A bar for each span; what it says stands in its title, and all of it in
    one sentence for who does not see."""
    parts, last = [], -1.0
    for one in track.spans:
        start, end = (chart.place(at, 100) for at in (one.since, one.until))
        end = max(end, start + 2 * _LEAST)
        if end - last >= _LEAST:
            parts.append(_bar(chart, one, start, end))
            last = end
    now = track.spans[-1] if track.spans else None
    said = f"{len(track.spans)} spans"
    if now is not None:
        said = f"with {_who(now)} for {times.span(now.ms // 1000)}; {said} in all"
    return element("svg", *parts, class_="bars", role="img", aria_label=said, height=16)


def _bar(chart: Chart, one: BallSpan, start: float, end: float) -> Html:
    name = "unknown" if not one.known else "free"
    if one.known and one.holder is not None:
        name = f"h{chart.colours[one.holder] % len(COLOURS)}"
    said = (
        f"{_who(one)} · {times.span(one.ms // 1000)} from {_minute(one.since)} · "
        f"{one_line(one.status, 40)} · {entries(one.entries)}"
    )
    box = {"x": f"{start:.3f}%", "width": f"{max(0.0, end - start):.3f}%"}
    bar = element(
        "rect",
        y=1,
        height=14,
        rx=2,
        class_=f"{name} {_MARKS.get(one.status, '')}".strip(),
        **box,
    )
    return element("g", element("title", said), bar)


def _legend(chart: Chart) -> Html:
    each = [
        element("li", _swatch(f"h{place % len(COLOURS)}"), name_of(name))
        for place, name in enumerate(chart.holders)
    ]
    spans = [one for track in chart.tracks for one in track.spans]
    if any(one.known and one.holder is None for one in spans):
        each.append(element("li", _swatch("free"), "anyone may take it"))
    if any(not one.known for one in spans):
        each.append(element("li", _swatch("unknown"), "not known"))
    known = {one.status for one in spans}
    each += [
        element("li", _swatch(f"h0 {name}"), status.replace("_", " ").lower())
        for status, name in _MARKS.items()
        if status in known
    ]
    return element("ul", *each, class_="legend", aria_label="Colours")


def _swatch(name: str) -> Html:
    box = element("rect", class_=name, width=14, height=14, rx=2)
    return element("svg", box, width=14, height=14, aria_hidden="true")


def _spans(chart: Chart) -> Html:
    heads = ("Ball", "From", "For", "Status", "Entries")
    head = element("tr", *(element("th", one, scope="col") for one in heads))
    lines = (
        element(
            "tr",
            element("td", element("bdi", _who(one))),
            element("td", _minute(one.since)),
            element("td", times.span(one.ms // 1000)),
            element("td", one_line(one.status, 40).replace("_", " ").lower()),
            element("td", str(one.entries), class_="number"),
        )
        for track in chart.tracks
        for one in reversed(track.spans[-200:])
    )
    return element(
        "table", element("thead", head), element("tbody", *lines), class_="list"
    )


def _who(one: BallSpan) -> str:
    return one_line(holder_text(one.holder), 100) if one.known else "not known"


def _minute(moment: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment // 1000))

"""The timeline page: who held the ball when."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wc_core.base import times, ulid
from wc_core.base.errors import WcError
from wc_core.base.names import parse
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import BLOCKED, CLOSED, IN_REVIEW, holder_text
from wc_core.reading.views import timeline
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, entry_count, holder_person, person, status_mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.base.names import Directory
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.timeline import BallSpan, Chart, Track
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

# One chart reads the logs of at most this many threads.
_THREADS = 40
_TICKS = 6
# In per cent of the width. The label of a tick further right would not fit.
_LAST_TICK = 96
_LATE_TICK = 86  # the same on a narrow screen
_DEFAULT = "7d"
_ALL = "all"
_WINDOWS = (
    ("24h", "24 hours"),
    ("7d", "7 days"),
    ("30d", "30 days"),
    ("90d", "90 days"),
    (_ALL, "everything"),
)
# The limits of zooming, in hours.
_LEAST_HOURS, _MOST_HOURS = 1, 24 * 365 * 4
_HOUR_MS = 3_600_000
# In per cent of the width. A bar this wide has room for a name.
_NAMED = 4.0
_SHORT = 12.0  # the same on a narrow screen
_MARKS = {CLOSED: "closed", IN_REVIEW: "review", BLOCKED: "blocked"}
# In per cent of the width. A narrower bar is invisible.
_LEAST = 0.05
# A strip is drawn from this number of segments on, each of at least so many per cent.
_SEGMENTS, _SEGMENT = 2, 1


def draw_chart(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> Chart:
    """Returns the chart of one thread, or of those that `wc timeline` shows: open or
    closed, with an entry in this time.

    Raises NotFoundError for a thread that does not exist and InvalidInputError for a
    time that cannot be parsed.
    """
    directory = store.viewer.directory
    start = query.get("since", "") or (_ALL if topic else _DEFAULT)
    last_id = "" if start == _ALL else times.since_id(start, context.now_ms)
    since = ulid.timestamp_ms(last_id) if last_id else None
    if topic:
        thread = store.reader.thread(store.reader.find(topic))
        track = timeline.thread_track(thread, context.now_ms, directory)
        return timeline.make_chart((track,), directory, since)
    rows = timeline.rows_moved_since(store.overview.rows(), last_id)
    tracks = _tracks(store, rows, context.now_ms)
    found_chart = timeline.make_chart(tracks, directory, since)
    return found_chart._replace(total=len(rows))


def _tracks(store: OpenStore, rows: list[ThreadRow], now_ms: int) -> Iterator[Track]:
    for row in rows[:_THREADS]:
        try:
            thread = store.reader.thread(row.topic)
        except WcError:
            continue  # the board marks it as damaged
        yield timeline.thread_track(thread, now_ms, store.viewer.directory)


def timeline_page(
    store: OpenStore, context: PageContext, topic: str, query: Mapping[str, str]
) -> WebPage:
    """Returns the timeline of one thread, or of the most recently changed threads."""
    chart = draw_chart(store, context, topic, query)
    title, heading, up = "Timeline", element("h1", "Timeline"), ""
    if topic:
        up = context.links.thread(topic)
        title = f"Timeline of {one_line(topic)}"
        link = element("a", element("bdi", one_line(topic)), href=up)
        heading = element("h1", "Timeline of ", link)
    hidden = chart.total - len(chart.tracks)
    main = joined(
        (
            heading,
            _windows(chart, context, topic, query),
            _chart(chart, context) if chart.until else _nothing(store, context),
            element("p", f"The latest {len(chart.tracks)} threads; {hidden} more.")
            if hidden > 0 and not topic
            else NOTHING,
            _spans(chart, context.directory) if topic else NOTHING,
            element(
                "p",
                element(
                    "a",
                    "Download as SVG",
                    class_="more",
                    href=context.links.picture(topic, since=query.get("since", "")),
                    download="timeline.svg",
                ),
            ),
        )
    )
    return WebPage(title, main, "timeline", up=up)


def _nothing(store: OpenStore, context: PageContext) -> Html:
    if not store.overview.rows():
        return element("p", "Nothing to show yet.", class_="none")
    href = context.links.timeline(since=_ALL)
    link = element("a", "Show everything", href=href, class_="more")
    return element("p", "Nothing moved in this time. ", link, class_="none")


def _windows(
    chart: Chart, context: PageContext, topic: str, query: Mapping[str, str]
) -> Html:
    """Returns links to periods of time: the usual ones, and half and double the current
    one."""
    since = query.get("since", "") or (_ALL if topic else _DEFAULT)

    def link(window: str, label: str, explanation: str = "") -> Html:
        return element(
            "a",
            label,
            href=context.links.timeline(topic, since=window),
            aria_current="true" if window == since else None,
            title=explanation or None,
            id=f"window-{label}" if explanation else None,
        )

    hours = max(_LEAST_HOURS, _window_hours(since, chart))
    zooms = []
    if hours > _LEAST_HOURS:
        zooms.append(link(f"{max(_LEAST_HOURS, hours // 2)}h", "+", "Zoom in"))
    if hours < _MOST_HOURS:
        zooms.append(link(f"{hours * 2}h", "\u2212", "Zoom out"))
    windows = (link(window, label) for window, label in _WINDOWS)
    parts = joined((*windows, *zooms), " ")
    return element("nav", parts, class_="windows", aria_label="Window")


def _window_hours(since: str, chart: Chart) -> int:
    """Returns the length of the chosen window, which the chart may not fill."""
    asked = times.age_ms(since)
    return (asked or chart.until - chart.since) // _HOUR_MS


def thread_strip(chart: Chart, context: PageContext) -> Html:
    """Returns one thread's chart as a strip for the column beside it, with when it
    begins and ends; nothing if fewer than two segments would be visible."""
    if not chart.until or chart.since == chart.until:
        return NOTHING
    (track,) = chart.tracks
    whole = chart.until - chart.since
    if sum(span.ms * 100 >= whole * _SEGMENT for span in track.spans) < _SEGMENTS:
        return NOTHING
    href = context.links.timeline(track.topic)
    words = f"Who held the ball since {_minute(chart.since)}"
    # The page lists the names below it; in such a narrow picture they would be cut.
    bars = _bars(chart, track, has_names=False)
    ends = (element("span", _minute(chart.since)), element("span", "now"))
    scale = element("span", joined(ends, " "), class_="scale")
    return element("a", bars, scale, href=href, class_="strip", title=words)


def _chart(chart: Chart, context: PageContext) -> Html:
    marks = [
        element(
            "text",
            item.label,
            x=f"{place:.2f}%",
            y=12,
            class_="late" if place > _LATE_TICK else None,
        )
        for item in timeline.ticks(chart.since, chart.until, _TICKS)
        if (place := chart.place(item.at, 100)) < _LAST_TICK
    ]
    axis = element(
        "div",
        element("span", "UTC"),
        element("svg", *marks, class_="axis", aria_hidden="true", height=16),
        class_="track head",
    )
    rows = (_row(chart, item, context) for item in chart.tracks)
    return element(
        "div",
        _legend(chart, context.directory),
        axis,
        element("ul", *rows),
        class_="chart",
    )


def _row(chart: Chart, track: Track, context: PageContext) -> Html:
    link = element(
        "a",
        element("span", one_line(track.title) or one_line(track.topic), dir="auto"),
        element("bdi", one_line(track.topic), class_="topic"),
        href=context.links.thread(track.topic),
        data_item=True,
        id=f"t-{one_line(track.topic)}",
    )
    return element("li", link, _bars(chart, track), class_="track")


def _bars(chart: Chart, track: Track, *, has_names: bool = True) -> Html:
    """Returns one bar per span, each with a tooltip, and one label for screen
    readers."""
    parts, drawn_to = [], -1.0
    for span in track.spans:
        start, end = (chart.place(at, 100) for at in (span.since, span.until))
        end = max(end, start + 2 * _LEAST)
        if end - drawn_to >= _LEAST:
            parts.append(_bar(chart, span, (start, end), has_names=has_names))
            drawn_to = end
    now = track.spans[-1] if track.spans else None
    label = f"{len(track.spans)} spans"
    if now is not None:
        label = (
            f"with {_span_holder(now)} for {times.span(now.ms // 1000)}; {label} in all"
        )
    return element(
        "svg", *parts, class_="bars", role="img", aria_label=label, height=20
    )


def _bar(
    chart: Chart, span: BallSpan, place: tuple[float, float], *, has_names: bool
) -> Html:
    start, end = place
    name = "unknown" if not span.known else "free"
    if span.known and span.holder is not None:
        name = f"h{chart.hues[span.holder]}"
    label = (
        f"{_span_holder(span)} · "
        f"{times.span(span.ms // 1000)} from {_since(span)} · "
        f"{one_line(span.status, 40)} · {entry_count(span.entries)}"
    )
    box = {"x": f"{start:.3f}%", "width": f"{max(0.0, end - start):.3f}%"}
    kind = f"{name} {_MARKS.get(span.status, '')}".strip()
    bar = element("rect", y=1, height=18, rx=2, width="100%", class_=kind)
    # Only HTML text can end in an ellipsis where it does not fit.
    words = NOTHING
    if has_names and end - start >= _NAMED and span.known:
        short = " short" if end - start < _SHORT else ""
        words_class = f"name {kind}{short}"
        inside = element("div", _span_holder(span), class_=words_class)
        words = element("foreignObject", inside, width="100%", height=20)
    inner = element("svg", bar, words, height=20, **box)
    return element("g", element("title", label), inner)


def _legend(chart: Chart, directory: Directory) -> Html:
    items = [
        element("li", person(name, directory))
        for name in dict.fromkeys(
            directory.canonical(parse(holder)).agent for holder in chart.holders
        )
    ]
    spans = [span for track in chart.tracks for span in track.spans]
    if any(span.known and span.holder is None for span in spans):
        items.append(element("li", _swatch("free"), "anyone may take it"))
    if any(not span.known for span in spans):
        items.append(element("li", _swatch("unknown"), "not known"))
    statuses = {span.status for span in spans}
    items += [
        element("li", _swatch(name), status.replace("_", " ").lower())
        for status, name in _MARKS.items()
        if status in statuses
    ]
    return element("ul", *items, class_="legend", aria_label="Colours")


def _swatch(name: str) -> Html:
    box = element("rect", class_=name, width=14, height=14, rx=2)
    return element("svg", box, width=14, height=14, aria_hidden="true")


_HEADS = ("Ball", "From", "For", "Status")
_LAST_HEAD = element("th", "Entries", scope="col", class_="number")


def _spans(chart: Chart, directory: Directory) -> Html:
    heads = (*(element("th", item, scope="col") for item in _HEADS), _LAST_HEAD)
    head = element("tr", *heads)
    lines = (
        element(
            "tr",
            element("td", _holder(item, directory)),
            element("td", _since(item)),
            element("td", times.span(item.ms // 1000)),
            element("td", status_mark(item.status)),
            element("td", str(item.entries), class_="number"),
        )
        for track in chart.tracks
        for item in reversed(track.spans[-200:])
    )
    return element(
        "table", element("thead", head), element("tbody", *lines), class_="list"
    )


def _holder(span: BallSpan, directory: Directory) -> Html:
    if span.known:
        return holder_person(span.holder, directory)
    return element("span", _span_holder(span))


def _span_holder(span: BallSpan) -> str:
    return one_line(holder_text(span.holder), 100) if span.known else "not known"


def _since(span: BallSpan) -> str:
    return "a doubtful time" if span.doubtful else _minute(span.since)


def _minute(moment: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment // 1000))

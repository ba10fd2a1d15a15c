"""A timeline as terminal text: a line for each thread, drawn to scale.

With colours, a bar is a block of its holder's colour. Without colours, it starts with
``|`` and the holder's name or, if that does not fit, the letter from the legend.
"""

from __future__ import annotations

import time

from wc_cli.run.terminal.style import agent_codes
from wc_cli.run.widths import cut_to_width, left_to_right, width_of
from wc_core.base.text import one_line
from wc_core.base.times import local
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED, IN_REVIEW, holder_text
from wc_core.reading.views.drawing.badges import HUES
from wc_core.reading.views.timeline import local_ticks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.run.terminal.style import Style
    from wc_core.reading.views.timeline import BallSpan, Chart, Track

_DIM, _BOLD = "2", "1"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TOPICS, _LEAST_TOPIC, _LEAST_BAR = 28, 8, 12
_TICK_ROOM = 12
_MINUTES = len("2026-01-31T12:00")
_MARKS = {BLOCKED: "!", IN_REVIEW: "*", CLOSED: "x"}


class ChartSigns(NamedTuple):
    """The characters of a chart."""

    fill: str
    free: str
    unknown: str
    ellipsis: str


_PLAIN = ChartSigns("-", ".", "?", "~")
_DRAWN = ChartSigns("─", "·", "?", "…")


class Drawing(NamedTuple):
    """How to draw a chart: its width in columns, and whether with colours and with
    ASCII only."""

    width: int
    style: Style
    ascii: bool = False

    @property
    def signs(self) -> ChartSigns:
        """The characters to draw with."""
        return _PLAIN if self.ascii else _DRAWN

    def text(self, words: str) -> str:
        """Return untrusted text on one line."""
        line = one_line(words)
        return line.encode("ascii", "replace").decode() if self.ascii else line


class Bar(NamedTuple):
    """A span on the line of its thread: first column and number of columns."""

    span: BallSpan
    start: int
    width: int


def chart_lines(chart: Chart, drawing: Drawing) -> list[str]:
    """Return the chart: times above, a line for each thread, the legend below."""
    if not chart.until:
        return []
    room = _topic_room(chart, drawing)
    width = max(_LEAST_BAR, drawing.width - room - 1)
    zone = drawing.text(time.strftime("%Z", time.localtime(chart.until // 1000)))
    line = f"{zone[:room]:<{room}} {_axis(chart, width)}"
    axis = drawing.style(line.rstrip(), _DIM)
    body = [_line(chart, track, room, width, drawing) for track in chart.tracks]
    return [axis, *body, "", *_legend(chart, drawing), *_doubts(chart, drawing)]


def _topic_room(chart: Chart, drawing: Drawing) -> int:
    longest = max(width_of(_label(track, drawing)) for track in chart.tracks)
    most = max(_LEAST_TOPIC, min(_TOPICS, drawing.width // 3))
    return max(3, min(longest, most))


def _label(track: Track, drawing: Drawing) -> str:
    mark = _MARKS.get(track.status, "")
    return f"{mark} {drawing.text(track.topic)}" if mark else drawing.text(track.topic)


def _axis(chart: Chart, width: int) -> str:
    line = ""
    for tick in local_ticks(chart.since, chart.until, max(1, width // _TICK_ROOM)):
        place = int(chart.place(tick.at, width))
        if place >= len(line) + bool(line) and place + len(tick.label) <= width:
            line = line.ljust(place) + tick.label
    # A window without a round moment shows at least its start.
    return line or local(chart.since)[: min(width, _MINUTES)]


def _line(chart: Chart, track: Track, room: int, width: int, drawing: Drawing) -> str:
    label = _fit(_label(track, drawing), room, drawing.signs)
    drawn, at = "", 0
    for bar in track_bars(chart, track, width):
        drawn += " " * (bar.start - at) + _bar(chart, bar, drawing)
        at = bar.start + bar.width
    return f"{label} {drawn}".rstrip()


def track_bars(chart: Chart, track: Track, width: int) -> list[Bar]:
    """Return the spans in columns. Each column shows its longest span."""
    held: list[dict[int, int]] = [{} for _ in range(width)]
    for place, span in enumerate(track.spans):
        first = chart.place(span.since, width)
        end = chart.place(span.until, width)
        for column in range(int(first), min(width, int(end) + 1)):
            inside = min(end, column + 1) - max(first, column)
            held[column][place] = int(inside * 1000)
    merged: list[Bar] = []
    for column, spans in enumerate(held):
        if not spans:
            continue
        place = max(spans, key=lambda number: (spans[number], number))
        span = track.spans[place]
        if merged and merged[-1].span is span:
            merged[-1] = merged[-1]._replace(width=merged[-1].width + 1)
        else:
            merged.append(Bar(span, column, 1))
    return merged


def _bar(chart: Chart, bar: Bar, drawing: Drawing) -> str:
    span, signs = bar.span, drawing.signs
    if not span.known:
        return drawing.style(signs.unknown * bar.width, _DIM)
    fill = signs.free if span.holder is None else signs.fill
    if drawing.style.color and span.holder is not None:
        words = _words(chart, span, bar.width - 2, drawing)
        text = _fit(f" {words}", bar.width, signs)
        return drawing.style(text, *_colours(chart, span))
    words = _words(chart, span, bar.width - 1, drawing)
    text = f"|{words}" if bar.width > 1 else words[:1]
    text += fill * (bar.width - width_of(text))
    return drawing.style(text, _DIM) if span.status == CLOSED else text


def _words(chart: Chart, span: BallSpan, room: int, drawing: Drawing) -> str:
    """Return the text of a bar that has this many columns: name and status, the name,
    or the name's letter."""
    name = drawing.text(holder_text(span.holder))
    status = "" if span.status == "OPEN" else f" {drawing.text(span.status)}"
    for words in (f"{name}{status}", name):
        if width_of(words) <= room:
            return words
    if span.holder is None:
        return drawing.signs.free
    return _letter(chart.places[span.holder])


def _colours(chart: Chart, span: BallSpan) -> tuple[str, ...]:
    background = HUES[chart.hues[span.holder or ""]].terminal
    if span.status == CLOSED:
        return (f"38;5;{background}", _DIM)
    codes = ("4",) if span.status == BLOCKED else ()
    return ("97", f"48;5;{background}", *codes)


def _letter(place: int) -> str:
    return _LETTERS[place % len(_LETTERS)]


def _cut(text: str, width: int, signs: ChartSigns) -> str:
    return (
        text
        if width_of(text) <= width
        else cut_to_width(text, width)[:-1] + signs.ellipsis
    )


def _fit(text: str, width: int, signs: ChartSigns) -> str:
    text = _cut(text, width, signs)
    return left_to_right(text) + " " * (width - width_of(text))


def _legend(chart: Chart, drawing: Drawing) -> Iterator[str]:
    """Yield the legend in lines that fit."""
    items: list[tuple[str, str, tuple[str, ...]]] = [
        (f" {_letter(place)} ", drawing.text(name), (_background(chart, name),))
        for place, name in enumerate(chart.holders)
    ]
    spans = [item for track in chart.tracks for item in track.spans]
    if any(item.known and item.holder is None for item in spans):
        items.append((drawing.signs.free, "anyone may take it", ()))
    if not all(item.known for item in spans):
        items.append((drawing.signs.unknown, "not known", ()))
    present = {item.status for item in chart.tracks}
    items += [(mark, name, ()) for name, mark in _MARKS.items() if name in present]
    return _wrapped_legend(items, drawing)


def _doubts(chart: Chart, drawing: Drawing) -> Iterator[str]:
    """Yield which bars begin at times of a wrong clock, if any does."""
    doubtful = [
        drawing.text(track.topic)
        for track in chart.tracks
        if any(span.doubtful for span in track.spans)
    ]
    if doubtful:
        words = f"doubtful times: {', '.join(doubtful)}"
        yield _cut(words, drawing.width, drawing.signs)


def _background(chart: Chart, name: str) -> str:
    return ";".join(agent_codes(HUES[chart.hues[name]].terminal))


def _wrapped_legend(
    items: Sequence[tuple[str, str, tuple[str, ...]]], drawing: Drawing
) -> Iterator[str]:
    line, used = "", 0
    for sign, words, codes in items:
        mark = sign if drawing.style.color and codes else sign.strip()
        label = _cut(
            words, max(_LEAST_TOPIC, drawing.width - len(mark) - 1), drawing.signs
        )
        needed = len(mark) + 1 + width_of(label)
        if line and used + 2 + needed > drawing.width:
            yield line
            line, used = "", 0
        gap = "  " if line else ""
        line += f"{gap}{drawing.style(mark, *codes) if codes else mark} {label}"
        used += len(gap) + needed
    if line:
        yield line

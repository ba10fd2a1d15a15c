"""A timeline as terminal text: a line a thread, drawn to scale.

With colours a bar is a block of its holder's; without, it begins with ``|``
and says the holder's name, or where that does not fit the letter that the
legend gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wc_cli.terminal.render import cut, left_to_right, width_of
from wc_core.text import one_line
from wc_core.threads.model import BLOCKED, CLOSED, IN_REVIEW
from wc_core.threads.moves import holder_text
from wc_core.times import rfc3339
from wc_core.views.timeline import ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.terminal.render import Style
    from wc_core.views.timeline import BallSpan, Chart, Track

_DIM, _BOLD = "2", "1"
# Backgrounds of the 256-colour palette on which white letters are readable.
_BACKGROUNDS = (25, 130, 29, 91, 94, 30, 125, 58, 61, 95, 24, 88)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TOPICS, _LEAST_TOPIC, _LEAST_BAR = 28, 8, 12
_TICK_ROOM = 12
_MINUTES = len("2026-01-31T12:00")
_MARKS = {BLOCKED: "!", IN_REVIEW: "*", CLOSED: "x"}


class ChartSigns(NamedTuple):
    """What the parts of a chart are drawn with."""

    fill: str
    free: str
    unknown: str
    more: str


_PLAIN = ChartSigns("-", ".", "?", "~")
_DRAWN = ChartSigns("─", "·", "?", "…")


class Drawing(NamedTuple):
    """How a chart is drawn: its width in columns, in colours or not, with
    nothing but ASCII or not."""

    width: int
    look: Style
    ascii: bool = False

    @property
    def signs(self) -> ChartSigns:
        """What it is drawn with."""
        return _PLAIN if self.ascii else _DRAWN

    def text(self, words: str) -> str:
        """Others' words on one line."""
        line = one_line(words)
        return line.encode("ascii", "replace").decode() if self.ascii else line


class Bar(NamedTuple):
    """A span on the line of its thread: from which column, how many."""

    span: BallSpan
    start: int
    width: int


def lines(chart: Chart, how: Drawing) -> list[str]:
    """The chart: times above, a line a thread, below who is who."""
    if not chart.until:
        return []
    room = _topic_room(chart, how)
    width = max(_LEAST_BAR, how.width - room - 1)
    axis = how.look(f"{'UTC':<{room}} {_axis(chart, width)}".rstrip(), _DIM)
    body = [_line(chart, one, room, width, how) for one in chart.tracks]
    return [axis, *body, "", *_legend(chart, how)]


def _topic_room(chart: Chart, how: Drawing) -> int:
    longest = max(width_of(_label(one, how)) for one in chart.tracks)
    most = max(_LEAST_TOPIC, min(_TOPICS, how.width // 3))
    return max(3, min(longest, most))


def _label(track: Track, how: Drawing) -> str:
    mark = _MARKS.get(track.status, "")
    return f"{mark} {how.text(track.topic)}" if mark else how.text(track.topic)


def _axis(chart: Chart, width: int) -> str:
    line = ""
    for one in ticks(chart.since, chart.until, max(1, width // _TICK_ROOM)):
        place = int(chart.place(one.at, width))
        if place >= len(line) + bool(line) and place + len(one.label) <= width:
            line = line.ljust(place) + one.label
    # A window without a round moment in it says at least where it begins.
    return line or rfc3339(chart.since)[: min(width, _MINUTES)].replace("T", " ")


def _line(chart: Chart, track: Track, room: int, width: int, how: Drawing) -> str:
    label = _fit(_label(track, how), room, how.signs)
    drawn, at = "", 0
    for bar in bars(chart, track, width):
        drawn += " " * (bar.start - at) + _bar(chart, bar, how)
        at = bar.start + bar.width
    return f"{label} {drawn}".rstrip()


def bars(chart: Chart, track: Track, width: int) -> list[Bar]:
    """The spans in columns: each column shows the one that held longest in it."""
    held: list[dict[int, int]] = [{} for _ in range(width)]
    for place, span in enumerate(track.spans):
        first = chart.place(span.since, width)
        last = chart.place(span.until, width)
        for column in range(int(first), min(width, int(last) + 1)):
            inside = min(last, column + 1) - max(first, column)
            held[column][place] = int(inside * 1000)
    found: list[Bar] = []
    for column, spans in enumerate(held):
        if not spans:
            continue
        place = max(spans, key=lambda one: (spans[one], one))
        span = track.spans[place]
        if found and found[-1].span is span:
            found[-1] = found[-1]._replace(width=found[-1].width + 1)
        else:
            found.append(Bar(span, column, 1))
    return found


def _bar(chart: Chart, bar: Bar, how: Drawing) -> str:
    span, signs = bar.span, how.signs
    if not span.known:
        return how.look(signs.unknown * bar.width, _DIM)
    fill = signs.free if span.holder is None else signs.fill
    if how.look.color and span.holder is not None:
        words = _words(chart, span, bar.width - 2, how)
        text = _fit(f" {words}", bar.width, signs)
        return how.look(text, *_colours(chart, span))
    words = _words(chart, span, bar.width - 1, how)
    text = f"|{words}" if bar.width > 1 else words[:1]
    text += fill * (bar.width - width_of(text))
    return how.look(text, _DIM) if span.status == CLOSED else text


def _words(chart: Chart, span: BallSpan, room: int, how: Drawing) -> str:
    """What a bar says of its span in so many columns: name and status, the
    name, or the letter of the name."""
    name = how.text(holder_text(span.holder))
    status = "" if span.status == "OPEN" else f" {how.text(span.status)}"
    for words in (f"{name}{status}", name):
        if width_of(words) <= room:
            return words
    if span.holder is None:
        return how.signs.free
    return _letter(chart.colours[span.holder])


def _colours(chart: Chart, span: BallSpan) -> tuple[str, ...]:
    place = chart.colours[span.holder or ""]
    background = _BACKGROUNDS[place % len(_BACKGROUNDS)]
    if span.status == CLOSED:
        return (f"38;5;{background}", _DIM)
    codes = ("4",) if span.status == BLOCKED else ()
    return ("97", f"48;5;{background}", *codes)


def _letter(place: int) -> str:
    return _LETTERS[place % len(_LETTERS)]


def _cut(text: str, width: int, signs: ChartSigns) -> str:
    return text if width_of(text) <= width else cut(text, width)[:-1] + signs.more


def _fit(text: str, width: int, signs: ChartSigns) -> str:
    text = _cut(text, width, signs)
    return left_to_right(text) + " " * (width - width_of(text))


def _legend(chart: Chart, how: Drawing) -> Iterator[str]:
    """Who is who, and what the marks mean, in lines that fit."""
    each: list[tuple[str, str, tuple[str, ...]]] = [
        (f" {_letter(place)} ", how.text(name), (_background(place),))
        for place, name in enumerate(chart.holders)
    ]
    spans = [one for track in chart.tracks for one in track.spans]
    if any(one.known and one.holder is None for one in spans):
        each.append((how.signs.free, "anyone may take it", ()))
    if not all(one.known for one in spans):
        each.append((how.signs.unknown, "not known", ()))
    present = {one.status for one in chart.tracks}
    each += [(mark, name, ()) for name, mark in _MARKS.items() if name in present]
    return _flowing(each, how)


def _background(place: int) -> str:
    return f"97;48;5;{_BACKGROUNDS[place % len(_BACKGROUNDS)]}"


def _flowing(
    each: Sequence[tuple[str, str, tuple[str, ...]]], how: Drawing
) -> Iterator[str]:
    line, used = "", 0
    for sign, words, codes in each:
        mark = sign if how.look.color and codes else sign.strip()
        shown = _cut(words, max(_LEAST_TOPIC, how.width - len(mark) - 1), how.signs)
        needed = len(mark) + 1 + width_of(shown)
        if line and used + 2 + needed > how.width:
            yield line
            line, used = "", 0
        gap = "  " if line else ""
        line += f"{gap}{how.look(mark, *codes) if codes else mark} {shown}"
        used += len(gap) + needed
    if line:
        yield line

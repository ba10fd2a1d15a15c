"""A timeline as an SVG picture, without scripts or external content, for light and dark
screens.

Colours are classes in its style sheet, so that a page with several pictures can change
the colours of all of them.
"""

from __future__ import annotations

import re
import unicodedata

from wc_core.base import times
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED, IN_REVIEW, holder_text
from wc_core.reading.views.drawing.badges import HUES
from wc_core.reading.views.timeline import ticks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.reading.views.timeline import BallSpan, Chart, Track

_STYLE = """\
.wct{font:12px ui-sans-serif,system-ui,sans-serif}
.wct text{fill:#1f2328;white-space:pre;unicode-bidi:isolate}
.wct .dim{fill:#59636e}.wct .in{fill:#fff}
.wct .paper{fill:#fff}.wct .grid{stroke:#d1d9e0}
.wct .free{fill:none;stroke:#8c959f;stroke-dasharray:3 3}
.wct .unknown{fill:#8c959f;opacity:.35}
.wct .closed{opacity:.35}
.wct .review{stroke:#fff;stroke-width:2;stroke-dasharray:2 4}
.wct .blocked{stroke:#e5484d;stroke-width:3}
@media (prefers-color-scheme:dark){
.wct text{fill:#e6edf3}.wct .dim{fill:#9198a1}.wct .in{fill:#fff}
.wct .paper{fill:#0d1117}.wct .grid{stroke:#30363d}}
"""
_CLASSES = {CLOSED: " closed"}
_MARKS = {IN_REVIEW: "review", BLOCKED: "blocked"}
# Characters that XML does not allow.
_NO_XML = re.compile("[\ufffe\uffff]|[\x00-\x1f]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})

_ROW, _BAR, _TOP, _GAP = 26, 18, 30, 12
_LETTER, _WIDE = 6.8, 12.5
_TICK_ROOM = 76
_MIN_WIDTH = 320
# Narrower bars would be invisible, so they are skipped.
_VISIBLE = 0.5


class _Box(NamedTuple):
    """Where the bars of a track are: left edge, top edge, width."""

    left: float
    top: float
    width: float


def svg(chart: Chart, width: int = 960) -> str:
    """Returns the chart as an SVG document, ``width`` pixels wide and as high as its
    threads need. It keeps its proportions when scaled."""
    width = max(_MIN_WIDTH, width)
    left = _label_room(chart, width)
    bars = width - left - _GAP
    bottom = _TOP + _ROW * len(chart.tracks)
    legend, height = _legend(chart, width, bottom + _GAP)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    about = f'role="img" aria-label="{escaped(summary(chart))}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wct" {size} {about}>',
        f"<style>{_STYLE}{_holder_styles(chart)}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        *_axis(chart, _Box(left, bottom, bars)),
    ]
    for place, track in enumerate(chart.tracks):
        parts += _track(chart, track, _Box(left, _TOP + _ROW * place, bars))
    return "\n".join([*parts, *legend, "</svg>", ""])


def escaped(text: str) -> str:
    """Returns untrusted text as XML on one line, without control characters."""
    return _NO_XML.sub("\ufffd", one_line(text)).translate(_ESCAPES)


def summary(chart: Chart) -> str:
    """Returns one sentence that describes the chart."""
    since, until = (times.rfc3339(moment)[:16] for moment in (chart.since, chart.until))
    threads = counted(len(chart.tracks), "thread")
    return f"Who held the ball of {threads}, {since}Z to {until}Z"


def _holder_styles(chart: Chart) -> str:
    used = sorted({0, *chart.hues.values()})
    return "".join(f".wct .h{number}{{fill:{HUES[number].rgb}}}\n" for number in used)


def _label_room(chart: Chart, width: int) -> float:
    """Returns the width of the topics: that of the longest, but at most a third of the
    chart."""
    longest = max((_width(track.topic) for track in chart.tracks), default=0)
    return min(longest + 2 * _GAP, width / 3)


def _axis(chart: Chart, box: _Box) -> Iterator[str]:
    if not chart.until:
        yield _text(_GAP, _TOP - 10, "Nothing to show.", "dim")
        return
    yield _text(_GAP, _TOP - 10, "UTC", "dim")
    for tick in ticks(chart.since, chart.until, int(box.width / _TICK_ROOM)):
        x = box.left + chart.place(tick.at, box.width)
        yield (
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}"'
            f' y2="{box.top:.0f}"/>'
        )
        yield _text(x, _TOP - 10, tick.label, "dim", 'text-anchor="middle"')


def _track(chart: Chart, track: Track, box: _Box) -> Iterator[str]:
    label = _cut(track.topic, box.left - 2 * _GAP)
    title = f"{track.topic}: {track.title} ({track.status})"
    yield f"<g><title>{escaped(title)}</title>"
    yield f"{_text(_GAP, box.top + 17, label)}</g>"
    drawn = -1.0
    for span in track.spans:
        start = chart.place(span.since, box.width)
        end = max(chart.place(span.until, box.width), start + 1)
        if end - drawn < _VISIBLE:
            continue
        drawn = end
        place = _Box(box.left + start, box.top + 4, min(end, box.width) - start)
        yield from _bar(chart, span, place)


def _bar(chart: Chart, span: BallSpan, box: _Box) -> Iterator[str]:
    holder = holder_text(span.holder) if span.known else "not known"
    long = times.span(span.ms // 1000)
    since = f"{times.rfc3339(span.since)[:16]}Z"
    if span.doubtful:
        since = "a doubtful time"
    entries = counted(span.entries, "entry", "entries")
    tooltip = f"{holder} · {long} from {since} · {span.status} · {entries}"
    name = "unknown" if not span.known else "free"
    if span.known and span.holder is not None:
        name = f"h{chart.hues[span.holder]}"
    closed = _CLASSES.get(span.status, "")
    yield f"<g><title>{escaped(tooltip)}</title>"
    yield (
        f'<rect class="{name}{closed}" x="{box.left:.1f}" y="{box.top:.0f}"'
        f' width="{max(box.width, 0):.1f}" height="{_BAR}" rx="2"/>'
    )
    if span.status in _MARKS:
        yield _line(_MARKS[span.status], box)
    words = _cut(holder, box.width - 10)
    if words:
        inside = "in" if name.startswith("h") and not closed else "dim"
        yield _text(box.left + 5, box.top + 13, words, inside)
    yield "</g>"


def _line(name: str, box: _Box) -> str:
    y = box.top + _BAR - 2
    return (
        f'<line class="{name}" x1="{box.left:.1f}" x2="{box.left + box.width:.1f}"'
        f' y1="{y:.0f}" y2="{y:.0f}"/>'
    )


def _legend(chart: Chart, width: int, top: int) -> tuple[list[str], int]:
    """Returns the legend, in as many lines as it needs, and its end."""
    items = [(f"h{chart.hues[name]}", name) for name in chart.holders]
    items += [(name, words) for name, words in _marks_in(chart)]
    parts, x, y = [], float(_GAP), float(top)
    for name, words in items:
        label = _cut(words, width - 4 * _GAP)
        room = _width(label) + 3 * _GAP
        if x + room > width and x > _GAP:
            x, y = float(_GAP), y + 20
        box = _Box(x, y, 14)
        if name in _MARKS.values():
            parts += [_swatch("h0", box), _line(name, box._replace(top=y - 2))]
        else:
            parts.append(_swatch(name, box))
        parts.append(_text(x + 20, y + 12, label))
        x += room
    return parts, int(y) + 20 + _GAP if items else top


def _marks_in(chart: Chart) -> Iterator[tuple[str, str]]:
    """Yields the marks used in the chart, with their meaning."""
    statuses = {span.status for track in chart.tracks for span in track.spans}
    held = {(o.holder is None, o.known) for t in chart.tracks for o in t.spans}
    if (True, True) in held:
        yield "free", "anyone may take it"
    if any(not span for _, span in held):
        yield "unknown", "not known"
    for status, name in _MARKS.items():
        if status in statuses:
            yield name, status
    if CLOSED in statuses:
        yield "h0 closed", CLOSED


def _swatch(name: str, box: _Box) -> str:
    return (
        f'<rect class="{name}" x="{box.left:.1f}" y="{box.top + 1:.0f}" width="14"'
        ' height="14" rx="2"/>'
    )


def _text(x: float, y: float, words: str, name: str = "", extra: str = "") -> str:
    attributes = f' class="{name}"' if name else ""
    attributes += f" {extra}" if extra else ""
    return f'<text x="{x:.1f}" y="{y:.0f}"{attributes}>{escaped(words)}</text>'


def _width(words: str) -> float:
    """Returns the approximate width of a text in pixels, including wide letters."""
    if words.isascii():
        return len(words) * _LETTER
    wide = sum(unicodedata.east_asian_width(char) in {"W", "F"} for char in words)
    return (len(words) - wide) * _LETTER + wide * _WIDE


def _cut(words: str, room: float) -> str:
    """Returns the beginning of a text that fits; nothing if three letters do not
    fit."""
    line = one_line(words)
    if _width(line) <= room:
        return line
    if room < 3 * _LETTER:
        return ""
    kept = line
    while kept and _width(kept) + _LETTER > room:
        kept = kept[: min(len(kept) - 1, int(room / _LETTER))]
    return f"{kept}…"

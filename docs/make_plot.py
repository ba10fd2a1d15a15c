"""Draws what wc and other tools cost as a store grows: docs/threads.svg and
docs/entries.svg.

A panel for each thing to do, a line for each tool; all axes are logarithmic. A dashed
line is what Python needs to start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from benchrun import PEERS, SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchrun import Run

WIDTH, HEIGHT = 760, 556
LEFT, TOP = 62, 96  # of the first panel
PANEL = (300, 180)  # width and height of a panel
NEXT = (370, 248)  # from one panel to the next
SIZES = (1, 10, 100, 1000, 10_000)
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
PYTHON = "python -c pass"
COLOURS = {"wc": "a", "baton-handoff": "b", "hcom": "c", "Backlog.md": "d"}
# What is done, as wc's rows and those of other tools call it.
WORK = {"post": "say", "read": "read", "list": "list", "search": "search"}

STYLE = """\
svg { color: #1f2328; font: 13px sans-serif; }
text { fill: currentColor; }
.paper { fill: #ffffff; }
.small { font-size: 12px; opacity: 0.75; }
.grid { stroke: currentColor; opacity: 0.15; }
.line { fill: none; stroke: currentColor; stroke-width: 2; }
.point { fill: currentColor; }
.trivial { stroke-dasharray: 5 4; }
.a { color: #0072b2; } .b { color: #b34700; } .c { color: #00785a; }
.d { color: #a0467e; } .f { color: #656d76; }
@media (prefers-color-scheme: dark) {
  svg { color: #e6edf3; }
  .paper { fill: #0d1117; }
  .a { color: #58b5f0; } .b { color: #f0883e; } .c { color: #3fcf9f; }
  .d { color: #e39ac6; } .f { color: #9198a1; }
}"""

Points = dict[int, float]
# The lines of a panel by tool.
Lines = dict[str, Points]


class Axis(NamedTuple):
    """A logarithmic axis: the values at both ends, and their positions."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The position of a value."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """The powers of ten."""
        first, last = (math.log10(one) for one in (self.low, self.high))
        powers = range(math.ceil(first - 0.001), math.floor(last + 0.001) + 1)
        return [10.0**power for power in powers]


def in_words(value: float) -> str:
    """A time with its unit."""
    return f"{value:g} ms" if value < SECOND else f"{value / SECOND:g} s"


def text(words: str, place: tuple[float, float], style: str = "") -> str:
    """A text element; right-aligned if the style has ``end``."""
    x, y = place
    anchor = ' text-anchor="end"' if "end" in style.split() else ""
    anchor = ' text-anchor="middle"' if "middle" in style.split() else anchor
    return f'<text x="{x}" y="{y}" class="{style}"{anchor}>{escape(words)}</text>'


def of_threads(work: str, tool: str, size: int) -> Iterator[str]:
    """The names that a row for so many threads may have."""
    many = "a thread of 1" if size == 1 else f"{size:,} threads of 1"
    yield f"wc {WORK[work]}, {many}" if tool == "wc" else f"{tool}: {work}, {many}"


def of_entries(work: str, tool: str, size: int) -> Iterator[str]:
    """The names that a row for a thread of so many entries may have."""
    many = f"a thread of {size:,}"
    if tool == "wc":
        yield f"wc {WORK[work]}, {many}"
        if work == "read":
            yield f"wc read, 5 of {size:,}"
    else:
        yield f"{tool}: {work}, {many}"
    if tool == "hcom":  # its messages are not in threads
        yield from of_threads(work, tool, size)


def pictures(run: Run) -> dict[str, str]:
    """Each picture with its name."""
    return {
        "threads.svg": draw(
            "Cost against threads of one entry in the store",
            {work: lines(run, work, entries=False) for work in WORK},
        ),
        "entries.svg": draw(
            "Cost against entries in the thread",
            {work: lines(run, work, entries=True) for work in WORK},
        ),
    }


def lines(run: Run, work: str, *, entries: bool) -> Lines:
    """The measurements of a panel: those of which there are several."""
    names = of_entries if entries else of_threads
    found: Lines = {}
    for tool in ("wc", *PEERS):
        points = {
            size: run.rows[name].median
            for size in SIZES
            for name in names(work, tool, size)
            if name in run.rows
        }
        if len(points) > 1:
            found[tool] = points
    if PYTHON in run.rows:
        found[PYTHON] = dict.fromkeys((SIZES[0], SIZES[-1]), run.rows[PYTHON].median)
    return found


def draw(title: str, panels: dict[str, Lines]) -> str:
    """A picture as SVG."""
    every = [
        value
        for panel in panels.values()
        for points in panel.values()
        for value in points.values()
    ]
    ends = 10 ** math.floor(math.log10(min(every))), max(every) * 1.25
    parts = [
        f'<svg {NAMESPACE} viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{title}</title>\n<style>\n{STYLE}\n</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(f"{title} (medians)", (LEFT, 26)),
        *legend(sorted({tool for panel in panels.values() for tool in panel})),
    ]
    for number, (work, panel) in enumerate(panels.items()):
        left = LEFT + number % 2 * NEXT[0]
        top = TOP + number // 2 * NEXT[1]
        across = Axis(SIZES[0], SIZES[-1], left, left + PANEL[0])
        up = Axis(*ends, top + PANEL[1], top)
        parts += [text(work, (left, top - 8)), *grid(across, up)]
        for tool, points in panel.items():
            parts += line(tool, points, across, up)
    return "\n".join([*parts, "</svg>\n"])


def legend(tools: Iterable[str]) -> Iterator[str]:
    """What the colours mean."""
    known = [tool for tool in (*COLOURS, PYTHON) if tool in set(tools)]
    for number, tool in enumerate(known):
        left = LEFT + number * 130
        trivial = " trivial" if tool == PYTHON else ""
        yield f'<g class="{COLOURS.get(tool, "f")}">'
        yield f'<path class="line{trivial}" d="M{left} 48h22"/>'
        yield text(tool, (left + 28, 52)) + "</g>"


def grid(across: Axis, up: Axis) -> Iterator[str]:
    """Lines at the ticks, with their values."""
    for value in up.ticks():
        y = up.at(value)
        yield f'<path class="grid" d="M{across.start:g} {y}H{across.end:g}"/>'
        yield text(in_words(value), (across.start - 8, y + 4), "small end")
    for value in across.ticks():
        x = across.at(value)
        yield f'<path class="grid" d="M{x} {up.end:g}V{up.start:g}"/>'
        yield text(f"{value:,.0f}", (x, up.start + 18), "small middle")


def line(tool: str, points: Points, across: Axis, up: Axis) -> Iterator[str]:
    """The line of a tool, with a dot for each measurement."""
    trivial = " trivial" if tool == PYTHON else ""
    way = " ".join(
        f"{across.at(size)},{up.at(value)}" for size, value in points.items()
    )
    yield f'<g class="{COLOURS.get(tool, "f")}"><title>{escape(tool)}</title>'
    yield f'<polyline class="line{trivial}" points="{way}"/>'
    for size, value in () if trivial else points.items():
        place = f'cx="{across.at(size)}" cy="{up.at(value)}"'
        told = in_words(float(f"{value:.3g}"))
        yield f'<circle class="point" {place} r="3">'
        yield f"<title>{escape(tool)}, {size:,}: {told}</title></circle>"
    yield "</g>"

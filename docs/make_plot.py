#!/usr/bin/env python3
"""Draws docs/server.svg, what the server costs in small and large stores.

    bin/bench --curve --json >curve.json
    python docs/make_plot.py <curve.json >docs/server.svg

Above times, below memory, over the number of threads; all axes are logarithmic. A
dashed line is a server of the same framework that does nothing.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH, HEIGHT = 760, 540
LEFT, RIGHT = 70, 540
TIMES, MEMORY = (50, 330), (380, 480)  # from the top to the bottom of a part
LABEL = 16  # the least distance of two labels
FEW = 2  # powers of ten
SECOND = 1000  # milliseconds
SIZED = re.compile(r"(.+), ([\d,]+) threads of (\d+)")
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
TRIVIAL = "trivial FastMCP server: "

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
.d { color: #a0467e; } .e { color: #7a6000; } .f { color: #656d76; }
@media (prefers-color-scheme: dark) {
  svg { color: #e6edf3; }
  .paper { fill: #0d1117; }
  .a { color: #58b5f0; } .b { color: #f0883e; } .c { color: #3fcf9f; }
  .d { color: #e39ac6; } .e { color: #e3c04a; } .f { color: #9198a1; }
}"""


class Line(NamedTuple):
    """A line of the plot: the benchmark's row (without the size), label, colour."""

    row: str
    label: str
    colour: str


LINES = {
    TIMES: (
        Line("search index whole", "until all can be searched", "e"),
        Line("first list_threads", "first list_threads", "d"),
        Line("search_threads, a rare word", "search_threads", "c"),
        Line("list_threads", "list_threads", "a"),
        Line("read_thread", "read_thread", "b"),
        Line(f"{TRIVIAL}a call", "a call of nothing", "f"),
    ),
    MEMORY: (
        Line("wc-observe: memory", "the most memory", "a"),
        Line(f"{TRIVIAL}memory", "of the one that does nothing", "f"),
    ),
}


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
        """The powers of ten; if there are few, twice and five times each, too."""
        first, last = (math.log10(one) for one in (self.low, self.high))
        steps = (1, 2, 5) if last - first < FEW else (1,)
        powers = range(math.floor(first), math.ceil(last) + 1)
        found = [step * 10.0**power for power in powers for step in steps]
        # Tolerance: an end of the axis may be a tick, and logarithms are not exact.
        return [one for one in found if self.low <= one * 1.001 <= self.high * 1.002]


class Curves(NamedTuple):
    """The measurements, in milliseconds or megabytes, by row and number of threads
    (0 if the row does not depend on it), and the number of entries in a thread."""

    values: dict[str, dict[int, float]]
    entries: str
    machine: str

    @property
    def sizes(self) -> list[int]:
        """The sizes of the stores, in threads."""
        return sorted({size for found in self.values.values() for size in found} - {0})

    def points(self, row: str) -> list[tuple[int, float]]:
        """The points of a row, from the smallest store to the largest."""
        found = self.values[row]
        if 0 in found:
            return [(size, found[0]) for size in (self.sizes[0], self.sizes[-1])]
        return sorted(found.items())


def read(answer: dict[str, Any]) -> Curves:
    """Parse the output of the benchmark."""
    values: dict[str, dict[int, float]] = {}
    entries = ""
    for row in answer["rows"]:
        value = row["median"] * (SECOND if row["unit"] == "s" else 1)
        sized = SIZED.fullmatch(row["name"])
        name, size = (sized[1], int(sized[2].replace(",", ""))) if sized else ("", 0)
        entries = sized[3] if sized else entries
        values.setdefault(name or row["name"], {})[size] = value
    return Curves(values, entries, answer["machine"])


def in_words(value: float, *, memory: bool) -> str:
    """A value with its unit."""
    if memory:
        return f"{value:.0f} MB"
    return f"{value:g} ms" if value < SECOND else f"{value / SECOND:g} s"


def text(words: str, place: tuple[float, float], style: str = "") -> str:
    """A text element; right-aligned if the style has ``end``."""
    x, y = place
    anchor = ' text-anchor="end"' if "end" in style.split() else ""
    anchor = ' text-anchor="middle"' if "middle" in style.split() else anchor
    return f'<text x="{x}" y="{y}" class="{style}"{anchor}>{escape(words)}</text>'


def grid(across: Axis, up: Axis, *, memory: bool) -> Iterable[str]:
    """Lines at the ticks, with their values."""
    for value in up.ticks():
        y = up.at(value)
        yield f'<path class="grid" d="M{LEFT} {y}H{RIGHT}"/>'
        yield text(in_words(value, memory=memory), (LEFT - 8, y + 4), "small end")
    for value in across.ticks():
        x = across.at(value)
        yield f'<path class="grid" d="M{x} {up.end}V{up.start}"/>'
        yield text(f"{value:,.0f}", (x, up.start + 18), "small middle")


def apart(wanted: Sequence[float]) -> list[float]:
    """Positions near the desired ones, at least a label apart, from the top down."""
    places = [0.0] * len(wanted)
    free = -math.inf
    for index in sorted(range(len(wanted)), key=wanted.__getitem__):
        places[index] = max(wanted[index], free)
        free = places[index] + LABEL
    return places


def part(curves: Curves, edges: tuple[int, int]) -> Iterable[str]:
    """One of the two parts: the grid, the lines, their labels."""
    lines, memory = LINES[edges], edges == MEMORY
    found = [curves.points(line.row) for line in lines]
    every = [value for points in found for _, value in points]
    up = Axis(min(every) * 0.5, max(every) * 1.25, edges[1], edges[0])
    across = Axis(curves.sizes[0], curves.sizes[-1], LEFT, RIGHT)
    yield from grid(across, up, memory=memory)
    labels = apart([up.at(points[-1][1]) for points in found])
    for line, points, y in zip(lines, found, labels, strict=True):
        trivial = " trivial" if line.row.startswith(TRIVIAL) else ""
        way = " ".join(f"{across.at(size)},{up.at(value)}" for size, value in points)
        yield f'<g class="{line.colour}"><title>{escape(line.row)}</title>'
        yield f'<polyline class="line{trivial}" points="{way}"/>'
        for size, value in () if trivial else points:
            told = in_words(float(f"{value:.3g}"), memory=memory)
            place = f'cx="{across.at(size)}" cy="{up.at(value)}"'
            yield f'<circle class="point" {place} r="3">'
            yield f"<title>{size:,} threads: {told}</title></circle>"
        yield text(line.label, (RIGHT + 10, y + 4)) + "</g>"


def draw(curves: Curves) -> str:
    """The plot as SVG."""
    middle = (LEFT + RIGHT) / 2
    title = "What wc-observe costs as its store grows (medians)"
    under = f"threads of {curves.entries} entries in the store"
    lines = (
        f'<svg {NAMESPACE} viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{title}</title>\n<style>\n{STYLE}\n</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(title, (LEFT, 26)),
        *part(curves, TIMES),
        *part(curves, MEMORY),
        text(under, (middle, MEMORY[1] + 38), "middle"),
        text(curves.machine, (middle, HEIGHT - 8), "small middle"),
        "</svg>\n",
    )
    return "\n".join(lines)


def main() -> None:
    """Draw the measurements on standard input."""
    sys.stdout.write(draw(read(json.load(sys.stdin))))


if __name__ == "__main__":
    main()

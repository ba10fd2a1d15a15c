"""The layout of a plan's threads in a picture: what comes first is on the left, and an
arrow leads from each thread to those after it.

Columns, with room for arrows that pass a column, in an order with few crossings:
Sugiyama's method. An arrow that others imply is left out.
"""

from __future__ import annotations

from itertools import pairwise

from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.kinds import BLOCKED_BY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.ledger.planning.readiness import ThreadPlan

# With more boxes, nothing would be readable.
MAX_BOXES = 60
BOX_WIDTH, BOX_HEIGHT = 160, 42
_PASS_HEIGHT = 8
_COLUMN_GAP, _ROW_GAP, _MARGIN = 46, 14, 4
# How often the boxes of a column are moved next to their neighbours.
_SWEEPS = 6


class PlanBox(NamedTuple):
    """A thread in the picture, by its topic: its left and upper edge."""

    topic: str
    x: int
    top: int


class PlanArrow(NamedTuple):
    """From a thread to a later one; ``is_part`` if it is part of that one."""

    first: str
    later: str
    is_part: bool = False


class PlanPicture(NamedTuple):
    """The boxes, the arrows between them, each with its line as an SVG path, the size
    of the picture, and how many threads are left out."""

    boxes: tuple[PlanBox, ...]
    arrows: tuple[tuple[PlanArrow, str], ...]
    width: int
    height: int
    hidden: int = 0


def picture(plan: ThreadPlan, topic: str = "") -> PlanPicture:
    """Returns the picture of a plan, or of what a thread waits for and what waits for
    it. If not all fits, closed threads are left out first, then the last ones."""
    arrows = _links(plan)
    if topic:
        arrows = _among(arrows, _around(arrows, topic))
    total = len(_topics(arrows))
    if total > MAX_BOXES:
        arrows = _among(
            arrows, {name for name in _topics(arrows) if plan.is_open(name)}
        )
    columns = _columns(arrows)
    allowed = sorted(columns, key=columns.__getitem__)[:MAX_BOXES]
    arrows = _reduced(
        [*_among(arrows, set(allowed)), *_inherited(plan, arrows, allowed)]
    )
    return _drawn(arrows, total)


def _links(plan: ThreadPlan) -> list[PlanArrow]:
    """An arrow for each link that counts. They form no circle: each leads to a thread
    that ends later."""
    return [
        PlanArrow(link.topic, topic)
        if link.kind == BLOCKED_BY
        else PlanArrow(topic, link.topic, is_part=True)
        for topic, link in plan.order.counted
    ]


def _inherited(
    plan: ThreadPlan, arrows: Iterable[PlanArrow], allowed: Iterable[str]
) -> list[PlanArrow]:
    """The arrows to parts, from what the thread waits for to which they belong."""
    drawn = set(allowed)
    blockers: dict[str, list[str]] = {}
    for arrow in arrows:
        if not arrow.is_part and arrow.first in drawn:
            blockers.setdefault(arrow.later, []).append(arrow.first)
    return [
        PlanArrow(blocker, part)
        for part in drawn
        for whole in plan.wholes(part)
        for blocker in blockers.get(whole, ())
    ]


def _topics(arrows: Iterable[PlanArrow]) -> dict[str, None]:
    return dict.fromkeys(name for arrow in arrows for name in arrow[:2])


def _among(arrows: Iterable[PlanArrow], topics: set[str]) -> list[PlanArrow]:
    return [arrow for arrow in arrows if {arrow.first, arrow.later} <= topics]


def _around(arrows: Iterable[PlanArrow], topic: str) -> set[str]:
    """A thread, what has to end before it, and what has to end after it."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for arrow in arrows:
        before.setdefault(arrow.later, []).append(arrow.first)
        after.setdefault(arrow.first, []).append(arrow.later)
    return _reached(before, [topic]) | _reached(after, [topic])


def _reached(steps: Mapping[str, Iterable[str]], start: Iterable[str]) -> set[str]:
    pending = list(start)
    reached = set(pending)
    for name in pending:
        following = [item for item in steps.get(name, ()) if item not in reached]
        reached.update(following)
        pending += following
    return reached


def _columns(arrows: Iterable[PlanArrow]) -> dict[str, int]:
    """The column of each thread: to the right of all that have to end before it."""
    following: dict[str, list[str]] = {}
    missing: dict[str, int] = {}
    for arrow in arrows:
        following.setdefault(arrow.first, []).append(arrow.later)
        missing[arrow.later] = missing.get(arrow.later, 0) + 1
        missing.setdefault(arrow.first, 0)
    columns = {name: 0 for name in sorted(missing) if not missing[name]}
    pending = list(columns)
    for name in pending:
        for later in following.get(name, ()):
            columns[later] = max(columns.get(later, 0), columns[name] + 1)
            missing[later] -= 1
            if not missing[later]:
                pending.append(later)
    return columns


def _reduced(arrows: Iterable[PlanArrow]) -> list[PlanArrow]:
    """The arrows without those for which there is a longer path."""
    unique = {arrow[:2]: arrow for arrow in sorted(arrows)}
    following: dict[str, set[str]] = {}
    for first, later in unique:
        following.setdefault(first, set()).add(later)
    return [
        arrow
        for (first, later), arrow in unique.items()
        if later not in _reached(following, following[first] - {later})
    ]


def _drawn(arrows: list[PlanArrow], total: int) -> PlanPicture:
    columns = _columns(arrows)
    ways = {arrow: _way(arrow, columns) for arrow in arrows}
    lanes = _ordered(columns, ways)
    places = _places(lanes)
    boxes = tuple(PlanBox(name, *places[name]) for name in sorted(columns))
    heights = (_MARGIN + _height(names) for names in lanes)
    return PlanPicture(
        boxes,
        tuple((arrow, _line(way, places)) for arrow, way in ways.items()),
        width=len(lanes) * (BOX_WIDTH + _COLUMN_GAP) - _COLUMN_GAP + 2 * _MARGIN,
        height=max(heights, default=0) + _MARGIN,
        hidden=total - len(boxes),
    )


def _way(arrow: PlanArrow, columns: Mapping[str, int]) -> tuple[str, ...]:
    """The stations of an arrow: two threads, and a passage in each column between them.
    No topic contains a space."""
    first, later = arrow.first, arrow.later
    between = range(columns[first] + 1, columns[later])
    return (first, *(f"{first} {later} {column}" for column in between), later)


def _ordered(
    columns: Mapping[str, int], ways: Mapping[PlanArrow, tuple[str, ...]]
) -> list[list[str]]:
    """The threads and passages of each column, near their neighbours."""
    neighbours: dict[str, list[str]] = {name: [] for name in columns}
    lanes: list[list[str]] = [[] for _ in range(max(columns.values(), default=-1) + 1)]
    for name in sorted(columns):
        lanes[columns[name]].append(name)
    for way in ways.values():
        for column, name in enumerate(way[1:-1], columns[way[0]] + 1):
            lanes[column].append(name)
        for first, later in pairwise(way):
            neighbours.setdefault(first, []).append(later)
            neighbours.setdefault(later, []).append(first)
    for sweep in range(_SWEEPS):
        level = {name: place for names in lanes for name, place in _levels(names)}
        for names in lanes if sweep % 2 == 0 else reversed(lanes):
            centre = {
                name: sum(level[item] for item in neighbours[name])
                / len(neighbours[name])
                for name in names
            }
            names.sort(key=centre.__getitem__)
            level |= dict(_levels(names))
    return lanes


def _levels(names: list[str]) -> list[tuple[str, float]]:
    """The vertical position of each, from the middle of its column."""
    return [(name, place - (len(names) - 1) / 2) for place, name in enumerate(names)]


def _is_passage(name: str) -> bool:
    return " " in name


def _height(names: Iterable[str]) -> int:
    sizes = [_PASS_HEIGHT if _is_passage(name) else BOX_HEIGHT for name in names]
    return sum(sizes) + _ROW_GAP * (len(sizes) - 1)


def _places(lanes: list[list[str]]) -> dict[str, tuple[int, int]]:
    """The left and upper edge of each, with columns centred."""
    tallest = max(map(_height, lanes), default=0)
    places = {}
    for column, names in enumerate(lanes):
        x = _MARGIN + column * (BOX_WIDTH + _COLUMN_GAP)
        top = _MARGIN + (tallest - _height(names)) // 2
        for name in names:
            places[name] = (x, top)
            top += (_PASS_HEIGHT if _is_passage(name) else BOX_HEIGHT) + _ROW_GAP
    return places


def _line(way: tuple[str, ...], places: Mapping[str, tuple[int, int]]) -> str:
    """The line of an arrow: bent between the columns, straight along passages."""
    x, top = places[way[0]]
    start, level = x + BOX_WIDTH, top + BOX_HEIGHT // 2
    path = f"M{start} {level}"
    for name in way[1:]:
        x, top = places[name]
        is_passage = _is_passage(name)
        target = top + (_PASS_HEIGHT if is_passage else BOX_HEIGHT) // 2
        middle = (start + x) // 2
        path += f"C{middle} {level} {middle} {target} {x} {target}"
        start, level = x + BOX_WIDTH, target
        path += f"H{start}" if is_passage else ""
    return path

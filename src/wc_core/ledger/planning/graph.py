"""The graph of what has to be finished before what.

Each thread is two points, its start and its end:

- a thread ends after it started
- if B waits for A, B starts after the end of A
- if C is part of P, C starts after the start of P, and P ends after the end of C

So the parts of a thread wait for what it waits for, and it waits for its parts. If two
clones made links that wait for each other, the later link does not count. Links are
ordered by the ids of their entries, so every clone leaves out the same.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.kinds import BLOCKED_BY, ORDERING, PARENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.ledger.threads.model import Link

Point = tuple[str, bool]
"""A thread's start (false) or end (true)."""


class OwnedLink(NamedTuple):
    """A link, and the topic of the thread that has it."""

    topic: str
    link: Link

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The order in which links count."""
        return self.link.id, self.topic, self.link.kind, self.link.topic

    def edges(self) -> Iterator[tuple[Point, Point]]:
        """From each point to those that must be reached before it."""
        target = self.link.topic
        if self.link.kind == BLOCKED_BY:
            yield (self.topic, False), (target, True)
        elif self.link.kind == PARENT:
            yield (target, True), (self.topic, True)
            yield (self.topic, False), (target, False)


class Order:
    """The links that count, and those that do not because of earlier ones."""

    def __init__(self, links: Mapping[str, tuple[Link, ...]]) -> None:
        """``links`` are those of each thread, by its topic."""
        owned = [
            OwnedLink(topic, link)
            for topic, own in links.items()
            for link in own
            if link.kind in ORDERING
        ]
        owned.sort(key=lambda item: item.key)
        self._before: dict[Point, list[Point]] = {}
        self.counted: list[OwnedLink] = []
        self.ignored: list[OwnedLink] = []
        acyclic = _AcyclicEdges(_components(owned))
        for item in owned:
            if acyclic.add(item.edges()):
                self.add(item)
            else:
                self.ignored.append(item)

    def add(self, item: OwnedLink) -> None:
        """Count a link, which must not close a cycle."""
        self.counted.append(item)
        for after, before in item.edges():
            self._before.setdefault(after, []).append(before)

    def cycle(self, item: OwnedLink) -> list[str]:
        """The topics on the path from a thread back to itself that a link would close,
        beginning and ending with the thread; empty if it closes none."""
        for after, before in item.edges():
            path = self._path(before, after)
            if path:
                topics = [after[0], *(topic for topic, _ in path)]
                return _without_repeats(topics)
        return []

    def _path(self, start: Point, goal: Point) -> list[Point]:
        """The shortest path along what has to be reached before; empty if there is
        none."""
        previous: dict[Point, Point] = {}
        reached, pending = {start}, [start]
        for point in pending:
            if point == goal:
                path = [point]
                while path[-1] != start:
                    path.append(previous[path[-1]])
                return path[::-1]
            for before in self._next(point):
                if before not in reached:
                    reached.add(before)
                    previous[before] = point
                    pending.append(before)
        return []

    def _next(self, point: Point) -> Iterator[Point]:
        topic, is_end = point
        if is_end:
            yield topic, False
        yield from self._before.get(point, ())


def _without_repeats(topics: Iterable[str]) -> list[str]:
    path: list[str] = []
    for topic in topics:
        if not path or path[-1] != topic:
            path.append(topic)
    return path


class _AcyclicEdges:
    """Edges that close no cycle, added one by one.

    Each point has a rank, and each edge leads to a lower one. If a new edge does not,
    only the points between its two ranks can be on a cycle with it, and only they get
    other ranks: the algorithm of Pearce and Kelly, "A dynamic topological sort
    algorithm for directed acyclic graphs" (2006). The ranks begin in the order in which
    a depth-first search left the points, so few edges need that.
    """

    def __init__(self, components: _Components) -> None:
        self._group_of = components.group_of
        self._ranks = {point: rank for rank, point in enumerate(components.left)}
        self._before: dict[Point, list[Point]] = {}
        self._after: dict[Point, list[Point]] = {}
        self.add(
            ((topic, True), (topic, False)) for topic, is_end in self._ranks if is_end
        )

    def add(self, edges: Iterable[tuple[Point, Point]]) -> bool:
        """Add edges, unless one of them closes a cycle. Returns whether they were
        added."""
        added: list[tuple[Point, Point]] = []
        for after, before in edges:
            # An edge between different components closes no cycle.
            if self._group_of[after] != self._group_of[before]:
                continue
            if not self._make_room(after, before):
                for earlier_after, earlier_before in added:
                    self._before[earlier_after].remove(earlier_before)
                    self._after[earlier_before].remove(earlier_after)
                return False
            added.append((after, before))
            self._before.setdefault(after, []).append(before)
            self._after.setdefault(before, []).append(after)
        return True

    def _make_room(self, after: Point, before: Point) -> bool:
        """Change ranks so that ``after`` is above ``before``. Returns false if that is
        impossible, because there is a path from ``before`` to ``after``."""
        ranks = self._ranks
        lowest, highest = ranks[after], ranks[before]
        if lowest > highest:
            return True
        below = self._reached(before, self._before, range(lowest, highest + 1))
        if after in below:
            return False
        above = self._reached(after, self._after, range(lowest, highest + 1))
        points = [
            *sorted(below, key=ranks.__getitem__),
            *sorted(above, key=ranks.__getitem__),
        ]
        free = sorted(map(ranks.__getitem__, points))
        ranks.update(zip(points, free, strict=True))
        return True

    def _reached(
        self, start: Point, edges: Mapping[Point, list[Point]], allowed: range
    ) -> set[Point]:
        """The points that are reached along edges, by points with an allowed rank."""
        reached, pending = {start}, [start]
        for point in pending:
            for target in edges.get(point, ()):
                if target not in reached and self._ranks[target] in allowed:
                    reached.add(target)
                    pending.append(target)
        return reached


def _components(owned: Iterable[OwnedLink]) -> _Components:
    """The strongly connected components of all links, by Tarjan's algorithm."""
    edges: dict[Point, list[Point]] = {}
    for item in owned:
        for topic in (item.topic, item.link.topic):
            edges.setdefault((topic, True), [(topic, False)])
            edges.setdefault((topic, False), [])
        for after, before in item.edges():
            edges[after].append(before)
    return _Components(edges)


class _Components:
    """Tarjan's algorithm, without recursion. ``left`` are the points in the order in
    which the search left them: those that it reached from a point before the point."""

    def __init__(self, edges: Mapping[Point, list[Point]]) -> None:
        self.edges = edges
        self.left: list[Point] = []
        self.group_of: dict[Point, int] = {}
        self._number: dict[Point, int] = {}
        self._low: dict[Point, int] = {}
        self._stack: list[Point] = []
        for point in edges:
            if point not in self._number:
                self._visit(point)

    def _visit(self, root: Point) -> None:
        pending = [(root, iter(self.edges[root]))]
        self._enter(root)
        while pending:
            point, following = pending[-1]
            target = next(following, None)
            if target is None:
                pending.pop()
                self._leave(point)
                if pending:
                    parent = pending[-1][0]
                    self._low[parent] = min(self._low[parent], self._low[point])
            elif target not in self._number:
                self._enter(target)
                pending.append((target, iter(self.edges[target])))
            elif target not in self.group_of:
                self._low[point] = min(self._low[point], self._number[target])

    def _enter(self, point: Point) -> None:
        self._number[point] = self._low[point] = len(self._number)
        self._stack.append(point)

    def _leave(self, point: Point) -> None:
        self.left.append(point)
        if self._low[point] != self._number[point]:
            return
        while True:
            member = self._stack.pop()
            self.group_of[member] = self._number[point]
            if member == point:
                return

"""The plan of a store as one viewer sees it."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import kinds
from wc_core.ledger.planning.obstacles import PARTS
from wc_core.ledger.planning.older import stopped_by_older
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.ledger.planning.graph import OwnedLink
    from wc_core.ledger.planning.obstacles import Obstacle
    from wc_core.reading.views.rows import ThreadRow

# How far a chain or a tree is shown.
MAX_DEPTH = 12


def plan_of(rows: Iterable[ThreadRow]) -> ThreadPlan:
    """Returns the plan of all threads of a store."""
    planned = (
        PlannedThread(
            topic=row.topic,
            name=row.name,
            title=row.title,
            status=row.status,
            ball=row.ball,
            ownership=row.ownership,
            links=row.links,
            stop=stopped_by_older(row.gates, row.updated_at),
            is_asked=bool(row.asked_by),
        )
        for row in rows
    )
    return ThreadPlan(planned)


def with_waits(rows: list[ThreadRow], planned: Iterable[ThreadRow]) -> list[ThreadRow]:
    """Returns threads with what they wait for. ``planned`` are the threads of their
    store with links or gates, and those that they are linked to."""
    plan = plan_of(planned)
    return [
        row._replace(waits=tuple(item.words for item in obstacles))
        if row.topic in plan.threads
        and plan.is_open(row.topic)
        and (obstacles := plan.waits(row.topic))
        else row
        for row in rows
    ]


class Chain(NamedTuple):
    """Why a thread is not ready; each reason that is a thread has that thread's own
    chain. Each thread is followed once, and `MAX_DEPTH` links far."""

    name: str
    reasons: tuple[ChainLink, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the viewer can start the thread."""
        return not self.reasons

    def to_json(self) -> dict[str, Any]:
        """The chain shape."""
        reasons = [reason.to_json() for reason in self.reasons]
        return {"topic": self.name, "ready": self.is_ready, "reasons": reasons}


class ChainLink(NamedTuple):
    """A reason and, if it is a thread, why that is not closed yet: its own chain,
    without reasons if the viewer can start it."""

    obstacle: Obstacle
    chain: Chain | None = None

    def to_json(self) -> dict[str, Any]:
        """The reason shape."""
        fields: dict[str, Any] = {
            "code": self.obstacle.code,
            "text": self.obstacle.text,
        }
        if self.chain is not None:
            fields["chain"] = self.chain.to_json()
        return fields


def chain_of(plan: ThreadPlan, topic: str) -> Chain:
    """Returns why a thread is not ready."""
    return _Chains(plan).chain(topic)


class _Chains:
    def __init__(self, plan: ThreadPlan) -> None:
        self.plan = plan
        self._followed: set[str] = set()

    def chain(self, topic: str, depth: int = 0) -> Chain:
        self._followed.add(topic)
        if topic not in self.plan.threads:
            return Chain(topic)
        obstacles = self.plan.obstacles(topic)
        reasons = tuple(
            ChainLink(item, self._behind(item, depth + 1)) for item in obstacles
        )
        return Chain(self.plan.name(topic), reasons)

    def _behind(self, obstacle: Obstacle, depth: int) -> Chain | None:
        topic = obstacle.topic
        if depth > MAX_DEPTH or topic in self._followed:
            return None
        return self.chain(topic, depth) if topic in self.plan.threads else None


class TreeNode(NamedTuple):
    """A thread in the tree. ``kind`` is its relation to the one above: ``part`` or
    ``sidequest``; empty at the top."""

    thread: PlannedThread
    kind: str = ""
    waits: tuple[str, ...] = ()
    is_ready: bool = False
    nodes: tuple[TreeNode, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The tree shape of one thread."""
        fields: dict[str, Any] = {
            "topic": self.thread.name,
            "title": self.thread.title,
            "status": self.thread.status,
            "ball": self.thread.ball,
            "ready": self.is_ready,
        }
        if self.kind:
            fields["kind"] = self.kind
        if self.waits:
            fields["waits_for"] = list(self.waits)
        if self.nodes:
            fields["threads"] = [node.to_json() for node in self.nodes]
        return fields


class Tree(NamedTuple):
    """The threads of a plan as a tree. ``ignored`` are the links that do not count
    because they would close a cycle with earlier ones, in words."""

    nodes: tuple[TreeNode, ...] = ()
    ignored: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The tree shape."""
        threads = [node.to_json() for node in self.nodes]
        ignored = {"ignored": list(self.ignored)} if self.ignored else {}
        return {"threads": threads, **ignored}


def tree_of(plan: ThreadPlan, topic: str = "") -> Tree:
    """Returns the threads that have links, or one thread with everything below it. A
    thread that is part of several is shown below each, and followed once."""
    trees = _Trees(plan)
    tops = [topic] if topic else trees.tops()
    return Tree(
        tuple(trees.node(top) for top in tops),
        tuple(text for _, text in ignored_links(plan)),
    )


def ignored_links(plan: ThreadPlan) -> list[tuple[OwnedLink, str]]:
    """Returns the links that do not count, each in words."""
    return [
        (item, kinds.sentence(plan.name(topic), link.kind, plan.name(link.topic)))
        for item in plan.order.ignored
        for topic, link in (item,)
    ]


class _Trees:
    def __init__(self, plan: ThreadPlan) -> None:
        self.plan = plan
        self._followed: set[str] = set()
        self._below: dict[str, list[tuple[str, str]]] = {}
        for item in plan.order.counted:
            if item.link.kind == kinds.PARENT:
                self._add(item.link.topic, item.topic, "part")
        for thread in plan.threads.values():
            for link in thread.links:
                if link.kind == kinds.SIDEQUEST_OF:
                    self._add(link.topic, thread.topic, "sidequest")

    def _add(self, above: str, topic: str, kind: str) -> None:
        if above in self.plan.threads:
            self._below.setdefault(above, []).append((topic, kind))

    def tops(self) -> list[str]:
        """Returns the threads with links that are below no other."""
        below = {topic for nodes in self._below.values() for topic, _ in nodes}
        linked = dict.fromkeys(
            name
            for thread in self.plan.threads.values()
            for name in (
                *([thread.topic] if thread.links else []),
                *(link.topic for link in thread.links),
            )
        )
        named = [name for name in linked if name in self.plan.threads]
        tops = [name for name in named if name not in below]
        # Two sidequests of each other are below no top, so one of them is shown there.
        reached = self._reached(tops)
        for name in named:
            if name not in reached:
                tops.append(name)
                reached |= self._reached([name])
        return sorted(tops)

    def _reached(self, tops: Iterable[str]) -> set[str]:
        reached = set(tops)
        pending = list(reached)
        for topic in pending:
            for lower, _ in self._below.get(topic, ()):
                if lower not in reached:
                    reached.add(lower)
                    pending.append(lower)
        return reached

    def node(self, topic: str, kind: str = "", depth: int = 0) -> TreeNode:
        """Returns a thread with everything below it."""
        plan, nodes = self.plan, []
        if topic not in self._followed and depth < MAX_DEPTH:
            self._followed.add(topic)
            lower = sorted(self._below.get(topic, ()))
            nodes = [self.node(*item, depth + 1) for item in lower]
        waits = [item for item in plan.waits(topic) if item.code != PARTS]
        is_open = plan.is_open(topic)
        return TreeNode(
            thread=plan.threads[topic],
            kind=kind,
            waits=tuple(item.words for item in waits if is_open),
            is_ready=plan.is_ready(topic),
            nodes=tuple(nodes),
        )

"""Whether a thread is ready to be worked on, and if not, why. Every display and every
wake-up uses this."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.graph import Order
from wc_core.ledger.planning.kinds import BLOCKED_BY, PARENT
from wc_core.ledger.planning.obstacles import (
    GATE,
    PARTS,
    WAITS,
    Obstacle,
    own_obstacles,
)
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.ledger.planning.graph import OwnedLink
    from wc_core.ledger.threads.model import Link


class PlannedThread(NamedTuple):
    """A thread in a plan. ``name`` is its display name; ``ownership`` says whose ball
    it is, for the viewer; ``stop`` what an older version has it wait for
    (`older.stopped_by_older`); ``is_asked``: someone asks the viewer something in
    it."""

    topic: str
    name: str
    title: str
    status: str
    ball: str | None
    ownership: str
    links: tuple[Link, ...] = ()
    stop: str = ""
    is_asked: bool = False


class ThreadPlan:
    """The threads of a store, and what they wait for."""

    def __init__(self, threads: Iterable[PlannedThread]) -> None:
        self.threads = {thread.topic: thread for thread in threads}
        linked = {t.topic: t.links for t in self.threads.values() if t.links}
        self.order = Order(linked)
        self._blockers = self._by_owner(BLOCKED_BY)
        self._parents = self._by_owner(PARENT)
        self._parts: dict[str, list[str]] = {}
        for topic, parents in self._parents.items():
            for parent in parents:
                self._parts.setdefault(parent, []).append(topic)

    def _by_owner(self, kind: str) -> dict[str, list[str]]:
        targets: dict[str, list[str]] = {}
        for item in self.order.counted:
            if item.link.kind == kind:
                targets.setdefault(item.topic, []).append(item.link.topic)
        return targets

    def name(self, topic: str) -> str:
        """The display name of a thread."""
        thread = self.threads.get(topic)
        return thread.name if thread is not None else topic

    def is_open(self, topic: str) -> bool:
        """Whether a thread is not closed. A thread that is not in the store may be
        open."""
        thread = self.threads.get(topic)
        return thread is None or thread.status != CLOSED

    def parts(self, topic: str) -> list[str]:
        """The threads that are part of another."""
        return sorted(self._parts.get(topic, ()))

    def parents(self, topic: str) -> list[str]:
        """The threads that a given one is part of."""
        return self._parents.get(topic, [])

    def open_parts(self, topic: str) -> list[str]:
        """Its parts that are not closed."""
        return [part for part in self.parts(topic) if self.is_open(part)]

    def wholes(self, topic: str) -> list[str]:
        """The threads that it is part of, directly or through others, nearest first."""
        wholes = dict.fromkeys(self.parents(topic))
        pending = list(wholes)
        for whole in pending:
            for parent in self.parents(whole):
                if parent not in wholes:
                    wholes[parent] = None
                    pending.append(parent)
        return pending

    def waits(self, topic: str) -> list[Obstacle]:
        """What a thread waits for, without repetition: threads that must be closed, and
        what an older version has stopped."""
        owners = (topic, *self.wholes(topic))
        return [*self._waits_for_threads(topic, owners), *self._stops(owners)]

    def _waits_for_threads(
        self, topic: str, owners: Iterable[str]
    ) -> Iterator[Obstacle]:
        obstacles: dict[str, Obstacle] = {}
        for owner in owners:
            for blocker in self._blockers.get(owner, ()):
                if blocker not in obstacles and self.is_open(blocker):
                    text = self._wait_text(topic, owner, blocker)
                    name = self.name(blocker)
                    obstacles[blocker] = Obstacle(WAITS, text, blocker, owner, name)
        for part in self.open_parts(topic):
            name = self.name(part)
            text = f"{name} is part of it and open"
            obstacles.setdefault(part, Obstacle(PARTS, text, part, topic, name))
        return iter(obstacles.values())

    def _stops(self, owners: Iterable[str]) -> Iterator[Obstacle]:
        topic = ""
        for owner in owners:
            topic = topic or owner
            thread = self.threads.get(owner)
            if thread is not None and thread.stop:
                name = self.name(owner)
                text = f"waits for {thread.stop}; to go on: wc ready {name} --anyway"
                text = self._with_owner(topic, owner, text)
                yield Obstacle(GATE, text, through=owner, words=thread.stop)

    def _wait_text(self, topic: str, owner: str, blocker: str) -> str:
        missing = "" if blocker in self.threads else ", which is not in this store"
        return self._with_owner(
            topic, owner, f"waits for {self.name(blocker)}{missing}"
        )

    def _with_owner(self, topic: str, owner: str, text: str) -> str:
        """A reason with its subject: the thread, or one that it is part of."""
        if owner == topic:
            return f"it {text}"
        return f"{self.name(owner)}, which it is part of, {text}"

    def obstacles(self, topic: str) -> list[Obstacle]:
        """Why a thread is not ready for the viewer; empty if it is."""
        thread = self.threads[topic]
        if thread.is_asked:
            return []
        waits = self.waits(topic) if thread.status != CLOSED else []
        return [*waits, *own_obstacles(thread.status, thread.ball, thread.ownership)]

    def is_ready(self, topic: str) -> bool:
        """Whether the viewer can start a thread."""
        return not self.obstacles(topic)

    def ready(self) -> list[str]:
        """The topics of all threads that are ready."""
        return [topic for topic in self.threads if self.is_ready(topic)]

    def would_cycle(self, item: OwnedLink) -> list[str]:
        """The names on the cycle that a new link would close; empty if there is
        none."""
        return [self.name(topic) for topic in self.order.cycle(item)]

"""Which threads have links to a thread: an index of small files, so that not all
threads have to be read.

``.local/links/<topic>/<source>`` is an empty file for each link of the thread
``source`` to the thread ``topic``. Files may be left over, so a thread's state decides
what it is linked to. ``.local/links/=cycles`` exists if links ever closed a cycle.
Without it, a thread and its neighbours determine what the thread waits for.
"""

from __future__ import annotations

import os
from types import MappingProxyType

from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import key_of, safe_name
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.graph import Order
from wc_core.ledger.planning.kinds import BLOCKED_BY, ORDERING, PARENT
from wc_core.ledger.planning.older import stopped_by_older
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

# Relative to ``.local``.
_FOLDER = "links"
_SHOWN = 3
CYCLES = f"{_FOLDER}/=cycles"


def link_files(state: State) -> set[str]:
    """The files of the index for the links of a thread, relative to ``.local``."""
    source = safe_name(state.topic)
    return {f"{_FOLDER}/{safe_name(link.topic)}/{source}" for link in state.links}


def has_links(layout: Layout) -> bool:
    """Whether any thread of a store has, or ever had, a link."""
    return os.path.isdir(layout.links)


def sources(layout: Layout, topic: str) -> list[str]:
    """The threads that have, or ever had, a link to another; sorted."""
    try:
        files = names_in(f"{layout.links}/{safe_name(topic)}", layout.root)
    except WcError:
        return []  # doctor reports what is in its place
    return sorted(map(key_of, files))


def plan_around(
    reader: StoreReader,
    topics: Iterable[str],
    states: Mapping[str, State] = MappingProxyType({}),
) -> ThreadPlan:
    """The plan of some threads and of everything that they wait for, however far away.
    It lacks the ownership of balls. ``states`` are those of threads that differ from
    the stored ones."""
    stored = _StoredStates(reader)
    threads = _gathered(stored, topics, states, lambda state: _needed(stored, state))
    return ThreadPlan(threads.values())


def plan_beside(
    reader: StoreReader,
    topic: str,
    states: Mapping[str, State] = MappingProxyType({}),
) -> ThreadPlan:
    """As `plan_around` for one thread, if only its own waits are needed. It reads what
    the thread is part of, what these wait for, and its parts; in a store with cycles
    everything, because which links count there depends on the others."""
    if has_cycles(reader):
        return plan_around(reader, [topic], states)
    return _plan_near(reader, topic, states)


def plans_of(
    reader: StoreReader,
    topics: Iterable[str],
    states: Mapping[str, State] = MappingProxyType({}),
) -> Callable[[str], ThreadPlan]:
    """Returns the function that gives the plan of each of the threads, as
    `plan_beside`. In a store with cycles they share one, which is read once."""
    if has_cycles(reader):
        plan = plan_around(reader, topics, states)
        return lambda _: plan
    return lambda topic: _plan_near(reader, topic, states)


def has_cycles(reader: StoreReader) -> bool:
    """Whether links ever closed a cycle."""
    return os.path.exists(f"{reader.layout.local}/{CYCLES}")


def _plan_near(
    reader: StoreReader, topic: str, states: Mapping[str, State]
) -> ThreadPlan:
    """The plan of a thread whose links are on no cycle."""
    stored = _StoredStates(reader)
    wholes = _gathered(stored, [topic], states, lambda state: _targets(state, PARENT))
    waited_for = [
        link.topic
        for thread in wholes.values()
        for link in thread.links
        if link.kind == BLOCKED_BY
    ]
    pending = [*waited_for, *_parts(stored, topic)]
    others = _gathered(stored, pending, states, lambda _: ())
    return ThreadPlan((wholes | others).values())


def waits_of(
    reader: StoreReader, state: State, *, ignores_cycles: bool = False
) -> tuple[str, ...]:
    """What a thread waits for, in words: see `ThreadPlan.waits`. Without cycles, only
    its neighbours are read."""
    if not (state.links or state.gates or has_links(reader.layout)):
        return ()
    plan_for = _plan_near if ignores_cycles else plan_beside
    plan = plan_for(reader, state.topic, {state.topic: state})
    return wait_words(plan, state.topic)


def wait_words(plan: ThreadPlan, topic: str) -> tuple[str, ...]:
    """What a thread of a plan waits for, in words."""
    return tuple(item.words for item in plan.waits(topic))


class Cycles(NamedTuple):
    """The effect of changes of links on cycles: whether there is or was one, and the
    threads with a link that no longer counts, or counts again."""

    found: bool = False
    recounted: frozenset[str] = frozenset()


def cycles(
    reader: StoreReader, changes: Sequence[tuple[State, State | None]]
) -> Cycles:
    """The cycles around threads whose links have changed, each with its state before,
    if it had one."""
    links = {state.topic: state.links for state, _ in changes}
    before = {
        state.topic: earlier.links if earlier is not None else ()
        for state, earlier in changes
    }
    states = {
        state.topic: state._replace(
            links=tuple(dict.fromkeys((*state.links, *before[state.topic])))
        )
        for state, _ in changes
    }
    plan = plan_around(reader, states, states)
    if not plan.order.ignored:
        return Cycles()
    all_links = {topic: thread.links for topic, thread in plan.threads.items()}
    ignored = [set(Order(all_links | changed).ignored) for changed in (links, before)]
    owners = frozenset(item.topic for item in ignored[0] ^ ignored[1])
    return Cycles(found=True, recounted=owners)


def freed_text(reader: StoreReader, state: State) -> str:
    """The message that a thread can be started, and what it waited for: ``api is
    closed: ui is yours to begin``. Empty if nothing that it waited for was closed after
    its own last entry."""
    freed = []
    for link in state.links:
        target = _state(reader, link.topic) if link.kind == BLOCKED_BY else None
        is_closed = target is not None and target.status == CLOSED
        if target is not None and is_closed and target.last_id > state.last_id:
            freed.append(target.name)
    if not freed:
        return ""
    hidden = f" and {len(freed) - _SHOWN} more" if len(freed) > _SHOWN else ""
    closed = "is closed" if len(freed) == 1 else "are closed"
    return (
        f"{', '.join(freed[:_SHOWN])}{hidden} {closed}: {state.name} is yours to begin"
    )


def affected(reader: StoreReader, topics: Iterable[str]) -> list[str]:
    """The threads that may become ready, or not, when some threads are closed, opened
    or linked: those that wait for them, with all their parts, and those that they are
    part of."""
    stored = _StoredStates(reader)
    wholes: dict[str, None] = {}
    reached: dict[str, None] = {}
    for topic in topics:
        state = stored.state(topic)
        wholes |= dict.fromkeys(_targets(state, PARENT) if state else ())
        reached |= dict.fromkeys(sources(reader.layout, topic))
    pending = list(reached)
    for current in pending:
        for part in _parts(stored, current):
            if part not in reached:
                reached[part] = None
                pending.append(part)
    return list(wholes | reached)


class _StoredStates:
    """The states of a store's threads, each read once, however many threads are linked
    to it."""

    def __init__(self, reader: StoreReader) -> None:
        self.reader = reader
        self._states: dict[str, State | None] = {}

    def state(self, topic: str) -> State | None:
        """The state of a thread; ``None`` if it is not in the store, or unreadable."""
        if topic not in self._states:
            self._states[topic] = _state(self.reader, topic)
        return self._states[topic]


def _gathered(
    stored: _StoredStates,
    topics: Iterable[str],
    states: Mapping[str, State],
    following: Callable[[State], Iterable[str]],
) -> dict[str, PlannedThread]:
    """The threads with these topics that are in the store, and those that follow."""
    threads: dict[str, PlannedThread] = {}
    pending = list(topics)
    for topic in pending:
        if topic in threads:
            continue
        state = states.get(topic) or stored.state(topic)
        if state is None:
            continue
        threads[topic] = _planned(state)
        pending += following(state)
    return threads


def _targets(state: State, kind: str) -> list[str]:
    return [link.topic for link in state.links if link.kind == kind]


def _needed(stored: _StoredStates, state: State) -> Iterator[str]:
    for link in state.links:
        if link.kind in ORDERING:
            yield link.topic
    yield from _parts(stored, state.topic)


def _parts(stored: _StoredStates, topic: str) -> Iterator[str]:
    for source in sources(stored.reader.layout, topic):
        state = stored.state(source)
        if state and any(item[:2] == (PARENT, topic) for item in state.links):
            yield source


def _state(reader: StoreReader, topic: str) -> State | None:
    try:
        return reader.snapshot(topic).state if reader.has(topic) else None
    except WcError:
        return None


def _planned(state: State) -> PlannedThread:
    return PlannedThread(
        topic=state.topic,
        name=state.name,
        title=state.title,
        status=state.status,
        ball=state.ball,
        ownership="",
        links=state.links,
        stop=stopped_by_older(state.gates, state.updated_at),
    )

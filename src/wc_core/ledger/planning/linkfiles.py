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
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

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
    now_ms: int = 0,
) -> ThreadPlan:
    """The plan of some threads and of everything that they wait for, however far away.
    It lacks the ownership of balls. ``states`` are those of threads that differ from
    the stored ones. Without ``now_ms``, time gates are closed."""
    threads = _gathered(reader, topics, states, lambda state: _needed(reader, state))
    return ThreadPlan(threads.values(), now_ms)


def plan_beside(
    reader: StoreReader,
    topic: str,
    states: Mapping[str, State] = MappingProxyType({}),
    now_ms: int = 0,
) -> ThreadPlan:
    """As `plan_around` for one thread, if only its own waits are needed. It reads what
    the thread is part of, what these wait for, and its parts; in a store with cycles
    everything, because which links count there depends on the others."""
    if os.path.exists(f"{reader.layout.local}/{CYCLES}"):
        return plan_around(reader, [topic], states, now_ms)
    wholes = _gathered(reader, [topic], states, lambda state: _targets(state, PARENT))
    waited_for = [
        link.topic
        for thread in wholes.values()
        for link in thread.links
        if link.kind == BLOCKED_BY
    ]
    pending = [*waited_for, *_parts(reader, topic)]
    others = _gathered(reader, pending, states, lambda _: ())
    return ThreadPlan((wholes | others).values(), now_ms)


def waits_of(reader: StoreReader, state: State, now_ms: int) -> tuple[str, ...]:
    """The threads that must be closed, and the gates that must open, before a thread is
    ready, in words."""
    if not (state.links or state.gates or has_links(reader.layout)):
        return ()
    plan = plan_beside(reader, state.topic, {state.topic: state}, now_ms)
    return tuple(item.words for item in plan.waits(state.topic))


class Cycles(NamedTuple):
    """The effect of a change of a thread's links on cycles: whether there is or was
    one, and the other threads with a link that no longer counts, or counts again."""

    found: bool = False
    recounted: frozenset[str] = frozenset()


def cycles(reader: StoreReader, state: State, before: State | None) -> Cycles:
    """The cycles around a thread whose links have changed."""
    links_before = before.links if before is not None else ()
    links = tuple(dict.fromkeys((*state.links, *links_before)))
    states = {state.topic: state._replace(links=links)}
    plan = plan_around(reader, [state.topic], states)
    if not plan.order.ignored:
        return Cycles()
    all_links = {topic: thread.links for topic, thread in plan.threads.items()}
    ignored = [
        set(Order(all_links | {state.topic: own}).ignored)
        for own in (state.links, links_before)
    ]
    owners = {item.topic for item in ignored[0] ^ ignored[1]}
    return Cycles(found=True, recounted=frozenset(owners - {state.topic}))


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


def affected(reader: StoreReader, topic: str) -> list[str]:
    """The threads that may become ready, or not, when a thread is closed, opened or
    linked: those that wait for it, with all their parts, and those that it is part
    of."""
    state = _state(reader, topic)
    wholes = _targets(state, PARENT) if state else []
    pending = list(dict.fromkeys([*wholes, *sources(reader.layout, topic)]))
    reached = {topic, *pending}
    for current in pending[len(wholes) :]:
        for part in _parts(reader, current):
            if part not in reached:
                reached.add(part)
                pending.append(part)
    return pending


def _gathered(
    reader: StoreReader,
    topics: Iterable[str],
    states: Mapping[str, State],
    following: Callable[[State], Iterable[str]],
) -> dict[str, PlannedThread]:
    """The threads with these topics that are in the store, and those that follow."""
    threads: dict[str, PlannedThread] = {}
    pending = list(topics)
    for topic in pending:
        state = states.get(topic) or _state(reader, topic)
        if state is None or topic in threads:
            continue
        threads[topic] = _planned(state)
        pending += following(state)
    return threads


def _targets(state: State, kind: str) -> list[str]:
    return [link.topic for link in state.links if link.kind == kind]


def _needed(reader: StoreReader, state: State) -> Iterator[str]:
    for link in state.links:
        if link.kind in ORDERING:
            yield link.topic
    yield from _parts(reader, state.topic)


def _parts(reader: StoreReader, topic: str) -> Iterator[str]:
    for source in sources(reader.layout, topic):
        state = _state(reader, source)
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
        gates=state.gates,
    )

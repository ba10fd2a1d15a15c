"""What the threads of a store wait for: from the cache as far as it counts, else from
their files."""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.errors import WcError
from wc_core.ledger.index.cache import UnusableCacheError
from wc_core.ledger.index.fields import state_of
from wc_core.ledger.index.freshness import CacheState, freshness
from wc_core.ledger.planning.kinds import BLOCKED_BY
from wc_core.ledger.planning.older import stopped_by_older
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads import aliases
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

_SHOWN = 3
_PLANNED = (
    "WHERE number IN (SELECT number FROM threads WHERE planned UNION "
    "SELECT number FROM threads WHERE topic IN (SELECT DISTINCT target FROM links))"
)


def plan_of(
    reader: StoreReader,
    states: Mapping[str, State] = MappingProxyType({}),
    fresh: CacheState | None = None,
) -> ThreadPlan:
    """The plan of all threads that have links or gates, or are linked to. It lacks the
    ownership of balls. ``states`` are those of threads that differ from the stored
    ones, ``fresh`` what the cache can answer for, if it is states_here."""
    fresh = freshness(reader) if fresh is None else fresh
    try:
        rows = fresh.fields(_PLANNED)
    except UnusableCacheError:
        fresh = CacheState(None, reader.topics())
        rows = []
    states_here: dict[str, State | None] = {
        fields.topic: state_of(fields) for fields in rows
    }
    unread = (topic for topic in fresh.direct if topic not in states)
    states_here |= {topic: read_state(reader, topic) for topic in unread}
    states_here |= states
    planned = [state for state in states_here.values() if state is not None]
    planned = [state for state in planned if state.links or state.gates]
    targets = {link.topic for state in planned for link in state.links}
    for topic in targets - states_here.keys():
        # A thread that is not in the cache either may be linked to.
        states_here[topic] = read_state(reader, topic)
    in_plan = targets.union(states, (state.topic for state in planned))
    return ThreadPlan(
        _planned(reader, state)
        for topic, state in states_here.items()
        if state is not None and topic in in_plan
    )


def waits_of(reader: StoreReader, state: State) -> tuple[str, ...]:
    """What a thread waits for, in words: see `ThreadPlan.waits`."""
    return wait_words(plan_of(reader, {state.topic: state}), state.topic)


def wait_words(plan: ThreadPlan, topic: str) -> tuple[str, ...]:
    """What a thread of a plan waits for, in words."""
    return tuple(item.words for item in plan.waits(topic))


def waiting(plan: ThreadPlan) -> dict[str, tuple[str, ...]]:
    """The open threads of a plan that wait for something, each with what, in words."""
    words = {
        topic: wait_words(plan, topic) for topic in filter(plan.is_open, plan.threads)
    }
    return {topic: waits for topic, waits in words.items() if waits}


def sources(plan: ThreadPlan, topic: str) -> list[str]:
    """The threads of a plan that have a link to another; sorted."""
    threads = plan.threads.values()
    return sorted(t.topic for t in threads if any(k.topic == topic for k in t.links))


def freed_text(reader: StoreReader, state: State) -> str:
    """The message that a thread can be started, and what it waited for: ``api is
    closed: ui is yours to begin``. Empty if nothing that it waited for was closed after
    its own last entry."""
    freed = []
    for link in state.links:
        target = read_state(reader, link.topic) if link.kind == BLOCKED_BY else None
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


def read_state(reader: StoreReader, topic: str) -> State | None:
    """The state of a thread; ``None`` if it is not in the store, or unreadable."""
    try:
        return reader.snapshot(topic).state if reader.has(topic) else None
    except WcError:
        return None


def _planned(reader: StoreReader, state: State) -> PlannedThread:
    return PlannedThread(
        topic=state.topic,
        name=aliases.name_of(reader, state),
        title=state.title,
        status=state.status,
        ball=state.ball,
        ownership="",
        links=state.links,
        stop=stopped_by_older(state.gates, state.updated_at),
    )

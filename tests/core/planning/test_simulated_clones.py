"""Clones that link, unlink, close, rename and stop threads apart from each other: once
they have exchanged everything, each has the same plan."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import entry, relaxed
from wc_core.base.names import FREE, MINE
from wc_core.ledger.planning.older import release, stopped_by_older
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.folding import in_order
from wc_core.ledger.threads.model import CLOSED, Entry, Link, State

TOPICS = ("a", "b", "c", "d", "e")
CLONES = 3
GATES = [
    {"change": "add", "kind": "human", "value": "Pat"},
    {"change": "add", "kind": "until", "value": "1970-01-01T02:00:00.000Z"},
]


class Step(NamedTuple):
    """What a clone does to a thread, or from which clone it takes everything."""

    clone: int
    topic: str
    act: str
    target: str
    source: int


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(0, CLONES - 1),
        st.sampled_from(TOPICS),
        st.sampled_from(
            [
                *("blocked_by", "blocked_by", "parent", "unlink", "close", "open"),
                *("rename", "gate", "pass", "take in", "take in"),
            ]
        ),
        st.sampled_from(TOPICS),
        st.integers(0, CLONES - 1),
    ),
    max_size=30,
)


class Clone:
    """The logs of all threads, as one clone has them."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    def state(self, topic: str) -> State:
        own = (item for item in self.entries.values() if item.topic == topic)
        return folding.fold(topic, in_order(own))

    def plan(self) -> ThreadPlan:
        states = [self.state(topic) for topic in TOPICS]
        return ThreadPlan(_planned(state) for state in states)

    def act(self, number: int, step: Step) -> None:
        state = self.state(step.topic)
        fields = _fields(state, step)
        made = entry(number, parents=state.heads, agent=f"clone{step.clone}", **fields)
        made = made._replace(topic=step.topic)
        self.entries[made.id] = made


def _fields(state: State, step: Step) -> dict[str, object]:
    """What an entry changes. Nobody checks for cycles: so they arise in one clone, too,
    as those of two clones do."""
    if step.act in {"blocked_by", "parent"}:
        return {"links_added": (Link(step.act, step.target),)}
    if step.act == "unlink":
        links = tuple(Link(*link[:2]) for link in state.links)
        return {"links_removed": links[:1]}
    if step.act in {"close", "open"}:
        return {"status": CLOSED if step.act == "close" else "OPEN"}
    if step.act == "rename":
        return {"new_topic": f"{step.topic}-{step.target}"}
    if step.act == "gate":
        return {"extra": {"gates": GATES}}
    return {"extra": release(state)}


def _planned(state: State) -> PlannedThread:
    ownership = FREE if state.topic in "ab" else MINE
    return PlannedThread(
        topic=state.topic,
        name=state.name,
        title=state.title,
        status=state.status,
        ball=state.ball,
        ownership=ownership,
        links=state.links,
        stop=stopped_by_older(state.gates, state.updated_at),
    )


@relaxed
@given(STEPS)
def test_every_clone_has_the_same_plan(steps: list[Step]) -> None:
    clones = [Clone() for _ in range(CLONES)]
    for number, topic in enumerate(TOPICS):
        first = entry(number, parents=(), title=topic)._replace(topic=topic)
        for clone in clones:
            clone.entries[first.id] = first
    for number, step in enumerate(steps, len(TOPICS)):
        if step.act == "take in":
            clones[step.clone].entries |= clones[step.source].entries
        else:
            clones[step.clone].act(number, step)
        plan = clones[step.clone].plan()
        reasons = {topic: plan.obstacles(topic) for topic in TOPICS}
        assert plan.ready() == [topic for topic in TOPICS if not reasons[topic]]
    for clone in clones:
        for other in clones:
            clone.entries |= other.entries
    plans = [clone.plan() for clone in clones]
    for plan in plans[1:]:
        assert plan.ready() == plans[0].ready()
        assert plan.order.ignored == plans[0].order.ignored
        for topic in TOPICS:
            assert plan.obstacles(topic) == plans[0].obstacles(topic)


@relaxed
@given(STEPS)
def test_nothing_waits_for_itself(steps: list[Step]) -> None:
    """With the links that do not count left out, something can always be closed."""
    clone = Clone()
    for number, topic in enumerate(TOPICS):
        clone.entries[f"{topic}"] = entry(number, parents=(), title=topic)._replace(
            topic=topic
        )
    for number, step in enumerate(steps, len(TOPICS)):
        if step.act in {"blocked_by", "parent", "unlink"}:
            clone.act(number, step)
    rows = {topic: _planned(clone.state(topic)) for topic in TOPICS}
    while rows_open := [row for row in rows.values() if row.status != CLOSED]:
        ready = ThreadPlan(rows.values()).ready()
        assert ready, rows_open
        rows[ready[0]] = rows[ready[0]]._replace(status=CLOSED)

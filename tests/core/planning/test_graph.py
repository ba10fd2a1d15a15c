"""The graph of what has to be finished before what."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.base.names import FREE, OTHERS
from wc_core.ledger.planning.graph import Order
from wc_core.ledger.planning.kinds import BLOCKED_BY, PARENT, RELATES
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads.model import Link
from wc_core.reading.views import planning

TOPICS = "abcdef"


def order(*written: str) -> Order:
    """An order of links written as "b>a" (b waits for a) and "c<p" (c is part of p),
    made one by one."""
    links: dict[str, tuple[Link, ...]] = {}
    for number, text in enumerate(written):
        kind = BLOCKED_BY if ">" in text else PARENT
        topic, _, target = text.replace("<", ">").partition(">")
        links[topic] = (*links.get(topic, ()), Link(kind, target, f"{number:03}"))
    return Order(links)


def ignored(result: Order) -> list[str]:
    signs = {BLOCKED_BY: ">", PARENT: "<"}
    return [f"{o.topic}{signs[o.link.kind]}{o.link.topic}" for o in result.ignored]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["b>a", "c>b"], []),
        (["b>a", "a>b"], ["a>b"]),
        (["b>a", "c>b", "a>c"], ["a>c"]),
        (["a>a"], ["a>a"]),
        (["a<p", "p>a"], ["p>a"]),  # what it waits for, its parts wait for
        (["a<p", "a>p"], ["a>p"]),  # the whole waits for its parts
        (["a<p", "p<a"], ["p<a"]),
        (["a<p", "b<p", "b>a"], []),
        (["a<p", "b<q", "q>p"], []),
        (["a<p", "b<q", "q>p", "a>b"], ["a>b"]),
        (["b>a", "a>b", "c>b", "b>c"], ["a>b", "b>c"]),
    ],
)
def test_the_later_link_of_a_cycle_does_not_count(
    written: list[str], expected: list[str]
) -> None:
    assert ignored(order(*written)) == expected


LINK = st.tuples(
    st.sampled_from(TOPICS),
    st.sampled_from((BLOCKED_BY, PARENT, RELATES)),
    st.sampled_from(TOPICS),
    st.integers(0, 5),
)
LINKS = st.lists(LINK, max_size=14)
MANY_LINKS = st.lists(LINK, max_size=40)


def mapping(links: list[tuple[str, str, str, int]]) -> dict[str, tuple[Link, ...]]:
    result: dict[str, tuple[Link, ...]] = {}
    for topic, kind, target, number in links:
        result[topic] = (*result.get(topic, ()), Link(kind, target, f"{number:03}"))
    return result


@given(LINKS, st.randoms(use_true_random=False))
def test_every_clone_leaves_out_the_same(
    links: list[tuple[str, str, str, int]], random: object
) -> None:
    shuffled = list(links)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, two = Order(mapping(links)), Order(mapping(shuffled))
    assert one.counted == two.counted
    assert one.ignored == two.ignored
    for item in one.ignored:
        assert one.cycle(item)


@given(MANY_LINKS)
def test_links_count_as_if_each_was_checked_by_a_search(
    links: list[tuple[str, str, str, int]],
) -> None:
    whole = Order(mapping(links))
    searched, left_out = Order({}), []
    for item in sorted((*whole.counted, *whole.ignored), key=lambda item: item.key):
        if searched.cycle(item):
            left_out.append(item)
        else:
            searched.add(item)
    assert whole.ignored == left_out
    assert whole.counted == searched.counted


def test_a_cycle_among_a_thousand_threads_takes_no_search_for_each_link() -> None:
    """A chain of wholes with parts, closed by its first link. A search for each link
    took 250 times as long as reading the links; a limit of 60 leaves room."""
    wholes, parts = 60, 1000
    links = {
        f"w{n}": (Link(BLOCKED_BY, f"w{n - 1}", f"{n:05}"),) for n in range(wholes)
    }
    links["w0"] = (Link(BLOCKED_BY, f"w{wholes - 1}", "00000"),)
    for n in range(parts):
        links[f"p{n}"] = (Link(PARENT, f"w{n % wholes}", f"{wholes + n:05}"),)
    straight = {t: own for t, own in links.items() if t != "w0"}
    times = []
    for each in (straight, links):
        spent = []
        for _ in range(3):
            start = time.process_time()
            result = Order(each)
            spent.append(time.process_time() - start)
        times.append(min(spent))
    assert [item.topic for item in result.ignored] == [f"w{wholes - 1}"]
    assert times[1] < 60 * times[0]


def thread(
    topic: str, links: tuple[Link, ...], closed: str, held: str
) -> PlannedThread:
    return PlannedThread(
        topic,
        name=topic.upper(),
        title="",
        status="CLOSED" if topic in closed else "OPEN",
        ball="Codex" if topic in held else None,
        ownership=OTHERS if topic in held else FREE,
        links=links,
    )


@given(LINKS, st.text(TOPICS, max_size=4), st.text(TOPICS, max_size=4))
def test_something_can_always_be_begun(
    links: list[tuple[str, str, str, int]], closed: str, held: str
) -> None:
    by_topic = mapping(links)
    rows = [thread(topic, by_topic.get(topic, ()), closed, "") for topic in TOPICS]
    plan = ThreadPlan(rows)
    opened = [topic for topic in TOPICS if topic not in closed]
    assert plan.ready() or not opened
    for topic in TOPICS:
        assert plan.is_ready(topic) == (plan.obstacles(topic) == [])
    # Whoever does what is ready gets through the whole plan.
    done = set(closed)
    while len(done) < len(TOPICS):
        rows = [
            thread(topic, by_topic.get(topic, ()), "".join(done), "")
            for topic in TOPICS
        ]
        done.add(ThreadPlan(rows).ready()[0])
    rows = [thread(topic, by_topic.get(topic, ()), closed, held) for topic in TOPICS]
    assert not set(ThreadPlan(rows).ready()) & set(held)


def test_long_chains_are_shown_to_a_depth() -> None:
    names = [f"t{number:04}" for number in range(3000)]
    rows = [
        thread(name, (Link(PARENT if at % 2 else BLOCKED_BY, before, name),), "", "")
        for at, (before, name) in enumerate(itertools.pairwise(names))
    ]
    plan = ThreadPlan([thread(names[0], (), "", ""), *rows])
    assert planning.chain_of(plan, names[-1]).reasons
    assert planning.tree_of(plan).nodes
    assert plan.ready() == [names[0]]

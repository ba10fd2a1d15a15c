"""In which order branches land."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.edits.radar.landingorder import (
    LandingCandidate,
    landing_order,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

TOPICS = "abcdefg"


class Case:
    """Branches, written as in ``"a b>a c"``: b waits for a; the first is the oldest.
    The pairs conflict."""

    def __init__(self, written: str, *pairs: str) -> None:
        words = [word.partition(">") for word in written.split()]
        self.branches = [
            LandingCandidate(topic, frozenset(after), age)
            for age, (topic, _, after) in enumerate(words)
        ]
        self.pairs = {frozenset(pair) for pair in pairs}

    def conflicts(self, first: str, second: str) -> int:
        return int(frozenset((first, second)) in self.pairs)

    def order(self) -> str:
        return topics(landing_order(self.branches, self.conflicts))


def topics(order: Sequence[LandingCandidate]) -> str:
    return "".join(candidate.topic for candidate in order)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(0, len(TOPICS)))
    case = Case("")
    # Some wait for a topic that is not a candidate, or for themselves.
    waits = st.frozensets(st.sampled_from(TOPICS), max_size=2)
    case.branches = [
        LandingCandidate(
            topic, draw(waits), draw(st.integers(0, 3)), draw(st.booleans())
        )
        for topic in TOPICS[:count]
    ]
    pairs = [frozenset(pair) for pair in itertools.combinations(TOPICS[:count], 2)]
    if pairs:
        case.pairs = draw(st.sets(st.sampled_from(pairs)))
    return case


@pytest.mark.parametrize(
    ("case", "order"),
    [
        (Case(""), ""),
        (Case("a b c"), "abc"),
        (Case("a>b b c"), "bac"),
        (Case("a b c", "ab", "ac"), "bca"),
        (Case("a b>a c", "ab", "ac"), "cab"),
        (Case("a b c", "ab"), "cab"),
        (Case("a>b b>a c"), "abc"),
        (Case("a>b b>cd c>b d"), "dbca"),
    ],
)
def test_links_come_first_then_conflicts_then_age(case: Case, order: str) -> None:
    assert case.order() == order


def test_the_order_of_age_wins_if_fewer_fail_in_it() -> None:
    # b has three rivals, but three others wait for it.
    case = Case("b c>b d>b e>b a f g h", "ab", "bf", "bg")
    assert case.order() == "bcdeafgh"


def test_a_branch_that_does_not_merge_anyway_is_no_rival() -> None:
    case = Case("a b c", "ab", "ac")
    assert case.order() == "bca"
    case.branches[1:] = [b._replace(merges=False) for b in case.branches[1:]]
    assert case.order() == "abc"


@given(cases())
def test_every_branch_lands_once_and_after_what_it_waits_for(case: Case) -> None:
    order = landing_order(case.branches, case.conflicts)
    assert sorted(order) == sorted(case.branches)
    positions = {candidate.topic: i for i, candidate in enumerate(order)}
    waits = {candidate.topic: reached(case.branches, candidate) for candidate in order}
    for topic, waited in waits.items():
        for earlier in waited:
            if topic not in waits[earlier]:
                assert positions[earlier] < positions[topic]


def reached(branches: Sequence[LandingCandidate], start: LandingCandidate) -> set[str]:
    """What a branch waits for, by going around until nothing is new."""
    result = set[str]()
    known = {branch.topic: branch.after for branch in branches}
    while True:
        after = [known[start.topic], *(known[topic] for topic in result)]
        following = set().union(*after) & known.keys()
        if following == result:
            return result
        result = following


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_is_the_same_for_any_order_of_the_branches(
    case: Case, random: Random
) -> None:
    shuffled = list(case.branches)
    random.shuffle(shuffled)
    order = landing_order(case.branches, case.conflicts)
    assert landing_order(shuffled, case.conflicts) == order


@given(cases())
def test_no_more_fail_than_in_the_order_of_age(case: Case) -> None:
    by_links_and_age = landing_order(case.branches, lambda _first, _second: 0)
    order = landing_order(case.branches, case.conflicts)
    assert failures(order, case.conflicts) <= failures(by_links_and_age, case.conflicts)


def failures(
    order: Sequence[LandingCandidate], conflicts: Callable[[str, str], int]
) -> int:
    """How many branches fail, one landing after the other."""
    landed, failed = set[str](), set[str]()
    for candidate in order:
        waits = reached(order, candidate)
        must_land = {t for t in waits if candidate.topic not in waits_of(order, t)}
        rivals = [topic for topic in landed if conflicts(topic, candidate.topic)]
        fails = rivals or not candidate.merges
        (failed if fails or must_land & failed else landed).add(candidate.topic)
    return len(failed)


def waits_of(order: Sequence[LandingCandidate], topic: str) -> set[str]:
    return next(reached(order, branch) for branch in order if branch.topic == topic)


@given(cases())
def test_each_pair_is_asked_for_once(case: Case) -> None:
    asked = []

    def conflicts(first: str, second: str) -> int:
        asked.append(frozenset((first, second)))
        return case.conflicts(first, second)

    landing_order(case.branches, conflicts)
    pairs = itertools.combinations([branch.topic for branch in case.branches], 2)
    assert sorted(map(sorted, asked)) == sorted(map(sorted, pairs))

"""In which order several approved branches land, so that few of them fail.

A branch fails if it conflicts with the base branch or with one that landed before it,
or waits for one that failed. So the next to land is the one that conflicts with the
fewest of the others.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class LandingCandidate(NamedTuple):
    """A branch to land: the topic of its thread, the topics that must land before it,
    since when it has been waiting, and whether it merges into the base branch as that
    is. Topics in ``after`` that are not candidates do not count."""

    topic: str
    after: frozenset[str] = frozenset()
    since_ms: int = 0
    merges: bool = True


def landing_order(
    branches: Iterable[LandingCandidate], conflicts: Callable[[str, str], int]
) -> list[LandingCandidate]:
    """The branches in the order in which to land them. ``conflicts`` is in how many
    files the branches of two topics conflict; it is called once for each pair.

    What a branch waits for comes before it; in a cycle, the
    branches do not wait for each other. Of those that may come next, one that can land
    is preferred, then the one that conflicts with the fewest others that can land, then
    the oldest. If that lets more of them fail than the order of age, they are in the
    order of age. The order of ``branches`` makes no difference.
    """
    by_age = sorted(branches, key=_age)
    rivals = _rivals(by_age, conflicts)
    orders = [_order(by_age, rivals), _order(by_age, {})]
    return min(orders, key=lambda order: _count_failures(order, rivals))


def _age(candidate: LandingCandidate) -> tuple[int, str]:
    return candidate.since_ms, candidate.topic


def _rivals(
    branches: Sequence[LandingCandidate], conflicts: Callable[[str, str], int]
) -> dict[str, set[str]]:
    """For each topic, those whose branches conflict with its branch."""
    rivals: dict[str, set[str]] = {branch.topic: set() for branch in branches}
    for position, second in enumerate(branches):
        for first in branches[:position]:
            if conflicts(first.topic, second.topic):
                rivals[first.topic].add(second.topic)
                rivals[second.topic].add(first.topic)
    return rivals


def _waits(branches: Sequence[LandingCandidate]) -> dict[str, set[str]]:
    """For each topic, what it waits for, directly or through others."""
    direct = {branch.topic: branch.after for branch in branches}
    waits: dict[str, set[str]] = {}
    for topic in direct:
        reached: set[str] = set()
        pending = [topic]
        for waiting in pending:
            new = (direct[waiting] & direct.keys()) - reached
            reached |= new
            pending += new
        waits[topic] = reached
    return waits


def _before(branches: Sequence[LandingCandidate]) -> dict[str, set[str]]:
    """For each topic, what has to come before it: what it waits for and what does not
    wait for it."""
    waits = _waits(branches)
    return {
        topic: {earlier for earlier in waited if topic not in waits[earlier]}
        for topic, waited in waits.items()
    }


def _order(
    by_age: Sequence[LandingCandidate], rivals: Mapping[str, set[str]]
) -> list[LandingCandidate]:
    """The order for known conflicts."""
    before = _before(by_age)
    order: list[LandingCandidate] = []
    waiting = list(by_age)
    landed: set[str] = set()
    failed: set[str] = set()
    while waiting:
        topics = {branch.topic for branch in waiting}
        landable = {
            branch.topic
            for branch in waiting
            if branch.merges
            and landed.isdisjoint(rivals.get(branch.topic, ()))
            and failed.isdisjoint(before[branch.topic])
        }
        # Of equal ones, min takes the first, which is the oldest.
        following = min(
            (branch for branch in waiting if topics.isdisjoint(before[branch.topic])),
            key=lambda branch: (
                branch.topic not in landable,
                len(landable.intersection(rivals.get(branch.topic, ()))),
            ),
        )
        waiting.remove(following)
        order.append(following)
        (landed if following.topic in landable else failed).add(following.topic)
    return order


def _count_failures(
    order: Sequence[LandingCandidate], rivals: Mapping[str, set[str]]
) -> int:
    """How many branches fail if they land in this order."""
    before = _before(order)
    landed: set[str] = set()
    failed: set[str] = set()
    for branch in order:
        has_obstacle = landed & rivals[branch.topic] or failed & before[branch.topic]
        lands = branch.merges and not has_obstacle
        (landed if lands else failed).add(branch.topic)
    return len(failed)

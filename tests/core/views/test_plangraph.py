"""The picture of a plan."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import relaxed
from wc_core.ledger.planning.kinds import BLOCKED_BY, PARENT
from wc_core.ledger.planning.readiness import PlannedThread, ThreadPlan
from wc_core.ledger.threads.model import CLOSED, OPEN, Link
from wc_core.reading.views.drawing.plangraph import (
    BOX_HEIGHT,
    BOX_WIDTH,
    MAX_BOXES,
    picture,
)

if TYPE_CHECKING:
    from wc_core.reading.views.drawing.plangraph import PlanPicture


def plan(text: str, closed: str = "") -> ThreadPlan:
    """``a<b`` is "b waits for a", ``a.b`` is "a is part of b"."""
    links: dict[str, list[Link]] = {name: [] for name in re.findall(r"\w+", text)}
    for number, word in enumerate(text.split()):
        first, then = re.findall(r"\w+", word)
        if "<" in word:
            links[then].append(Link(BLOCKED_BY, first, f"{number:05}"))
        else:
            links[first].append(Link(PARENT, then, f"{number:05}"))
    return ThreadPlan(
        PlannedThread(
            name,
            name,
            "",
            CLOSED if name in closed.split() else OPEN,
            None,
            "",
            tuple(own),
        )
        for name, own in links.items()
    )


def arrows(drawn: PlanPicture) -> set[str]:
    return {
        f"{arrow.first}{'.' if arrow.is_part else '<'}{arrow.later}"
        for arrow, _ in drawn.arrows
    }


def test_what_comes_later_stands_to_the_right() -> None:
    drawn = picture(plan("a<b b<c x<c"))
    left = {box.topic: box.x for box in drawn.boxes}
    assert left["a"] == left["x"] < left["b"] < left["c"]
    assert drawn.width == left["c"] + BOX_WIDTH + left["a"]
    assert drawn.hidden == 0


def test_what_others_imply_is_left_out() -> None:
    assert arrows(picture(plan("a<b b<c a<c"))) == {"a<b", "b<c"}
    assert arrows(picture(plan("a<b a<b"))) == {"a<b"}


def test_parts_come_before_the_whole_and_wait_for_what_it_waits_for() -> None:
    drawn = picture(plan("part.whole before<whole inner.part"))
    assert arrows(drawn) == {"before<inner", "inner.part", "part.whole"}


def test_one_thread_is_drawn_with_what_is_before_and_after_it() -> None:
    whole = plan("a<b b<c a<side x<y")
    assert {box.topic for box in picture(whole, "b").boxes} == {"a", "b", "c"}
    assert picture(plan("a<b z.b"), "unlinked").boxes == ()


def test_an_arrow_goes_round_the_boxes_between() -> None:
    drawn = picture(plan("a<b b<c c<d x<d"))
    (line,) = (line for arrow, line in drawn.arrows if arrow.first == "x")
    heights = {int(y) for y in re.findall(r" (\d+)H", line)}
    assert heights
    for box in drawn.boxes:
        if box.topic in {"b", "c"}:
            assert not any(box.top <= y <= box.top + BOX_HEIGHT for y in heights)


def test_of_a_large_plan_what_is_closed_is_left_out_and_then_what_comes_last() -> None:
    chain = " ".join(f"t{n:03}<t{n + 1:03}" for n in range(100))
    drawn = picture(plan(f"{chain} over<t000", closed="over"))
    assert {box.topic for box in drawn.boxes} == {f"t{n:03}" for n in range(MAX_BOXES)}
    assert drawn.hidden == 102 - MAX_BOXES


def test_nothing_is_drawn_of_a_plan_without_links() -> None:
    drawn = picture(plan(""))
    assert (drawn.boxes, drawn.arrows, drawn.hidden) == ((), (), 0)


@relaxed
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans())))
def test_every_plan_can_be_drawn(links: list[tuple[int, int, bool]]) -> None:
    words = (f"t{a}{'<' if waits else '.'}t{b}" for a, b, waits in links if a != b)
    whole = plan(" ".join(words))
    drawn = picture(whole)
    places = {box.topic: (box.x, box.top) for box in drawn.boxes}
    assert len({*places.values()}) == len(places)
    counted = {
        name for item in whole.order.counted for name in (item.topic, item.link.topic)
    }
    assert {*places} == counted
    for arrow, _ in drawn.arrows:
        assert places[arrow.first][0] < places[arrow.later][0]
    for x, top in places.values():
        assert 0 <= x <= drawn.width - BOX_WIDTH
        assert 0 <= top <= drawn.height - BOX_HEIGHT

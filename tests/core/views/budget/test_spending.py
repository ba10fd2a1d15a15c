"""Never over the budget, never less of anything for more, and everything is named."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import relaxed
from wc_core.base.errors import InvalidInputError
from wc_core.reading.views.budget.spending import (
    LEFT_OUT,
    AnswerItem,
    Gap,
    Prices,
    gaps,
    spend,
)
from wc_core.reading.views.budget.tokens import Budget


class Answer(NamedTuple):
    """Items with what each form of them takes, a frame, and what a gap takes."""

    items: list[AnswerItem]
    costs: list[tuple[int, ...]]
    frame: int
    naming: int

    def prices(self) -> Prices:
        def gap(first: int, count: int) -> int:
            return self.naming + len(str(first)) + len(str(count))

        return Prices(self.frame, lambda index, form: self.costs[index][form - 1], gap)

    def length(self, forms: list[int]) -> int:
        prices = self.prices()
        shown = [(index, form) for index, form in enumerate(forms) if form]
        return (
            prices.frame
            + sum(prices.item(index, form) for index, form in shown)
            + sum(prices.gap(gap.first, gap.size) for gap in gaps(forms))
        )

    def forms(self, tokens: int) -> list[int] | None:
        try:
            return spend(self.items, self.prices(), Budget(tokens))
        except InvalidInputError:
            return None


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    costs = draw(
        st.lists(
            st.lists(st.integers(1, 400), min_size=1, max_size=2).map(tuple),
            max_size=30,
        )
    )
    items = [
        AnswerItem(age, draw(st.booleans()), len(cost), draw(st.booleans()))
        for age, cost in zip(reversed(range(len(costs))), costs, strict=True)
    ]
    return Answer(items, costs, draw(st.integers(0, 200)), draw(st.integers(0, 90)))


@relaxed
@given(answers(), st.integers(0, 3000))
def test_an_answer_is_never_longer_and_names_all_it_leaves_out(
    answer: Answer, tokens: int
) -> None:
    forms = answer.forms(tokens)
    if forms is None:
        return
    assert answer.length(forms) <= tokens * 4
    assert any(forms) or not forms
    named = [i for gap in gaps(forms) for i in range(gap.first, gap.first + gap.size)]
    shown = [index for index, form in enumerate(forms) if form != LEFT_OUT]
    assert sorted(named + shown) == [*range(len(answer.items))]


@relaxed
@given(answers(), st.integers(0, 3000), st.integers(0, 500))
def test_a_larger_budget_never_shows_less_of_anything(
    answer: Answer, tokens: int, more: int
) -> None:
    smaller, larger = answer.forms(tokens), answer.forms(tokens + more)
    if smaller is None:
        return
    assert larger is not None
    assert all(much >= few for few, much in zip(smaller, larger, strict=True))


@relaxed
@given(answers())
def test_the_least_that_an_error_names_is_enough_and_less_is_not(
    answer: Answer,
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        spend(answer.items, answer.prices(), Budget(-1))
    least = int(refused.value.message.split("at least ")[1].split()[0])
    assert answer.forms(least) is not None
    assert answer.forms(least - 1) is None


@relaxed
@given(answers())
def test_everything_is_shown_whole_where_there_is_room(answer: Answer) -> None:
    assert answer.forms(10_000) == [item.forms for item in answer.items]


def test_the_newest_is_shown_first_and_what_matters_before_what_is_as_old() -> None:
    items = [AnswerItem(age, matters=age in {6, 7}) for age in reversed(range(9))]
    prices = Prices(0, lambda *_: 40, lambda *_: 0)
    shown = [spend(items, prices, Budget(10 * count)) for count in range(1, 10)]
    ages = [
        next(item.age for item, a, b in zip(items, old, new, strict=True) if a != b)
        for old, new in zip([[0] * 9, *shown], shown, strict=False)
    ]
    assert ages == [0, 6, 7, 1, 2, 3, 4, 5, 8]


def test_a_third_is_shown_whole_and_large_ones_last() -> None:
    items = [AnswerItem(age, forms=2, large=age == 0) for age in reversed(range(6))]
    prices = Prices(0, lambda _, form: 40 * form, lambda *_: 0)
    assert spend(items, prices, Budget(10 * 4)) == [0, 0, 1, 1, 1, 1]
    assert spend(items, prices, Budget(10 * 7)) == [1, 1, 1, 1, 2, 1]
    assert spend(items, prices, Budget(10 * 11)) == [2, 2, 2, 2, 2, 1]
    assert spend(items, prices, Budget(10 * 12)) == [2, 2, 2, 2, 2, 2]


def test_what_is_reserved_is_not_spent() -> None:
    prices = Prices(10, lambda *_: 10, lambda *_: 5)
    items = [AnswerItem(1), AnswerItem(0)]
    assert spend(items, prices, Budget(10, reserved=10)) == [1, 1]
    assert spend(items, prices, Budget(10, reserved=11)) == [0, 1]
    with pytest.raises(InvalidInputError, match="at least 9 tokens; 8 are too few"):
        spend(items, prices, Budget(8, reserved=11))


def test_gaps_are_what_lies_between_the_shown_ones() -> None:
    assert gaps([0, 0, 1, 2, 0, 1, 0]) == [Gap(0, 2), Gap(4, 1), Gap(6, 1)]
    assert gaps([]) == []

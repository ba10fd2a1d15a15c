"""Spending a token budget on the items of an answer.

Items are chosen by importance, and shown in their own order. A larger budget never
shows less of any of them.
"""

from __future__ import annotations

from bisect import bisect, insort

from wc_core.base.values import NamedTuple
from wc_core.reading.views.budget.tokens import Budget, too_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# An important item counts as much as another that is this many times newer.
_WEIGHT = 4
# If there are more items than room, one in this many of those shown is shown whole.
_SHARE = 3

LEFT_OUT = 0


class AnswerItem(NamedTuple):
    """An item of an answer: how many are newer, whether it ``matters`` more than its
    age suggests, and in how many ``forms`` it can be shown, from the shortest to the
    whole. A ``large`` one is shown whole only after all others are."""

    age: int
    matters: bool = False
    forms: int = 1
    large: bool = False


class Prices(NamedTuple):
    """Sizes in characters: ``frame`` of an answer without items, ``item(index, form)``
    of an item in a form, counted from 1, and ``gap(first, count)`` of the text that
    names consecutive items left out."""

    frame: int
    item: Callable[[int, int], int]
    gap: Callable[[int, int], int]


class Gap(NamedTuple):
    """Consecutive items left out: the index of the first, and their count."""

    first: int
    size: int


def spend(items: Sequence[AnswerItem], prices: Prices, budget: Budget) -> list[int]:
    """Returns the form of each item, `LEFT_OUT` for those that do not fit.

    At least one item is shown. Raises InvalidInputError, which gives the minimum, if
    the budget is too small for that.
    """
    room = budget.characters - prices.frame
    spending = _Spending(items, prices)
    steps: list[tuple[int, int]] = []
    affordable = -1 if items else 0
    least = 0 if not items else -1
    for index, form in _steps(items):
        if spending.forms[index] < form:
            steps.append((index, spending.show(index, form)))
        if least < 0 or spending.total < least:
            least = spending.total
        if spending.total <= room:
            affordable = len(steps)
        # The size of items only grows; the size of gaps may shrink again.
        if spending.used > max(room, least):
            break
    if affordable < 0 or least > room:
        raise too_small(budget, prices.frame + least)
    forms = [LEFT_OUT] * len(items)
    for index, form in steps[:affordable]:
        forms[index] = form
    return forms


def gaps(forms: Iterable[int]) -> list[Gap]:
    """Returns the gaps, in order."""
    runs: list[Gap] = []
    for index, form in enumerate(forms):
        if form != LEFT_OUT:
            continue
        if runs and runs[-1].first + runs[-1].size == index:
            runs[-1] = runs[-1]._replace(size=runs[-1].size + 1)
        else:
            runs.append(Gap(index, 1))
    return runs


def by_importance(items: Sequence[AnswerItem]) -> list[int]:
    """Returns the indices of items, most important first."""
    return sorted(range(len(items)), key=lambda index: _distance(items[index]))


def _steps(items: Sequence[AnswerItem]) -> list[tuple[int, int]]:
    """Returns the order in which items are shown, and shown whole."""
    order = by_importance(items)
    steps: list[tuple[int, int, int]] = []
    for rank, index in enumerate(order):
        item = items[index]
        steps.append((rank, 1, index))
        if item.forms > 1:
            delay = len(items) * _SHARE if item.large else 0
            steps.append((delay + _SHARE * (rank + 1) - 1, item.forms, index))
    return [(index, form) for _, form, index in sorted(steps)]


def _distance(item: AnswerItem) -> tuple[int, bool, int]:
    return (
        item.age // _WEIGHT if item.matters else item.age,
        not item.matters,
        item.age,
    )


class _Spending:
    """The forms chosen so far, and their size: ``used`` for the items alone."""

    def __init__(self, items: Sequence[AnswerItem], prices: Prices) -> None:
        self._items = items
        self._prices = prices
        self._visible = [-1, len(items)]
        self._gaps = prices.gap(0, len(items)) if items else 0
        self.forms = [LEFT_OUT] * len(items)
        self.used = 0

    @property
    def total(self) -> int:
        return self.used + self._gaps

    def show(self, index: int, form: int) -> int:
        """Show an item in a form, or whole if that is no longer. Returns the form."""
        price, whole = self._prices.item(index, form), self._items[index].forms
        if form < whole and (shorter := self._prices.item(index, whole)) <= price:
            form, price = whole, shorter
        if self.forms[index] == LEFT_OUT:
            self._split_gap(index)
        else:
            self.used -= self._prices.item(index, self.forms[index])
        self.forms[index] = form
        self.used += price
        return form

    def _split_gap(self, index: int) -> None:
        place = bisect(self._visible, index)
        before, after = self._visible[place - 1], self._visible[place]
        self._gaps -= self._gap(before, after)
        self._gaps += self._gap(before, index) + self._gap(index, after)
        insort(self._visible, index)

    def _gap(self, before: int, after: int) -> int:
        count = after - before - 1
        return self._prices.gap(before + 1, count) if count else 0

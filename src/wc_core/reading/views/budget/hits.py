"""The first hits of a search that fit into an answer."""

from __future__ import annotations

from wc_core.reading.views.budget.tokens import too_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sized
    from typing import Protocol, TypeVar

    from wc_core.reading.views.budget.tokens import Budget

    class _HasHits(Protocol):
        @property
        def hits(self) -> Sized: ...

    # Such as `wc_core.reading.views.search.answers.Hits`.
    Page = TypeVar("Page", bound=_HasHits)


def first_hits(
    ask: Callable[[int], Page], limit: int, size: Callable[[Page], int], budget: Budget
) -> Page:
    """Returns at most ``limit`` hits (0: all), and no more than fit. They are in the
    order of importance, and the cursor continues after the last one: so ``ask`` is
    called again with smaller limits. ``size`` returns an answer's size in characters.

    Raises InvalidInputError if not even one fits.
    """
    hits = ask(limit)
    if size(hits) <= budget.characters:
        return hits
    fewest = ask(1) if hits.hits else hits
    if size(fewest) > budget.characters:
        raise too_small(budget, size(fewest))
    low, high = 1, len(hits.hits)
    while high - low > 1:
        middle = (low + high) // 2
        fewer = ask(middle)
        if size(fewer) <= budget.characters:
            low, fewest = middle, fewer
        else:
            high = middle
    return fewest

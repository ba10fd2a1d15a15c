"""The threads of a digest that fit into an answer."""

from __future__ import annotations

from wc_core.reading.views.budget.spending import AnswerItem, by_importance
from wc_core.reading.views.budget.tokens import too_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.budget.tokens import Budget
    from wc_core.reading.views.news.digest import Digest, News


def fit_digest(
    digest: Digest, viewer: Viewer, size: Callable[[Digest], int], budget: Budget
) -> Digest:
    """Returns the digest with as many threads as fit: the latest, those with a decision
    and those whose ball the viewer has come first. ``size`` returns a digest's size in
    characters.

    Raises InvalidInputError if not even one thread fits.
    """
    if size(digest) <= budget.characters:
        return digest
    items = [
        AnswerItem(age, bool(news.decisions) or viewer.holds(news.row.ball))
        for age, news in enumerate(digest.threads)
    ]
    order = by_importance(items)
    low, high = min(1, len(order)), len(order)
    fewest = _part(digest, order[:low])
    if size(fewest) > budget.characters:
        raise too_small(budget, size(fewest))
    while high - low > 1:
        middle = (low + high) // 2
        fewer = _part(digest, order[:middle])
        if size(fewer) <= budget.characters:
            low, fewest = middle, fewer
        else:
            high = middle
    return fewest


def _part(digest: Digest, visible: list[int]) -> Digest:
    threads: list[News] = []
    left_out: list[str] = []
    for index, news in enumerate(digest.threads):
        if index in visible:
            threads.append(news)
        else:
            left_out.append(news.row.topic)
    return digest._replace(threads=tuple(threads), left_out=tuple(left_out))

"""The scores of words and of meaning, made one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    Item = TypeVar("Item")


def mixed(
    words: Mapping[Item, float], meaning: Mapping[Item, float], floor: float = 0.0
) -> dict[Item, float]:
    """Returns the mean of both scores, each as a part of the greatest of its kind.

    What has no score of words has none of them; what is not in ``meaning`` is no nearer
    than ``floor``, and counts as that near.
    """
    most_words = max(words.values(), default=0.0) or 1.0
    most_meaning = max(meaning.values(), default=0.0) or 1.0
    return {
        item: (
            words.get(item, 0.0) / most_words + meaning.get(item, floor) / most_meaning
        )
        / 2
        for item in {**words, **meaning}
    }

"""How near entries are to a query in meaning, in addition to the scores of their words.

`wc_core.reading.meaning` computes it if a person has a model.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from wc_core.ledger.threads.model import Entry

    Item = TypeVar("Item")
    EntryName = tuple[str, str]


def _always_current(_topic: str, _entry: Entry) -> bool:
    return True


# The part of a mixed score that comes from the words, relative to an entry with all of
# them. With a half, relative to the best entry, questions in other words found fewer
# threads with a small model than by words alone.
_WORDS_SHARE = 0.75


class Nearness(NamedTuple):
    """The nearness of the entries nearest to a query, by topic and id: 1 is the same
    meaning. All others are no nearer than ``floor``.

    ``is_current`` checks whether an entry still has the text that its score is for.
    ``missing`` counts the threads whose entries do not all have a vector. ``problem``
    is why nothing is known.
    """

    scores: Mapping[EntryName, float]
    floor: float = 0.0
    is_current: Callable[[str, Entry], bool] = _always_current
    missing: int = 0
    problem: str = ""


def mixed(
    words: Mapping[Item, float],
    meaning: Mapping[Item, float],
    floor: float,
    whole: float,
) -> dict[Item, float]:
    """Returns both scores as one. That of the words counts three quarters, as a
    fraction of ``whole``, the score of an entry with all of the words, or of the
    greatest. That of the meaning is a fraction of the greatest.

    An entry without a score of words has none of the words. An entry that is not in
    ``meaning`` is no nearer than ``floor``, and gets that value.
    """
    share = _WORDS_SHARE
    most_words = max(whole, *words.values(), 0.0) or 1.0
    most_meaning = max(meaning.values(), default=0.0)
    if most_meaning <= 0:
        most_meaning = 1.0
    return {
        item: share * words.get(item, 0.0) / most_words
        + (1 - share) * max(meaning.get(item, floor), 0.0) / most_meaning
        for item in {**words, **meaning}
    }

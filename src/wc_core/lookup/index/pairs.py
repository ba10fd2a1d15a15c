"""Pairs of common words, which are indexed so that phrases of them are found fast.

For a phrase, FTS5 reads the positions of each of its words in every entry that has the
word. Of *the page is* in 500,000 English entries, these are nearly all entries, three
times. So a file for many entries also has a word for each two common words that are
neighbours in a text, and a phrase of common words is looked for as a phrase of such
pairs: Lucene calls them common grams. Which words are common is determined once for
each file and never changes in it. Results do not depend on it: any set of words finds
the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Pairs begin with a character that no folded text has, so no other word is one, nor the
# beginning of one. By itself it is between pairs that are not neighbours in the text:
# in "a b X b c", the pair of a and b is not followed by that of b and c.
PAIR_MARK = "‡"


class CommonWords:
    """The words of which each two neighbours are indexed as a pair."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = frozenset(words)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._words)

    def pairs(self, words: Iterable[str]) -> list[str]:
        """Returns what is indexed of the words of a text in addition to them."""
        pairs: list[str] = []
        previous = ""
        for word in words:
            if word not in self._words:
                previous = ""
                continue
            if previous:
                pairs.append(f"{PAIR_MARK}{previous}{PAIR_MARK}{word}")
            elif pairs and pairs[-1] != PAIR_MARK:
                pairs.append(PAIR_MARK)
            previous = word
        return pairs

    def phrase(self, words: Sequence[str]) -> list[str]:
        """Returns the pairs that are neighbours exactly where these words are; none if
        not all of the words are common, or if there is only one."""
        return self.pairs(words) if self._words.issuperset(words) else []

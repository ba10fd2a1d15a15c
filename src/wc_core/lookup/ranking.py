"""How well an entry answers a natural-language question.

For such a question any of its words is enough, except those that nearly every sentence
has; and a word also stands for others with the same stem: *retries* finds *retry*.
There are two measures. `rough_score` needs to know only which terms are in an entry,
and whether in its title: an index can tell that about many entries. `exact_score`
follows BM25 (Robertson and Zaragoza, 2009), and needs the text. Both are whole numbers
that depend only on the entry and on `term_weights`: with the weights of a result, its
order can be computed again.
"""

from __future__ import annotations

from wc_core.ledger.threads.model import DECISION
from wc_core.lookup import words
from wc_core.lookup.mentions import recorded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.lookup.threadwords import ThreadWords
    from wc_core.lookup.words import Term

# A term in more entries than this does not make an entry a candidate, but adds to its
# score.
COMMON = 20_000
# Words of English questions that do not indicate a subject.
_STOP_WORDS = """
 a about after again all also am an and any are as at be because been before being but
 by can could did do does doing done down each few for from further get had has have
 having he her here hers him his how i if in into is it its just let me more most my no
 nor not of off on once only or other our ours out over own same she should so some such
 than that the their theirs them then there these they this those through to too under
 until up us very was we were what when where which while who whom whose why will with
 would you your yours """.replace("\n", "")
_ENDINGS = ("ies", "ing", "ed", "es", "ly", "y", "e", "s")
# The shortest stem; a word with fewer letters says little.
STEM_LENGTH = 4

# BM25: how fast a repeated word stops counting, and how much a long text is discounted.
_SATURATION, _LENGTH_DISCOUNT = 1.2, 0.75
# The length of a text, in words, that is neither long nor short. A constant, not the
# average of the store, so that new entries do not change old scores.
_USUAL_LENGTH = 300
_ENTRIES_PER_THREAD = 10
# Fields whose words say more about an entry than those of its body.
PROMINENT_FIELDS = ("title", "topic", "tag")
# The weight of a word in a field, relative to one in the body.
_TITLE, _NAMES, _RECORDED = 3, 2, 2
# The weight of an entry that records a decision.
_DECISION = 1.25
# The weights of terms are in thousandths. Scores that differ by less than a tenth of an
# even weight are equal: then the newest entry comes first.
_SCALE, _GRAIN = 1000, 100
# About the weight of a term that one entry in a thousand threads has.
_ABSENT = 9000


def loose_terms(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Returns the terms of which an entry needs only one: the stems of the words, and
    phrases unchanged. Stop words are ignored unless there is nothing else."""
    free = [term for term in terms if not term.field]
    telling = [term for term in free if not _says_nothing(term)] or free
    return tuple(dict.fromkeys(map(_loose, telling)))


def required_terms(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Returns the terms that every entry needs: those that name a field."""
    return tuple(term for term in terms if term.field)


def _says_nothing(term: Term) -> bool:
    if not term.prefix or len(term.words) > 1:
        return False
    return is_stop_word(term.words[0])


def is_stop_word(word: str) -> bool:
    """Returns whether a word, as in `plain_words`, is in every English sentence."""
    return f" {word} " in _STOP_WORDS


def _loose(term: Term) -> Term:
    if not term.prefix or len(term.words) > 1:
        return term
    return term._replace(words=(stem(term.words[0]),))


def stem(word: str) -> str:
    """Returns the beginning that an English word shares with its other forms; the word
    itself if it is short or in another script."""
    for ending in _ENDINGS:
        if word.isascii() and word.endswith(ending):
            shorter = word[: -len(ending)]
            if len(shorter) >= STEM_LENGTH and shorter.isalpha():
                return shorter
    return word


def term_weights(counts: Sequence[int], threads: int) -> tuple[int, ...]:
    """Returns the weight of each term, given how many entries have it in this many
    ``threads``: the fewer, the greater. At least 1, and 0 for a term that none has. One
    that more than `COMMON` have counts as if all had it."""
    from math import log  # 0.2 ms, saved by commands that do not search

    # BM25 has the number of entries here. That of threads is known without reading
    # them, and on real threads the factor hardly matters between 1 and 40.
    entries = _ENTRIES_PER_THREAD * threads
    return tuple(
        max(1, round(_SCALE * log(1 + entries / _usual_count(count, entries))))
        if count
        else 0
        for count in counts
    )


def _usual_count(count: int, entries: int) -> int:
    return count if count <= COMMON else max(count, entries)


def whole_score(weights: Sequence[int]) -> float:
    """Returns the score of an entry of the usual length that has every term once. A
    term that no entry has, with weight 0, counts as a rare one."""
    return sum(weight or _ABSENT for weight in weights) / _GRAIN


def even_weights(terms: Sequence[Term]) -> tuple[int, ...]:
    """Returns the same weight for each term: if all are in every entry, their rarity
    does not matter."""
    return (_SCALE,) * len(terms)


def chosen_terms(counts: Sequence[int]) -> tuple[bool, ...]:
    """Returns which terms make an entry a candidate: those that are not `COMMON`, or
    the rarest one if all are."""
    rare = [0 < count <= COMMON for count in counts]
    if any(rare) or not any(counts):
        return tuple(rare)
    rarest = counts.index(min(filter(None, counts)))
    return tuple(number == rarest for number in range(len(counts)))


def rough_score(weights: Sequence[int], places: Sequence[int]) -> int:
    """Returns a score from the place of each term: 0 nowhere, 1 somewhere in the entry,
    2 in its title or among the names and tags of its thread."""
    return sum(map(int.__mul__, weights, places))


class SearchedText:
    """The texts of an entry and of its thread in which terms are looked up."""

    def __init__(self, entry: Entry, thread: ThreadWords) -> None:
        self._fields = {
            "title": words.plain_words(entry.title),
            "body": words.plain_words(entry.body),
            "topic": words.plain_words(thread.names),
            "author": words.plain_words(entry.agent),
            "tag": words.plain_words(thread.tags),
        }
        self._recorded = words.plain_words(recorded(entry))
        self._is_decision = entry.any_kind == DECISION

    def has(self, term: Term) -> bool:
        """Returns whether the entry has a term."""
        return words.contains_term(term, self._fields)

    def has_in_title(self, term: Term) -> bool:
        """Returns whether the entry has a term in its title."""
        return term.needle in self._fields["title"]

    def mentions(self, term: Term) -> bool:
        """Returns whether the entry has a term where it mentions things."""
        texts = (self._fields["title"], self._fields["body"], self._recorded)
        return any(term.needle in text for text in texts)

    def places(self, terms: Iterable[Term]) -> tuple[int, ...]:
        """Returns the place of each term, see `rough_score`."""
        return tuple(map(self._place, terms))

    def _place(self, term: Term) -> int:
        if not self.has(term):
            return 0
        if term.field not in {"", *PROMINENT_FIELDS}:
            return 1
        return 1 + any(
            term.needle in self._fields[field]
            for field in PROMINENT_FIELDS
            if term.field in {"", field}
        )

    def exact_score(self, terms: Sequence[Term], weights: Sequence[int]) -> int:
        """Returns the score of an entry with some of the terms."""
        length = self._fields["body"].count(" ") / _USUAL_LENGTH
        slowness = _SATURATION * (1 - _LENGTH_DISCOUNT + _LENGTH_DISCOUNT * length)
        score = 0.0
        for term, weight in zip(terms, weights, strict=True):
            count = self._count(term)
            score += weight * count * (1 + _SATURATION) / (count + slowness)
        return round(score * (_DECISION if self._is_decision else 1) / _GRAIN)

    def _count(self, term: Term) -> int:
        """How often the entry has a term, with more weight for prominent fields."""
        counts = {
            field: text.count(term.needle) for field, text in self._fields.items()
        }
        if term.field:
            return counts[term.field]
        return (
            counts["body"]
            + counts["author"]
            + _TITLE * counts["title"]
            + _NAMES * (counts["topic"] + counts["tag"])
            + _RECORDED * self._recorded.count(term.needle)
        )

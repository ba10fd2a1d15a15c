"""The part of a text that a hit shows, with the words that match."""

from __future__ import annotations

import unicodedata

from wc_core.lookup.words import SEPARATORS, fold_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_core.lookup.words import Term

# Longer words are cut in excerpts, and marked only in part.
_LONGEST_WORD = 40


def mark_terms(
    text: str, terms: Iterable[Term], around: int, marks: tuple[str, str] = ("«", "»")
) -> str:
    """Returns one line of a text around its first match, with every word that matches
    between the ``marks``; the beginning of the text if nothing matches. An ellipsis
    stands for what is left out; words are cut only if they are very long."""
    spans = sorted(_spans(text, terms))
    if not spans:
        stop = _word_end(text, 0, 2 * around)
        return _one_line([text[:stop]], is_cut_after=stop < len(text))
    start = _word_start(text, spans[0][0] - around, spans[0][0])
    stop = _word_end(text, spans[0][1], spans[0][1] + around)
    parts, at = [], start
    for begin, end in spans:
        if at <= begin and end <= stop:
            parts += [text[at:begin], f"{marks[0]}{text[begin:end]}{marks[1]}"]
            at = end
    parts.append(text[at:stop])
    return _one_line(
        parts,
        is_cut_before=bool(text[:start].strip()),
        is_cut_after=stop < len(text),
    )


def _one_line(
    parts: Iterable[str], *, is_cut_before: bool = False, is_cut_after: bool = False
) -> str:
    line = " ".join("".join(parts).split())
    return f"{'… ' if is_cut_before else ''}{line}{' …' if is_cut_after else ''}"


def _word_start(text: str, start: int, most: int) -> int:
    """Returns where the first whole word from ``start`` on begins, at most ``most``;
    ``start`` if no word begins within the length of a word."""
    if start <= 0:
        return 0
    for place in range(start, min(most, start + _LONGEST_WORD) + 1):
        if text[place - 1].isspace():
            return place
    return start


def _word_end(text: str, least: int, stop: int) -> int:
    """Returns where the last whole word before ``stop`` ends, at least ``least``;
    ``stop`` if no word ends within the length of a word."""
    if not text[stop:].strip():
        return len(text)
    for place in range(stop, max(least, stop - _LONGEST_WORD) - 1, -1):
        if text[place].isspace():
            return place
    return stop


def _spans(text: str, terms: Iterable[Term]) -> set[tuple[int, int]]:
    """Returns the positions in a text of the words that match the terms."""
    form, begins, ends = _aligned(text)
    return {
        (begins[begin], ends[end - 1])
        for term in terms
        for begin, end in _occurrences(form, term)
    }


def _occurrences(form: str, term: Term) -> Iterator[tuple[int, int]]:
    """Yields where a term begins and ends in a folded text."""
    begin = form.find(term.words[0])
    while begin >= 0:
        end = _end_of(form, begin, term)
        if end:
            yield begin, end
        begin = form.find(term.words[0], end or begin + 1)


def _end_of(form: str, begin: int, term: Term) -> int:
    """Returns where the words end that match a term whose first word is at ``begin`` in
    a folded text; 0 if the others do not follow, or the text's words are longer."""
    if begin and form[begin - 1] not in SEPARATORS:
        return 0
    first, *further_words = term.words
    end = begin + len(first)
    for word in further_words:
        gap, end = end, _next_word(form, end)
        if end == gap or not form.startswith(word, end):
            return 0
        end += len(word)
    whole = _end_of_word(form, end)
    return whole if term.prefix or whole == end else 0


def _end_of_word(form: str, place: int) -> int:
    """Returns where the word at ``place`` in a folded text ends; of a very long one,
    only a part."""
    most = min(len(form), place + _LONGEST_WORD)
    while place < most and form[place] not in SEPARATORS:
        place += 1
    return place


def _next_word(form: str, place: int) -> int:
    """Returns where the separators at ``place`` in a folded text end."""
    while place < len(form) and form[place] in SEPARATORS:
        place += 1
    return place


def _aligned(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Returns a text in its folded form, and where the original of each of its
    characters begins and ends in the text."""
    if text.isascii():
        return text.lower(), range(len(text)), range(1, len(text) + 1)
    form: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    begin = 0
    while begin < len(text):
        end = begin + 1
        while end < len(text) and _continues(text[end]):
            end += 1
        replacement = fold_text(text[begin:end])
        form.append(replacement)
        begins += [begin] * len(replacement)
        ends += [end] * len(replacement)
        begin = end
    return "".join(form), begins, ends


def _continues(char: str) -> bool:
    """Returns whether a character belongs to the one before it: an accent, or a vowel
    or final consonant of a Korean syllable in parts."""
    return char >= "\u0300" and (
        unicodedata.combining(char) > 0 or "\u1160" <= char <= "\u11ff"
    )

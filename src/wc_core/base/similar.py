"""Finds similar names, one of which may be a typing error."""

from __future__ import annotations

from wc_core.base.names import fold

# Shorter topics differ in one letter from too many others.
_LEAST_LENGTH = 4
_CUTOFF = 0.6


def near_names(name: str, names: list[str], limit: int = 3) -> list[str]:
    """The names most similar to ``name``, the most similar first."""
    import difflib  # 0.8 ms, only for errors

    folded = {fold(candidate): candidate for candidate in names}
    close = difflib.get_close_matches(fold(name), folded, limit, _CUTOFF)
    return [folded[candidate] for candidate in close]


def are_similar(first: str, second: str) -> bool:
    """Whether one of two topics may be a typing error for the other.

    They are equal except for separators, or differ in one letter or in two swapped
    ones. Topics with different numbers are different on purpose.
    """
    plain_first, plain_second = _without_separators(first), _without_separators(second)
    if plain_first == plain_second:
        return True
    lengths = len(plain_first), len(plain_second)
    if min(lengths) < _LEAST_LENGTH or max(lengths) - min(lengths) > 1:
        return False
    return _one_letter_apart(plain_first, plain_second)


def _without_separators(topic: str) -> str:
    # Faster than a loop: a new topic is compared with all others.
    return topic.replace("-", "").replace("_", "").replace(".", "")


def _one_letter_apart(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    a, b = short[start:], long[start:]
    if any(c.isdigit() for c in (a[:1], b[:1]) if c):
        return False
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
    return b[1:] == a

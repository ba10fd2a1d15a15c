"""When names are so alike that one may be a slip for the other."""

from __future__ import annotations

from wc_core.names import fold

# Shorter topics are one letter apart from too many others.
_LEAST_LENGTH = 4
_CUTOFF = 0.6


def near_names(wanted: str, known: list[str], limit: int = 3) -> list[str]:
    """The names most like ``wanted``, the nearest first."""
    import difflib  # only errors need it

    folded = {fold(one): one for one in known}
    close = difflib.get_close_matches(fold(wanted), folded, limit, _CUTOFF)
    return [folded[one] for one in close]


def nearly(one: str, other: str) -> bool:
    """Whether two topics are so alike that one of them may be a slip: equal
    but for separators, or one letter away. Numbers that differ are meant."""
    plain, wanted = (
        "".join(c for c in text if c not in "-_.") for text in (one, other)
    )
    if plain == wanted:
        return True
    if min(len(plain), len(wanted)) < _LEAST_LENGTH:
        return False
    return _one_letter_apart(plain, wanted)


def _one_letter_apart(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    a, b = short[start:], long[start:]
    if any(c.isdigit() for c in (a[:1], b[:1]) if c):
        return False
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
    return b[1:] == a

"""What became of one thing on two sides: keys and lines, merged three-way.

Where both sides changed the same, theirs counts, or both, as is asked for.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Lines: TypeAlias = list[bytes]
    # What stands for two versions of the same lines: ours, theirs.
    Resolve: TypeAlias = Callable[[Lines, Lines], Lines]

_ABSENT = object()
# Comparing takes time that grows with the square of repeated lines.
MAX_LINES = 20_000


class Keys(NamedTuple):
    """Merged keys, and whether something of ours is not among them."""

    values: dict[str, Any]
    outvoted: bool


def merge_keys(
    base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Keys:
    """The keys of an object, each merged for itself and what is in it likewise.

    Of a key that both changed theirs counts; one that was changed is not
    deleted. The order is theirs, followed by what only we have.
    """
    values: dict[str, Any] = {}
    outvoted = False
    for key in [*theirs, *(one for one in ours if one not in theirs)]:
        three = [side.get(key, _ABSENT) for side in (base, ours, theirs)]
        value, lost = _merge_value(*three)
        outvoted = outvoted or lost
        if value is not _ABSENT:
            values[key] = value
    return Keys(values, outvoted)


def _merge_value(base: Any, ours: Any, theirs: Any) -> tuple[Any, bool]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return merge_keys(base if isinstance(base, dict) else {}, ours, theirs)
    if _same(ours, theirs) or _same(base, theirs):
        return ours, False
    if ours is _ABSENT or _same(base, ours):
        return theirs, False
    return (ours, False) if theirs is _ABSENT else (theirs, True)


def _same(one: Any, other: Any) -> bool:
    # Not by `==`: 1, 1.0 and true are three values.
    return repr(one) == repr(other)


def lines_of(data: bytes) -> Lines:
    """The lines of a file with their ends, which are line feeds and no others."""
    return io.BytesIO(data).readlines()


def ended(lines: Lines) -> Lines:
    """The same lines, the last one ended as well."""
    if lines and not lines[-1].endswith(b"\n"):
        return [*lines[:-1], lines[-1] + b"\n"]
    return lines


def both(ours: Lines, theirs: Lines) -> Lines:
    """Ours and then theirs, as wholes: what lines mean may depend on those
    around them."""
    small, large = sorted((ours, theirs), key=len)
    if small in (large[: len(small)], large[len(large) - len(small) :]):
        return large
    return [*ended(ours), *theirs]


def both_once(ours: Lines, theirs: Lines) -> Lines:
    """Ours and then theirs; what they begin with alike is there once."""
    alike = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        alike += 1
    return [*theirs[:alike], *both(ours[alike:], theirs[alike:])]


def only_theirs(_: Lines, theirs: Lines) -> Lines:
    """Theirs."""
    return theirs


def merge_lines(resolve: Resolve, base: Lines, ours: Lines, theirs: Lines) -> Lines:
    """Lines with what either side changed; ``resolve`` says what stands where
    both changed the same ones."""
    merged: Lines = []
    at_base = at_ours = at_theirs = 0
    for start, length, in_ours, in_theirs in _unchanged(base, ours, theirs):
        old = base[at_base:start]
        mine, other = ours[at_ours:in_ours], theirs[at_theirs:in_theirs]
        if old == other:
            merged += mine
        elif mine in (old, other):
            merged += other
        else:
            merged += resolve(mine, other)
        merged += base[start : start + length]
        at_base = start + length
        at_ours, at_theirs = in_ours + length, in_theirs + length
    return merged


def _unchanged(
    base: Lines, ours: Lines, theirs: Lines
) -> Iterator[tuple[int, int, int, int]]:
    """Runs of lines that all three have: where in base, how many, where in
    ours and in theirs. The last is empty and at the end of all."""
    from difflib import SequenceMatcher  # rarely needed, and slow to import

    mine = SequenceMatcher(None, base, ours).get_matching_blocks()
    other = SequenceMatcher(None, base, theirs).get_matching_blocks()
    one = two = 0
    while one < len(mine) and two < len(other):
        a, b = mine[one], other[two]
        start = max(a.a, b.a)
        end = min(a.a + a.size, b.a + b.size)
        if start < end:
            yield start, end - start, a.b + start - a.a, b.b + start - b.a
        if a.a + a.size < b.a + b.size:
            one += 1
        else:
            two += 1
    yield len(base), 0, len(ours), len(theirs)

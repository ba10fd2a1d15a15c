"""Three-way merges of keys and of lines.

If both sides changed the same key, theirs wins. For lines, the caller chooses.
"""

from __future__ import annotations

import io

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, TypeAlias

    Lines: TypeAlias = list[bytes]
    # Returns the lines that replace two versions of the same lines: ours, theirs.
    Resolve: TypeAlias = Callable[[Lines, Lines], Lines]

_ABSENT = object()
# A comparison takes time quadratic in the repeated lines.
MAX_LINES = 20_000


class Keys(NamedTuple):
    """Merged keys, and whether they lack something of ours."""

    values: dict[str, Any]
    outvoted: bool


def merge_keys(
    base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Keys:
    """Merge objects key by key, and the objects in them likewise.

    If both changed a key, theirs wins; a key that one side changed is not deleted. The
    order is theirs, followed by the keys that only we have.
    """
    values: dict[str, Any] = {}
    outvoted = False
    for key in [*theirs, *(key for key in ours if key not in theirs)]:
        three = [side.get(key, _ABSENT) for side in (base, ours, theirs)]
        value, lost = _merge_value(*three)
        outvoted = outvoted or lost
        if value is not _ABSENT:
            values[key] = value
    return Keys(values, outvoted)


def _merge_value(base: Any, ours: Any, theirs: Any) -> tuple[Any, bool]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return merge_keys(base if isinstance(base, dict) else {}, ours, theirs)
    if _is_same(ours, theirs) or _is_same(base, theirs):
        return ours, False
    if ours is _ABSENT or _is_same(base, ours):
        return theirs, False
    return (ours, False) if theirs is _ABSENT else (theirs, True)


def _is_same(value: Any, second: Any) -> bool:
    # Not by `==`, for which 1, 1.0 and true are equal.
    return repr(value) == repr(second)


def split_lines(data: bytes) -> Lines:
    """The lines of a file with their ends; only a line feed ends a line."""
    return io.BytesIO(data).readlines()


def with_line_end(lines: Lines) -> Lines:
    """The same lines, with a line feed after the last one."""
    if lines and not lines[-1].endswith(b"\n"):
        return [*lines[:-1], lines[-1] + b"\n"]
    return lines


def keep_both(ours: Lines, theirs: Lines) -> Lines:
    """Ours, then theirs, as whole blocks: a line may depend on those around it."""
    small, large = sorted((ours, theirs), key=len)
    if small in (large[: len(small)], large[len(large) - len(small) :]):
        return large
    return [*with_line_end(ours), *theirs]


def keep_both_once(ours: Lines, theirs: Lines) -> Lines:
    """Ours, then theirs, with their common first lines only once."""
    common = 0
    for our_line, their_line in zip(ours, theirs, strict=False):
        if our_line != their_line:
            break
        common += 1
    return [*theirs[:common], *keep_both(ours[common:], theirs[common:])]


def keep_theirs(_: Lines, theirs: Lines) -> Lines:
    """Theirs."""
    return theirs


def merge_lines(resolve: Resolve, base: Lines, ours: Lines, theirs: Lines) -> Lines:
    """Merge the lines that either side changed; ``resolve`` decides if both changed the
    same ones."""
    merged: Lines = []
    at_base = at_ours = at_theirs = 0
    for start, length, in_ours, in_theirs in _common_runs(base, ours, theirs):
        old = base[at_base:start]
        our_lines, their_lines = ours[at_ours:in_ours], theirs[at_theirs:in_theirs]
        if old == their_lines:
            merged += our_lines
        elif our_lines in (old, their_lines):
            merged += their_lines
        else:
            merged += resolve(our_lines, their_lines)
        merged += base[start : start + length]
        at_base = start + length
        at_ours, at_theirs = in_ours + length, in_theirs + length
    return merged


def _common_runs(
    base: Lines, ours: Lines, theirs: Lines
) -> Iterator[tuple[int, int, int, int]]:
    """The runs of lines that all three have: the start in base, the length, the start
    in ours and in theirs. The last run is empty and at the end of all."""
    from difflib import SequenceMatcher  # 1 ms, only where both sides changed a file

    our_blocks = SequenceMatcher(None, base, ours).get_matching_blocks()
    their_blocks = SequenceMatcher(None, base, theirs).get_matching_blocks()
    i = j = 0
    while i < len(our_blocks) and j < len(their_blocks):
        a, b = our_blocks[i], their_blocks[j]
        start = max(a.a, b.a)
        end = min(a.a + a.size, b.a + b.size)
        if start < end:
            yield start, end - start, a.b + start - a.a, b.b + start - b.a
        if a.a + a.size < b.a + b.size:
            i += 1
        else:
            j += 1
    yield len(base), 0, len(ours), len(theirs)

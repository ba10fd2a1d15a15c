"""Whether a title fits the patterns of a repository.

The patterns are those of file names: ``*`` is any text, ``?`` one character, ``[ab]``
one of these. Not regular expressions: some of those take forever on a title that
someone else wrote, and no check can detect them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def fits(title: str, patterns: Sequence[str]) -> bool:
    """Whether a title fits one of the patterns, or there is none."""
    if not patterns:
        return True
    from fnmatch import fnmatchcase  # 1 ms, only where there is such a rule

    return any(fnmatchcase(title, pattern) for pattern in patterns)

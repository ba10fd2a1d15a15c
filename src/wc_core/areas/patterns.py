"""Whether a path or a branch belongs to an area."""

from __future__ import annotations

from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    # The patterns of each area.
    Areas = Mapping[str, Sequence[str]]

_BRANCH = "branch:"
_ANY_FOLDERS = "**"


def areas_of(paths: Iterable[str], branch: str, areas: Areas) -> tuple[str, ...]:
    """The areas that any of these paths, or the branch, belongs to."""
    parts = [path.strip("/").split("/") for path in paths]
    return tuple(
        area
        for area, patterns in areas.items()
        if any(_fits(pattern, parts, branch) for pattern in patterns)
    )


def _fits(pattern: str, paths: Iterable[Sequence[str]], branch: str) -> bool:
    if pattern.startswith(_BRANCH):
        return branch != "" and fnmatchcase(branch, pattern.removeprefix(_BRANCH))
    words = pattern.strip("/").split("/")
    return any(_covers(words, path) for path in paths)


def _covers(words: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a pattern, word by word, matches a path or a folder that it is in."""
    # The positions of names that the words up to here can match.
    reached = {0}
    for word in words:
        if word == _ANY_FOLDERS:
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {
                count + 1
                for count in reached
                if count < len(path) and fnmatchcase(path[count], word)
            }
        if not reached:
            return False
    return True

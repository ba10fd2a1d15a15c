"""The commits that were made in a worktree, from git's log of HEAD."""

from __future__ import annotations

from wc_core.lean import os
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_BYTES = 1 << 16
_MAX_COMMITS = 20
_MERGE = b"commit (merge)"


class HeadMove(NamedTuple):
    """A commit that moved HEAD, and where HEAD was before."""

    before: str
    id: str


def length(gitdir: str) -> int:
    """The length of a worktree's log; 0 if there is none."""
    try:
        return os.path.getsize(_path(gitdir))
    except OSError:
        return 0


def commits_after(gitdir: str, length_before: int) -> list[HeadMove]:
    """The latest commits since the log had that length. Other moves of HEAD, such as
    those of a merge, bring changes that others have made."""
    try:
        with open(_path(gitdir), "rb") as file:
            file.seek(length_before)
            lines = file.read(_MAX_BYTES).splitlines()
    except OSError:
        return []
    return list(_commits(lines))[-_MAX_COMMITS:]


def _path(gitdir: str) -> str:
    return f"{gitdir}/logs/HEAD"


def _commits(lines: list[bytes]) -> Iterator[HeadMove]:
    for line in lines:
        heading, _, message = line.partition(b"\t")
        ids = heading.split(b" ", 2)[:2]
        if message.startswith(b"commit") and not message.startswith(_MERGE):
            before, commit_id = (value.decode("ascii", "replace") for value in ids)
            if before.isalnum() and before.strip("0") and commit_id.isalnum():
                yield HeadMove(before, commit_id)

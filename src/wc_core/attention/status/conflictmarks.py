"""The mark of a conflict for the status line: ``.local/hot/<worktree>`` of the store.

The folder has a file for each worktree that will conflict with another: the text to
show, and git's name of the other worktree. The main one is called ``=main``::

    auth.py with Codex@review
    review

`wc_cli.edits.radar` writes it with the radar. A commit in either worktree, later than
the file, may have changed the answer, so the mark is not shown until the next radar.
A kept line is outdated if one of these changed.
"""

from __future__ import annotations

import os

from wc_core.attention.status.identityfiles import MAIN_WORKTREE
from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.edits.radar.model import Radar
    from wc_core.ledger.git.repository import Repository

MAX_TEXT = 80
_MAX_BYTES = 1 << 12


class ConflictMark(NamedTuple):
    """The text about a worktree's conflicts in its line, and git's name of the other
    worktree; empty for the main one."""

    text: str = ""
    other_id: str = ""

    def encode(self) -> bytes:
        """The bytes of the file."""
        name = self.other_id or MAIN_WORKTREE
        return f"{self.text}\n{name}\n".encode(errors="replace")


class ShownConflict(NamedTuple):
    """The text of a mark, and git's logs of commits in the two worktrees: it is true
    until one of them is written to. Both are empty without a mark."""

    text: str = ""
    logs: tuple[str, ...] = ()


def mark_of(radar: Radar, side: int, now_ms: int) -> ConflictMark | None:
    """The mark of one side of a radar; ``None`` if there will be no conflict."""
    alarms = radar.alarms(side, now_ms)
    if not alarms:
        return None
    opposite, file = alarms[0]
    name = file.path.rpartition("/")[2]
    suffix = f" +{len(alarms) - 1}" if len(alarms) > 1 else ""
    text = one_line(f"{name} with {opposite.label}", MAX_TEXT - len(suffix))
    return ConflictMark(f"{text}{suffix}", opposite.worktree_id)


def load(layout: Layout, repository: Repository) -> ShownConflict:
    """What to show about a worktree's conflicts; nothing if there are none, or if a
    commit was made since."""
    path = layout.conflict_mark(repository.worktree_id or MAIN_WORKTREE)
    try:
        written = os.lstat(path).st_mtime_ns
        data = read_plain(path, layout.root, _MAX_BYTES) or b""
    except (OSError, WcError):
        return ShownConflict()
    lines = data.decode(errors="replace").split("\n")
    if len(lines) <= _LINES or not lines[0]:
        return ShownConflict()
    opposite = "" if lines[1] == MAIN_WORKTREE else f"/worktrees/{lines[1]}"
    logs = (
        f"{repository.gitdir}/logs/HEAD",
        f"{repository.common}{opposite}/logs/HEAD",
    )
    if any(_modified_ns(log) > written for log in logs):
        return ShownConflict()
    return ShownConflict(one_line(lines[0], MAX_TEXT), logs)


_LINES = 2


def _modified_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0

"""The balls whose files changed lately, where someone holds thousands.

The hook of a prompt needs the balls whose files changed since the last prompt. Looking
at the times of 5,000 files takes 11 ms. So there is a record, a file to which every
command adds a line before it writes or removes a ball's file. The first line is
`HEADER` and when the record began. Each of the others has the time, when the ball's
folder last changed, the length of what follows, and the folder and the name of the
ball's file. Times are in nanoseconds since 1970.

    watercooler changes 1 1795687200000000000
    1795687260000000000 1795687201000000000 42 codex(pat)/01M5Y25881X33X5W9XCZ….auth

The record is not used for a folder that has changed at any time other than just after
one of its lines: a program, such as an older wc, added no line then, or was stopped
between its line and its change. Changes before the requested time do not matter. A
record that has become too long is not used at all, and the next hook starts a new one.
"""

from __future__ import annotations

import os
import time

from wc_core.files import read_plain
from wc_core.text import whole_number
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.layout import Layout

HEADER = "watercooler changes 1"
MAX_BYTES = 1 << 15
# The folder of the folders of holders, in the paths of balls' files.
HOLDERS = "status/holder/"
# A record is complete only some time after its beginning: file times are coarser than
# our clock, and a command may have looked for the record just before.
_MARGIN_NS = 2_000_000_000
# A change this long after its line is treated as one without a line.
_SOON_NS = 100_000_000
_MAX_DIGITS = 20


class BallChange(NamedTuple):
    """An announced change of a ball's file: the time, when its folder had changed
    before that, and the folder of its holder and its name there."""

    at_ns: int
    before_ns: int
    folder: str
    name: str


class BallChanges(NamedTuple):
    """The changes since a record began."""

    began_ns: int
    changes: tuple[BallChange, ...]

    def names(self, folder: str, since_ns: int, changed_ns: int) -> set[str] | None:
        """Returns the names of all balls in the folder of a holder whose files may have
        changed since then. ``changed_ns`` is when the folder itself last changed, by
        the time that no program can set (``st_ctime_ns``).

        ``None`` if the record began too late, or may lack a change.
        """
        if since_ns - _MARGIN_NS < self.began_ns:
            return None
        # Also those with an old line: a change may come long after its line.
        own = [change for change in self.changes if change.folder == folder]
        latest_ns = self.began_ns
        for change in own:
            is_announced = change.before_ns <= latest_ns + _SOON_NS
            if not is_announced and change.before_ns >= since_ns:
                return None
            latest_ns = max(latest_ns, change.at_ns)
        if changed_ns > latest_ns + _SOON_NS:
            return None
        return {change.name for change in own}


def load(layout: Layout) -> BallChanges | None:
    """Returns the record; ``None`` if it is missing, damaged or too long, or if the
    clock was set back since it was written."""
    try:
        data = read_plain(layout.ball_changes, layout.root, MAX_BYTES) or b""
    except OSError:
        return None
    # As in the names that a listing has.
    *lines, unfinished = data.decode(errors="surrogateescape").split("\n")
    header, _, began = lines[0].rpartition(" ") if lines else ("", "", "")
    began_ns = whole_number(began, _MAX_DIGITS)
    if header != HEADER or began_ns is None or unfinished:
        return None
    changes = [_change_in(line) for line in lines[1:]]
    latest_ns = max((change.at_ns for change in changes if change), default=began_ns)
    if None in changes or latest_ns > time.time_ns() + _MARGIN_NS:
        return None
    return BallChanges(began_ns, tuple(filter(None, changes)))


def _change_in(line: str) -> BallChange | None:
    """Returns the change in a line; ``None`` for a damaged one."""
    at, _, line = line.partition(" ")
    before, _, line = line.partition(" ")
    size, _, path = line.partition(" ")
    numbers = (whole_number(text, _MAX_DIGITS) for text in (at, before, size))
    at_ns, before_ns, length = numbers
    folder, _, name = path.partition("/")
    if at_ns is None or before_ns is None or length != len(path) or not name:
        return None
    return BallChange(at_ns, before_ns, folder, name)


def names_since(
    layout: Layout, folder: str, since_ns: int, changed_ns: int
) -> set[str] | None:
    """Returns the result of `BallChanges.names`, ``None`` if there is no record."""
    record = load(layout)
    return None if record is None else record.names(folder, since_ns, changed_ns)


def first_line(now_ns: int) -> bytes:
    """Returns the content of a record that begins now."""
    return f"{HEADER} {now_ns}\n".encode()


def render(layout: Layout, paths: Iterable[str], now_ns: int) -> bytes:
    """Returns the lines for the next changes of the files at these paths, relative to
    ``.local``; only of balls."""
    lines = []
    for path in paths:
        if path.startswith(HOLDERS):
            try:
                folder = f"{layout.local}/{path.rpartition('/')[0]}"
                before_ns = os.lstat(folder).st_ctime_ns
            except OSError:
                before_ns = 0  # the holder's first ball
            place = path.removeprefix(HOLDERS)
            lines.append(f"{now_ns} {before_ns} {len(place)} {place}\n")
    return "".join(lines).encode(errors="surrogateescape")

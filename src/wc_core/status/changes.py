"""The balls whose files changed lately, where someone holds thousands.

A prompt needs the balls whose files changed since the last one. Looking at the times of
5,000 files takes 11 ms. So the command line keeps a record in a file, to which each
change of a ball's file adds a line before it happens. The first line is `HEADER` and
when the record began; the others have the time of the change, when its folder changed
before that, and the folder and the name of the ball's file. Times are in nanoseconds
since 1970.

    watercooler changes 1 1795687200000000000
    1795687260000000000 1795687201000000000 codex(pat)/01M5Y25881X33X5W9XCZCETSWK.auth

A folder that changed long after one of its lines, before the next one, was changed by a
program that adds none, such as an older wc. The record does not count for it then. A
record that has become too long does not count at all, and is begun again after the next
hook.
"""

from __future__ import annotations

from wc_core.files import read_plain
from wc_core.lean import os
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
# File times are coarser than our clock, and a line is older than its change.
_MARGIN_NS = 2_000_000_000
_MAX_DIGITS = 20


class BallChange(NamedTuple):
    """A change of a ball's file: when, when its folder changed before that, in ns since
    1970, and the folder of its holder and its name there."""

    at_ns: int
    before_ns: int
    folder: str
    name: str


class BallChanges(NamedTuple):
    """The changes since a record began, in nanoseconds since 1970."""

    began_ns: int
    changes: tuple[BallChange, ...]

    def names(self, folder: str, since_ns: int, changed_ns: int) -> set[str] | None:
        """Returns the result of `names_since`."""
        if since_ns - _MARGIN_NS < self.began_ns:
            return None
        names, latest_ns = set(), self.began_ns
        for change in self.changes:
            if change.folder != folder:
                continue
            is_unrecorded = change.before_ns > latest_ns + _MARGIN_NS
            if is_unrecorded and change.before_ns >= since_ns:
                return None
            latest_ns = max(latest_ns, change.at_ns)
            if change.at_ns >= since_ns - _MARGIN_NS:
                names.add(change.name)
        return None if changed_ns > latest_ns + _MARGIN_NS else names


def load(layout: Layout) -> BallChanges | None:
    """Returns the record; ``None`` if it is missing, damaged or too long."""
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
    changes = []
    for line in lines[1:]:
        at, _, remainder = line.partition(" ")
        before, _, path = remainder.partition(" ")
        folder, _, name = path.partition("/")
        at_ns, before_ns = (whole_number(time, _MAX_DIGITS) for time in (at, before))
        if at_ns is None or before_ns is None or not name:
            return None
        changes.append(BallChange(at_ns, before_ns, folder, name))
    return BallChanges(began_ns, tuple(changes))


def names_since(
    layout: Layout, folder: str, since_ns: int, changed_ns: int
) -> set[str] | None:
    """Returns the names of all balls in the folder of a holder whose files may have
    changed since then, ns since 1970. ``changed_ns`` is when the folder last changed.

    ``None`` if there is no record, it began too late, or it lacks the last change.
    """
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
                before_ns = os.lstat(folder).st_mtime_ns
            except OSError:
                before_ns = 0  # the holder's first ball
            lines.append(f"{now_ns} {before_ns} {path.removeprefix(HOLDERS)}\n")
    return "".join(lines).encode(errors="surrogateescape")

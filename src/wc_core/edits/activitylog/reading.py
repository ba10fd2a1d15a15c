"""Reading the log of a store: the current notes, and when they were fetched."""

from __future__ import annotations

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.edits.activitylog import record
from wc_core.edits.claims import sessions
from wc_core.people.activity import presence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.edits.activitylog.record import Announcement
    from wc_core.people.activity.presence import Note

_CLONE_DIGITS = 16
_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError),
)


class ActivityLog(NamedTuple):
    """The current notes, latest first. ``clone`` is the id of this clone; ``as_of_ms``
    is when those of others were last fetched, ``None`` if never."""

    announcements: tuple[Announcement, ...] = ()
    clone: str = ""
    as_of_ms: int | None = None


def read(layout: Layout, now_ms: int) -> ActivityLog:
    """Read the log of a store. Unreadable lines are left out."""
    data = log_bytes(layout)
    if not data:
        return ActivityLog()
    current = [
        announcement
        for announcement in record.fold(data).values()
        if announcement.is_current(now_ms) and is_running(announcement.note)
    ]
    current.sort(key=lambda announcement: announcement.id, reverse=True)
    return ActivityLog(tuple(current), clone_id(layout), _as_of_ms(layout))


def log_bytes(layout: Layout) -> bytes:
    """The bytes of the log; empty if there is none that can be read."""
    try:
        return read_plain(layout.activity_log, layout.root, record.MAX_BYTES) or b""
    except OSError:
        return b""


def clone_id(layout: Layout) -> str:
    """The id of this clone; empty if it has none."""
    try:
        data = read_plain(layout.activity_clone, layout.root, _CLONE_DIGITS + 1)
        text = (data or b"").decode("ascii").strip()
    except (OSError, ValueError):
        return ""
    return text


def _as_of_ms(layout: Layout) -> int | None:
    try:
        data = read_plain(layout.activity_fetched, layout.root, record.MAX_LINE_BYTES)
        return int(json.loads(data or b"null")["at_ms"])
    except _UNREADABLE:
        return None


def is_running(note: Note) -> bool:
    """Whether the session of a note has not ended, as far as this machine knows."""
    return sessions.state(note.session) != sessions.ENDED


def current_notes(layout: Layout, now_ms: int) -> list[Note]:
    """The current notes of this clone, with the paths of their worktrees."""
    return [note for note in presence.current_notes(layout, now_ms) if is_running(note)]

"""The lines of the log, and how the logs of two clones are merged.

A line is a JSON object: the fields of a note (`wc_core.people.activity.presence`, with
the name of the worktree instead of its path), and ``id``, a ULID, and ``clone``, the
clone that wrote it. A note of 0 seconds ends the previous one. The log is the set of
its lines: a union is sorted by id, so every clone gets the same bytes, in whatever
order it merges. The line with the greatest id of each participant counts.
"""

from __future__ import annotations

from wc_core.base.lean import json
from wc_core.base.names import parse
from wc_core.base.text import is_hexadecimal, one_line
from wc_core.base.ulid import LENGTH, prefix, timestamp_ms
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import ids
from wc_core.ledger.threads.vocabulary import MAX_LASTING
from wc_core.people.activity import presence
from wc_core.people.activity.presence import MAX_SCOPE, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The longest that any note may last.
KEPT_MS = MAX_LASTING * 1000
# A line from a clock that is further ahead than this is dropped.
AHEAD_MS = 24 * 3600 * 1000
MAX_LINES = 500
MAX_LINE_BYTES = 8192
MAX_BYTES = MAX_LINES * MAX_LINE_BYTES

_CLONE_DIGITS = 16
_MAX_NAME = 200
_KEY = tuple[str, str, str]


class Announcement(NamedTuple):
    """A note in the log. Its ``worktree`` is a name: paths stay on their machine."""

    id: str
    clone: str
    note: Note

    @property
    def key(self) -> _KEY:
        """The key of its author and place: the next line with this key replaces it."""
        name = parse(self.note.agent)
        return self.clone, self.note.worktree, str(name).casefold()

    def is_current(self, now_ms: int) -> bool:
        """Whether it has not ended. Another machine's clock may be ahead."""
        end_ms = self.note.at_ms + self.note.seconds * 1000
        return self.note.at_ms - AHEAD_MS <= now_ms < end_ms


def encode(announcement: Announcement) -> bytes:
    """The line of a note, with its end."""
    fields = presence.fields_of(announcement.note)
    head = {"id": announcement.id, "clone": announcement.clone}
    return f"{json.dumps(head | fields, separators=(',', ':'))}\n".encode()


def decode(line: bytes) -> Announcement | None:
    """The note of a line; ``None`` if this version of wc cannot read it."""
    try:
        fields = json.loads(line)
        line_id, clone = fields["id"], fields["clone"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    note = presence.note_of(fields)
    is_clone = type(clone) is str and is_hexadecimal(clone, _CLONE_DIGITS)
    if note is None or not (is_clone and _is_id(line_id)):
        return None
    note = note._replace(
        worktree=one_line(note.worktree, _MAX_NAME),
        branch=one_line(note.branch, _MAX_NAME),
        scope=tuple(filter(ids.is_canonical, note.scope))[:MAX_SCOPE],
    )
    return Announcement(line_id, clone, note)


def _is_id(value: object) -> bool:
    return type(value) is str and len(value) == LENGTH and prefix(value) == value


def lines(data: bytes) -> dict[str, bytes]:
    """The lines of a log by id. Unfinished and invalid lines are left out; those of a
    newer version are not."""
    result: dict[str, bytes] = {}
    for line in data[:MAX_BYTES].split(b"\n")[:-1]:
        if len(line) >= MAX_LINE_BYTES:
            continue
        try:
            line_id = json.loads(line)["id"]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        if _is_id(line_id):
            result[line_id] = max(line, result.get(line_id, b""))
    return result


def union(logs: Iterable[bytes], now_ms: int) -> bytes:
    """The log with the lines of all ``logs`` that are not too old, sorted by id: at
    most `MAX_LINES`, the latest."""
    merged: dict[str, bytes] = {}
    for data in logs:
        for line_id, line in lines(data).items():
            merged[line_id] = max(line, merged.get(line_id, b""))
    kept = sorted(line_id for line_id in merged if _is_kept(line_id, now_ms))
    return b"".join(merged[line_id] + b"\n" for line_id in kept[-MAX_LINES:])


def _is_kept(line_id: str, now_ms: int) -> bool:
    return now_ms - KEPT_MS <= timestamp_ms(line_id) <= now_ms + AHEAD_MS


def lacks(data: bytes, log: bytes) -> bool:
    """Whether ``data`` lacks a line of a log."""
    present = lines(data)
    return any(present.get(line_id) != line for line_id, line in lines(log).items())


def fold(data: bytes) -> Mapping[_KEY, Announcement]:
    """The latest line of each participant, ended ones included."""
    latest: dict[_KEY, Announcement] = {}
    for line in lines(data).values():
        announcement = decode(line)
        if announcement is None:
            continue
        before = latest.get(announcement.key)
        if before is None or before.id < announcement.id:
            latest[announcement.key] = announcement
    return latest

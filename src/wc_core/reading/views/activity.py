"""Everyone's activity, the same for the command and the server."""

from __future__ import annotations

import os

from wc_core.base.text import one_line
from wc_core.base.times import ago, rfc3339, seconds_between
from wc_core.base.values import NamedTuple
from wc_core.edits.activitylog import reading
from wc_core.edits.claims import held, ids
from wc_core.edits.radar import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.edits.activitylog.reading import ActivityLog
    from wc_core.edits.activitylog.record import Announcement
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.activity.presence import Note
    from wc_core.people.identity.viewer import Viewer

MAX_ROWS = 200
_MAX_PATH = 300
_SHOWN = 3


class ActivityRow(NamedTuple):
    """A participant's activity. ``mine`` if that is the viewer, ``elsewhere`` if it is
    in another clone."""

    note: Note
    mine: bool
    elsewhere: bool

    def is_about(self, targets: Iterable[ClaimId]) -> bool:
        """Whether its scope overlaps with one of these."""
        return bool(self.overlap(targets))

    def overlap(self, targets: Iterable[ClaimId]) -> list[str]:
        """The paths in its scope that overlap with one of these."""
        others = list(targets)
        return [
            path
            for path in self.note.scope
            if any(ids.parse(path).overlaps(target) for target in others)
        ]

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The activity shape."""
        note = self.note
        return {
            **note.to_json(now_ms),
            "scope": [one_line(path, _MAX_PATH) for path in note.scope],
            "worktree": note.worktree,
            "branch": note.branch or None,
            "until": rfc3339(note.at_ms + note.seconds * 1000),
            "mine": self.mine,
            "elsewhere": self.elsewhere,
        }


class ActivityView(NamedTuple):
    """Everyone's activity, latest first. ``as_of_ms`` is when the notes of other clones
    were last fetched, ``None`` if never."""

    rows: tuple[ActivityRow, ...]
    now_ms: int
    as_of_ms: int | None = None

    def about(self, targets: Iterable[ClaimId]) -> ActivityView:
        """Only the activity that overlaps with one of these; all of it if there are
        none."""
        chosen = list(targets)
        if not chosen:
            return self
        return self._replace(rows=tuple(r for r in self.rows if r.is_about(chosen)))

    def of_mine(self, *, mine: bool) -> ActivityView:
        """Only the viewer's activity, or only that of others."""
        return self._replace(rows=tuple(r for r in self.rows if r.mine == mine))

    @property
    def age_of_others(self) -> str:
        """The age of the notes from other clones, in words."""
        if self.as_of_ms is None:
            return "never fetched"
        return f"as of {ago(seconds_between(self.as_of_ms, self.now_ms))}"

    def to_json(self) -> dict[str, Any]:
        """The fields of JSON output."""
        return {
            "activity": [row.to_json(self.now_ms) for row in self.rows[:MAX_ROWS]],
            "total": len(self.rows),
            "as_of": None if self.as_of_ms is None else rfc3339(self.as_of_ms),
        }


class Overlap(NamedTuple):
    """Another participant's activity on ``paths`` that the viewer also changes, has
    claimed or has named. ``id`` is that of their note."""

    id: str
    row: ActivityRow
    paths: tuple[str, ...]

    @property
    def paths_text(self) -> str:
        """The first of the paths, on one line."""
        shown = ", ".join(one_line(path, _MAX_PATH) for path in self.paths[:_SHOWN])
        hidden = len(self.paths) - _SHOWN
        return f"{shown} and {hidden} more" if hidden > 0 else shown

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The overlap shape."""
        paths = [one_line(path, _MAX_PATH) for path in self.paths]
        return self.row.to_json(now_ms) | {"overlap": paths}


def load_overlaps(
    layout: Layout, repository: Repository | None, viewer: Viewer, now_ms: int
) -> tuple[Overlap, ...]:
    """The notes of others whose scope overlaps with the viewer's work in a worktree:
    its changes according to the radar, claims, and the scope of the viewer's own
    note."""
    if repository is None or not repository.top:
        return ()
    log = reading.read(layout, now_ms)
    rows = {note.id: _row(note, log, viewer) for note in log.announcements}
    others = {key: row for key, row in rows.items() if not row.mine and row.note.scope}
    if not others:
        return ()
    targets = _own_targets(layout, repository, viewer)
    own_name = os.path.basename(repository.top)
    for row in rows.values():
        if row.mine and row.note.worktree == own_name:
            targets += map(ids.parse, row.note.scope)
    overlaps = (Overlap(k, r, tuple(r.overlap(targets))) for k, r in others.items())
    return tuple(overlap for overlap in overlaps if overlap.paths)


def _own_targets(
    layout: Layout, repository: Repository, viewer: Viewer
) -> list[ClaimId]:
    name = held.file_name(repository.worktree_id, viewer.key)
    memory = held.load(layout, name) or held.NOTHING
    radar = kept.load(layout)
    targets = list(map(ids.parse, memory.claims))
    side = radar.side_at(repository.top) if radar is not None else None
    if radar is not None and side is not None:
        targets += map(ids.ClaimId, radar.sides[side].files)
    return targets


def _row(announcement: Announcement, log: ActivityLog, viewer: Viewer) -> ActivityRow:
    is_ours = announcement.clone == log.clone
    note = announcement.note
    mine = is_ours and viewer.is_me(note.agent)
    return ActivityRow(note, mine=mine, elsewhere=not is_ours)


def activity_view(layout: Layout, viewer: Viewer, now_ms: int) -> ActivityView:
    """Read everyone's activity from a store."""
    log = reading.read(layout, now_ms)
    rows = tuple(_row(item, log, viewer) for item in log.announcements)
    return ActivityView(rows, now_ms, log.as_of_ms)

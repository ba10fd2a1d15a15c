"""Everyone's notes, the same for commands and the server."""

from __future__ import annotations

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import held, ids
from wc_core.edits.notes import reading
from wc_core.edits.radar import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.edits.notes.reading import Note
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.identity.viewer import Viewer

MAX_ROWS = 200
_MAX_PATH = 300
_SHOWN = 3


class NoteRow(NamedTuple):
    """A participant's note. ``mine`` if that is the viewer, ``elsewhere`` if it was
    written in another clone."""

    note: Note
    mine: bool
    elsewhere: bool

    def overlap(self, targets: Iterable[ClaimId]) -> list[str]:
        """The paths in its scope that overlap with one of these."""
        claimed = list(targets)
        return [
            path
            for path in self.note.scope
            if any(ids.parse(path).overlaps(target) for target in claimed)
        ]

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The shape of a note."""
        note = self.note
        return {
            **note.to_json(now_ms),
            "scope": [one_line(path, _MAX_PATH) for path in note.scope],
            "worktree": note.worktree,
            "branch": note.branch or None,
            "mine": self.mine,
            "elsewhere": self.elsewhere,
        }


class NotesView(NamedTuple):
    """Everyone's notes, the latest first."""

    rows: tuple[NoteRow, ...]
    now_ms: int

    def about(self, target: ClaimId) -> NotesView:
        """Only those whose scope overlaps with this."""
        rows = tuple(row for row in self.rows if row.overlap([target]))
        return self._replace(rows=rows)

    def of_mine(self, *, mine: bool) -> NotesView:
        """Only the viewer's notes, or only those of others."""
        return self._replace(rows=tuple(r for r in self.rows if r.mine == mine))

    def to_json(self) -> dict[str, Any]:
        """The fields of JSON output."""
        return {
            "activity": [row.to_json(self.now_ms) for row in self.rows[:MAX_ROWS]],
            "total": len(self.rows),
        }


class Overlap(NamedTuple):
    """Another participant's note on ``paths`` that the viewer also changes, has claimed
    or has named."""

    row: NoteRow
    paths: tuple[str, ...]

    @property
    def id(self) -> str:
        """The key of the note."""
        return self.row.note.id or f"{self.row.note.key}"

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


def notes_view(layout: Layout, viewer: Viewer, now_ms: int) -> NotesView:
    """Read everyone's notes from a store."""
    own = reading.clone_of(layout)
    rows = []
    for note in reading.current_notes(layout, now_ms):
        mine = note.clone == own and viewer.is_me(note.agent)
        rows.append(NoteRow(note, mine=mine, elsewhere=note.clone != own))
    return NotesView(tuple(rows), now_ms)


def load_overlaps(
    layout: Layout, repository: Repository | None, viewer: Viewer, now_ms: int
) -> tuple[Overlap, ...]:
    """The notes of others whose scope overlaps with the viewer's work in a worktree:
    its changes according to the radar, claims, and the scope of the viewer's own
    note."""
    if repository is None or not repository.top:
        return ()
    rows = notes_view(layout, viewer, now_ms).rows
    scoped = [row for row in rows if not row.mine and row.note.scope]
    if not scoped:
        return ()
    targets = _own_targets(layout, repository, viewer)
    place = reading.place_of(layout, repository.top)
    for row in rows:
        if row.mine and row.note.place == place:
            targets += map(ids.parse, row.note.scope)
    overlaps = (Overlap(row, tuple(row.overlap(targets))) for row in scoped)
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

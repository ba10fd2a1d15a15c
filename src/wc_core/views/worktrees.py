"""What goes on in the worktrees of a repository: whose ball, which loop, who
is at it. The same to ``wc worktrees --json`` and to the server.

Everything is read from what is on disk already. One worktree that cannot be
read hides no other.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.activity import livestate, loops
from wc_core.git import repository, worktrees
from wc_core.git.discovery import PLAIN
from wc_core.git.worktrees import Worktree
from wc_core.phrases import shown_path
from wc_core.status.files import places_of
from wc_core.status.line import Here, places
from wc_core.text import one_line
from wc_core.threads.model import CLOSED, State
from wc_core.times import seconds_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.activity.livestate import Activity
    from wc_core.activity.loops import Loop
    from wc_core.activity.presence import Note
    from wc_core.activity.statefile import StateFiles
    from wc_core.git.discovery import Place
    from wc_core.git.repository import Repository
    from wc_core.views.rows import ThreadRow

MAX_THREADS = 20
MAX_NAME = 200
_COMMIT = 12


class WorktreeQuery(NamedTuple):
    """From where one looks, and when.

    ``where`` is ``None`` outside git: then ``folder`` is the only place.
    """

    where: Repository | None
    folder: str
    env: Mapping[str, str]
    now_ms: int

    @property
    def own(self) -> str:
        """The root of the worktree one is in, as notes name it."""
        if self.where is None:
            return self.folder
        return self.where.top or self.where.common

    def shown(self, path: str) -> str:
        """A path as answers name it."""
        return shown_path(path, self.env)


class Neighbour(NamedTuple):
    """A worktree and what is known of the work in it.

    ``threads`` are those that belong to it and are not closed; ``age`` is in
    seconds, since anything changed that we can see, ``None`` where we cannot.
    """

    worktree: Worktree
    here: bool = False
    loop: Loop | None = None
    activity: Activity | None = None
    notes: tuple[Note, ...] = ()
    threads: tuple[ThreadRow, ...] = ()
    age: int | None = None

    @property
    def name(self) -> str:
        """What people call it, on one line."""
        return one_line(self.worktree.name, MAX_NAME)

    @property
    def names(self) -> set[str]:
        """Everything its loop may be asked for by."""
        said = {self.worktree.change_id, self.worktree.branch, self.worktree.name}
        return {*said, self.loop.change_id if self.loop else ""} - {""}

    @property
    def change_id(self) -> str:
        """The change it is about: as its loop says, or by its folder's name."""
        said = self.loop.change_id if self.loop is not None else ""
        return said or one_line(self.worktree.change_id, MAX_NAME)

    def head(self, look: WorktreeQuery) -> dict[str, Any]:
        """Which worktree it is."""
        tree = self.worktree
        fields = {
            "path": look.shown(tree.path) if tree.path else None,
            "name": self.name,
            "main": tree.main or None,
            "here": self.here or None,
            "branch": one_line(tree.branch, MAX_NAME) or None,
            "commit": None if tree.branch else tree.commit[:_COMMIT] or None,
            "change_id": self.change_id or None,
        }
        return {key: value for key, value in fields.items() if value is not None}

    def to_json(self, look: WorktreeQuery) -> dict[str, Any]:
        """All of it, what is empty left out but for the threads."""
        tree = self.worktree
        fields = self.head(look)
        if tree.refs:
            fields["refs"] = tree.refs
        if tree.locked is not None:
            fields["locked"] = one_line(tree.locked, MAX_NAME) or "no reason given"
        if tree.gone:
            fields["missing"] = tree.gone
            fields["prunable"] = tree.locked is None
        fields["age_seconds"] = self.age
        shown = self.threads[:MAX_THREADS]
        fields["threads"] = [_thread(one) for one in shown]
        if len(shown) < len(self.threads):
            fields["thread_count"] = len(self.threads)
        if self.loop is not None:
            fields["loop"] = self.loop.to_json()
        if self.activity is not None:
            fields["activity"] = self.activity.to_json()
        if self.notes:
            fields["presence"] = [one.to_json(look.now_ms) for one in self.notes]
        return fields


def _thread(row: ThreadRow) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "status": one_line(row.status, MAX_NAME),
        "ball": None if row.ball is None else one_line(row.ball, MAX_NAME),
        "have_ball": row.have_ball,
    }


def neighbours(
    look: WorktreeQuery,
    files: StateFiles,
    rows: Iterable[ThreadRow],
    notes: Iterable[Note],
) -> list[Neighbour]:
    """Every worktree: the one we are in first, then those whose loop waits for
    a human, then by when something last changed in them."""
    filed = _by_place(rows)
    said = tuple(notes)
    if look.where is None:
        only = _neighbour(look, files, Worktree(look.folder, ""), filed, said)
        return [only] if only.age is not None else []
    trees = worktrees.worktrees(look.where, look.env)
    found = [_neighbour(look, files, tree, filed, said) for tree in trees]
    return sorted(found, key=_urgency)


def _neighbour(
    look: WorktreeQuery,
    files: StateFiles,
    tree: Worktree,
    filed: Mapping[str, list[ThreadRow]],
    said: tuple[Note, ...],
) -> Neighbour:
    now = look.now_ms
    readable = bool(tree.path) and not tree.gone
    loop = loops.loop(files, tree.path, now) if readable else None
    activity = livestate.activity(files, tree.path, now) if readable else None
    notes = tuple(note for note in said if note.worktree == tree.path)
    threads = {
        row.topic: row
        for place in places(Here(tree.branch, tree.change_id))
        for row in filed.get(place, ())
    }
    ages = [
        *(seconds_between(note.at_ms, now) for note in notes),
        *(one.seen.age for one in (loop, activity) if one is not None),
        seconds_between(tree.changed_ms, now) if tree.changed_ms else None,
    ]
    return Neighbour(
        tree,
        here=tree.path == look.own,
        loop=loop,
        activity=activity,
        notes=notes,
        threads=tuple(threads.values()),
        age=min((age for age in ages if age is not None), default=None),
    )


def _by_place(rows: Iterable[ThreadRow]) -> dict[str, list[ThreadRow]]:
    """The threads that are not closed, by the places that each belongs to."""
    filed: dict[str, list[ThreadRow]] = {}
    for row in rows:
        if row.status != CLOSED:
            for place in places_of(State(row.topic, branch=row.branch)):
                filed.setdefault(place, []).append(row)
    return filed


def _urgency(one: Neighbour) -> tuple[bool, bool, float, str]:
    waits = one.loop is not None and one.loop.waits_for_human
    age = float("inf") if one.age is None else float(one.age)
    return (not one.here, not waits, age, one.worktree.path)


def look_from(
    place: Place | None, folder: str, env: Mapping[str, str], now_ms: int
) -> WorktreeQuery:
    """How a folder is looked from whose store is at ``place``; ``None`` where
    that store cannot be used."""
    where = repository.find(folder)
    plain = where is None and place is not None and place.kind == PLAIN
    top = os.path.dirname(place.root) if plain and place else os.path.realpath(folder)
    return WorktreeQuery(where, top, env, now_ms)


class WorktreeView(NamedTuple):
    """The worktrees as somebody sees them. ``store`` is how answers name it,
    ``None`` where there is none; ``problem`` is why it cannot be used."""

    look: WorktreeQuery
    found: list[Neighbour]
    store: str | None = None
    problem: str = ""

    def to_json(self, limit: int = 0) -> dict[str, Any]:
        """The worktrees shape; at most ``limit`` of them (0: all)."""
        shown = self.found[:limit] if limit else self.found
        fields: dict[str, Any] = {
            "store": self.store,
            "worktrees": [one.to_json(self.look) for one in shown],
        }
        if len(shown) < len(self.found):
            fields |= {"total": len(self.found), "truncated": True}
        return fields | ({"problem": self.problem} if self.problem else {})


def loop_json(look: WorktreeQuery, one: Neighbour, loop: Loop) -> dict[str, Any]:
    """A loop with the worktree it is in."""
    return {**one.head(look), **loop.details(), "change_id": one.change_id or one.name}

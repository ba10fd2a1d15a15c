"""The activity in a repository's worktrees: balls, loops, agents. The same for ``wc
worktrees --json`` and the server.

Everything is read from existing files. If a worktree cannot be read, the others are
still shown.
"""

from __future__ import annotations

import os

from wc_core.attention.status.places import places_of, worktree_places
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.names import OFFERED, fold, parse
from wc_core.base.phrases import counted, shown_path
from wc_core.base.text import one_line
from wc_core.base.times import ago, elapsed, seconds_between
from wc_core.base.values import NamedTuple
from wc_core.edits.notes import reading
from wc_core.edits.radar import kept
from wc_core.ledger.git import repository, seats, worktrees
from wc_core.ledger.git.discovery import PLAIN
from wc_core.ledger.git.worktrees import Worktree
from wc_core.ledger.threads.model import CLOSED
from wc_core.people import activity
from wc_core.reading.views.conflicts import conflicts_of
from wc_core.reading.views.rows import placed_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from wc_core.edits.notes.reading import Note
    from wc_core.edits.radar.model import Radar
    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.activity import StateFiles
    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.rows import ThreadRow

MAX_THREADS = 20
MAX_NAME = 200
_COMMIT = 12
# The key for balls at the viewer's own seat: not a possible name of a branch.
_OWN_SEAT = ""
_NOTHING: Mapping[str, Any] = {}


class WorktreeQuery(NamedTuple):
    """From where worktrees are viewed, and when.

    ``repository`` is ``None`` outside git: then ``folder`` is the only place. ``root``
    is that of the store, or empty.
    """

    repository: Repository | None
    folder: str
    env: Mapping[str, str]
    now_ms: int
    root: str = ""

    @property
    def own(self) -> str:
        """The root of the current worktree, as notes name it."""
        if self.repository is None:
            return self.folder
        return self.repository.top or self.repository.common

    def display_path(self, path: str) -> str:
        """Returns a path as answers show it."""
        return shown_path(path, self.env)


class Neighbour(NamedTuple):
    """A worktree and what is known about the work in it.

    ``loop`` and ``activity`` have the fields of `wc_core.people.activity`, none if
    there is none. ``threads`` are its threads that are not closed. ``age`` is the
    seconds since its last visible change, ``None`` if unknown. ``conflicts`` are those
    that it will have with other worktrees.
    """

    worktree: Worktree
    here: bool = False
    loop: Mapping[str, Any] = _NOTHING
    activity: Mapping[str, Any] = _NOTHING
    notes: tuple[Note, ...] = ()
    threads: tuple[ThreadRow, ...] = ()
    age: int | None = None
    conflicts: tuple[Conflict, ...] = ()

    @property
    def name(self) -> str:
        """Its name, on one line."""
        return one_line(self.worktree.name, MAX_NAME)

    @property
    def names(self) -> set[str]:
        """Every name that selects its loop."""
        names = {self.worktree.change_id, self.worktree.branch, self.worktree.name}
        return {*names, self.loop.get("change_id", "")} - {""}

    @property
    def change_id(self) -> str:
        """The change it is about, from its loop or from the name of its folder."""
        own = one_line(self.worktree.change_id, MAX_NAME)
        return self.loop.get("change_id", "") or own

    def head(self, query: WorktreeQuery) -> dict[str, Any]:
        """Returns the fields that identify the worktree."""
        tree = self.worktree
        fields = {
            "path": query.display_path(tree.path) if tree.path else None,
            "name": self.name,
            "main": tree.main or None,
            "here": self.here or None,
            "branch": one_line(tree.branch, MAX_NAME) or None,
            "commit": None if tree.branch else tree.commit[:_COMMIT] or None,
            "change_id": self.change_id or None,
        }
        return {key: value for key, value in fields.items() if value is not None}

    def to_json(self, query: WorktreeQuery) -> dict[str, Any]:
        """Returns all fields; empty ones other than the threads are left out."""
        tree = self.worktree
        fields = self.head(query)
        if tree.refs:
            fields["refs"] = tree.refs
        if tree.locked is not None:
            fields["locked"] = one_line(tree.locked, MAX_NAME) or "no reason given"
        if tree.defect:
            fields["missing"] = tree.defect
            fields["prunable"] = tree.locked is None
        fields["age_seconds"] = self.age
        visible = self.threads[:MAX_THREADS]
        fields["threads"] = [_thread(row) for row in visible]
        if len(visible) < len(self.threads):
            fields["thread_count"] = len(self.threads)
        if self.loop:
            fields["loop"] = activity.listed(self.loop)
        if self.activity:
            fields["activity"] = self.activity
        if self.conflicts:
            fields["conflicts"] = [conflict.to_json() for conflict in self.conflicts]
        if self.notes:
            fields["presence"] = [note.to_json(query.now_ms) for note in self.notes]
        return fields


def _thread(row: ThreadRow) -> dict[str, Any]:
    return {
        "topic": row.name,
        "status": one_line(row.status, MAX_NAME),
        "ball": None if row.ball is None else one_line(row.ball, MAX_NAME),
        "have_ball": row.have_ball,
        **({"offered": True} if row.ownership == OFFERED else {}),
        **({"waits_for": list(row.waits)} if row.waits else {}),
    }


def _neighbour(
    query: WorktreeQuery,
    files: StateFiles,
    tree: Worktree,
    filed: Mapping[str, list[ThreadRow]],
    facts: _StoreFacts,
) -> Neighbour:
    now = query.now_ms
    readable = bool(tree.path) and not tree.defect
    loop = activity.loop(files, tree.path, now) if readable else {}
    agent = activity.activity(files, tree.path, now) if readable else {}
    here = reading.place_of(Layout(query.root), tree.path) if facts.notes else ""
    notes = tuple(note for note in facts.notes if note.place == here)
    is_here = tree.path == query.own
    places = worktree_places(tree if tree.gitdir else None)
    places = (*places, tree.gitdir, *((_OWN_SEAT,) if is_here else ()))
    threads = {row.topic: row for place in places for row in filed.get(place, ())}
    ages = [
        *(elapsed(note.at_ms, now) for note in notes),
        *(source.get("age_seconds") for source in (loop, agent)),
        elapsed(tree.changed_ms, now) if tree.changed_ms else None,
    ]
    radar = facts.radar
    return Neighbour(
        tree,
        here=is_here,
        loop=loop,
        activity=agent,
        notes=notes,
        threads=tuple(threads.values()),
        age=min((age for age in ages if age is not None), default=None),
        conflicts=conflicts_of(radar, tree.path, now) if radar is not None else (),
    )


def _by_place(
    rows: Iterable[ThreadRow], seated: Mapping[str, str]
) -> dict[str, list[ThreadRow]]:
    """Returns the threads that are not closed by the places they belong to.

    Those whose ball is for a seat are also under git's folder of its worktree, which
    ``seated`` has by each of its names, and those at the viewer's own seat under
    `_OWN_SEAT`: the viewer is here, whatever the seat is called.
    """
    filed: dict[str, list[ThreadRow]] = {}
    for row in rows:
        if row.status != CLOSED:
            seat = parse(row.ball or "").seat
            own = (_OWN_SEAT,) if row.have_ball and seat else ()
            path = seated.get(fold(seat))
            places = (*places_of(placed_state(row)), *([path] if path else []), *own)
            for place in places:
                filed.setdefault(place, []).append(row)
    return filed


def _urgency(tree: Neighbour) -> tuple[bool, bool, float, str]:
    waits = "waits_for_human" in tree.loop
    age = float("inf") if tree.age is None else float(tree.age)
    return (not tree.here, not waits, age, tree.worktree.path)


def worktree_query(
    place: Place | None, folder: str, env: Mapping[str, str], now_ms: int
) -> WorktreeQuery:
    """Returns the query for a folder whose store is at ``place``; ``None`` if that
    store cannot be used."""
    found_repository = repository.find(folder)
    plain = found_repository is None and place is not None and place.kind == PLAIN
    top = os.path.dirname(place.root) if plain and place else os.path.realpath(folder)
    root = place.root if place is not None else ""
    return WorktreeQuery(found_repository, top, env, now_ms, root)


class WorktreeView(NamedTuple):
    """The worktrees as a viewer sees them. ``store`` is the name of the store in
    answers, ``None`` if there is none; ``problem`` is why it cannot be used."""

    query: WorktreeQuery
    neighbours: list[Neighbour]
    store: str | None = None
    problem: str = ""

    def to_json(self, limit: int = 0) -> dict[str, Any]:
        """Returns the worktrees shape, with at most ``limit`` of them (0: all)."""
        visible = self.neighbours[:limit] if limit else self.neighbours
        fields: dict[str, Any] = {
            "store": self.store,
            "worktrees": [neighbour.to_json(self.query) for neighbour in visible],
        }
        if len(visible) < len(self.neighbours):
            fields |= {"total": len(self.neighbours), "truncated": True}
        return fields | ({"problem": self.problem} if self.problem else {})


class _StoreFacts(NamedTuple):
    """What a store knows about worktrees."""

    rows: Iterable[ThreadRow] = ()
    notes: tuple[Note, ...] = ()
    radar: Radar | None = None


def worktree_view(
    viewer: tuple[str, Mapping[str, str], int],
    files: StateFiles,
    find: Callable[[], Place] | None = None,
    threads: Callable[[], tuple[Iterable[ThreadRow], str]] | None = None,
) -> WorktreeView:
    """Returns the current activity in the worktrees: in the current one first, then in
    those whose loop waits for a person, then by their latest change.

    ``viewer`` is a folder, its environment and the time, ``find`` returns the place of
    the store, ``threads`` what is in it, and its name in answers. If one raises a
    WcError, the view has the reason, and the worktrees and loops without their threads.
    """
    folder, env, now_ms = viewer
    place: Place | None = None
    facts = _StoreFacts()
    store, problem = None, ""
    try:
        place = find() if find is not None else None
        if place is not None and place.exists and threads is not None:
            layout = Layout(place.root)
            rows, name = threads()
            facts = _StoreFacts(rows)
            notes = tuple(reading.current_notes(layout, now_ms))
            facts = _StoreFacts(rows, notes, kept.load(layout))
            store = name
    except WcError as error:
        problem = error.message
    query = worktree_query(place, folder, env, now_ms)
    if query.repository is None:
        names, trees = {}, [Worktree(query.folder, "")]
    else:
        names = seats.all_names(query.repository)
        trees = worktrees.worktrees(query.repository, env)
    filed = _by_place(
        facts.rows, {fold(n): path for path in names for n in names[path]}
    )
    neighbours = (_neighbour(query, files, tree, filed, facts) for tree in trees)
    if query.repository is None:
        neighbours = (tree for tree in neighbours if tree.age is not None)
    return WorktreeView(query, sorted(neighbours, key=_urgency), store, problem)


# How a line of details is to be marked.
URGENT, BAD, OLD = "urgent", "bad", "old"
_NARROW, _WIDE = 80, 200


class Wording(NamedTuple):
    """How a reader is shown what others wrote: ``word`` and ``title`` show a text with
    a width, ``thread`` and ``conflict`` such a line. ``list`` is what to call for
    more threads."""

    word: Callable[[str, int], str]
    title: Callable[[str, int], str]
    thread: Callable[[ThreadRow], str]
    conflict: Callable[[Conflict], str]
    list: str


def heading(tree: Neighbour, query: WorktreeQuery, words: Wording) -> str:
    """Returns a line that identifies a worktree, with its last change."""
    worktree = tree.worktree
    facts = [words.word(tree.name, _NARROW) + (" = yours" if tree.here else "")]
    if worktree.branch:
        facts.append(f"branch {words.word(worktree.branch, _NARROW)}")
    elif worktree.commit:
        facts.append(f"at {words.word(worktree.commit[:_COMMIT], _NARROW)}")
    if worktree.refs:
        facts.append(f"its branch is in a {worktree.refs}")
    facts += ["main worktree"] if worktree.main else []
    path = query.display_path(worktree.path)
    facts += [path_text(path, words), worktree.defect] if path else ["no folder"]
    if worktree.locked is not None:
        reason = words.title(worktree.locked, _WIDE) if worktree.locked else ""
        facts.append(f"locked: {reason}" if reason else "locked")
    return " | ".join((*filter(None, facts), f"changed {ago(tree.age)}"))


def path_text(path: str, words: Wording) -> str:
    """Returns a path, in quotes if it could be mistaken for anything else."""
    bare = path.removeprefix("~")
    return path if words.word(bare, len(bare)) == bare else words.title(path, 0)


def details(
    tree: Neighbour, query: WorktreeQuery, words: Wording
) -> Iterator[tuple[str, str]]:
    """Yields each line that says what is known about a worktree, and its mark."""
    if loop := tree.loop:
        is_bad = "orphaned" in loop
        mark = URGENT if "waits_for_human" in loop else BAD if is_bad else ""
        yield f"loop: {loop_text(loop, words)}", mark or _old(loop)
    for conflict in tree.conflicts:
        yield words.conflict(conflict), URGENT
    for note in tree.notes:
        when = ago(seconds_between(note.at_ms, query.now_ms))
        agent, text = words.word(note.agent, _NARROW), words.title(note.sentence(), 0)
        yield f"note: {agent}, {when}: {text}", ""
    if state := tree.activity:
        skill = f"{state.get('skill', '')} {state.get('skill_args', '')}".strip()
        texts = filter(None, (skill, state.get("broadcast", "")))
        facts = [words.title(text, _WIDE) for text in texts]
        if count := state.get("modified_count"):
            facts.append(f"{counted(count, 'file')} modified")
        text = " | ".join((*facts, age_text(state, words)))
        yield f"activity: {text}", _old(state)
    for row in tree.threads[:MAX_THREADS]:
        yield f"thread {words.thread(row)}", URGENT if row.is_due else ""
    if (hidden := len(tree.threads) - MAX_THREADS) > 0:
        yield f"and {counted(hidden, 'thread')} more: {words.list}", OLD


def _old(fields: Mapping[str, Any]) -> str:
    return OLD if "stale" in fields else ""


def loop_text(loop: Mapping[str, Any], words: Wording) -> str:
    """Returns what is known about a loop, on one line."""
    turn = activity.turn(loop)
    facts = [words.word(loop["says"], _WIDE), *([turn] if turn else [])]
    facts.append(age_text(loop, words))
    if since := loop.get("waiting_since"):
        facts.append(f"since {words.word(since, _NARROW)}")
    for name, key in (("reason", "stall_reason"), ("task", "task")):
        if text := loop.get(key):
            facts.append(f"{name}: {words.title(text, _WIDE)}")
    return " | ".join(facts)


def age_text(fields: Mapping[str, Any], words: Wording) -> str:
    """Returns the age of what a file said, and why there is nothing newer."""
    problem = words.word(fields.get("problem", ""), _NARROW)
    reason = f" (as last read; the file {problem})" if "last_good" in fields else ""
    return f"{'old, ' if 'stale' in fields else ''}{ago(fields['age_seconds'])}{reason}"

"""The inbox items of a participant in one store: questions to them, their balls, what
they have to land, and offered balls.

The names of the status line's files identify these threads; a thread is read when it is
shown.
"""

from __future__ import annotations

import os
from itertools import repeat

from wc_core.attention.status import files, holders, listings
from wc_core.attention.status.holders import HeldBall
from wc_core.base import ulid
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.names import MINE
from wc_core.base.times import rfc3339
from wc_core.base.ulid import prefix
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.nextmoves import BALL, QUESTION
from wc_core.ledger.threads.model import BLOCKED, CLOSED
from wc_core.ledger.threads.ways import way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.planning.nextmoves import NextMove
    from wc_core.ledger.threads.model import OpenQuestion, State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot
    from wc_core.people.identity.viewer import Viewer

# The kinds, most important first: a question, or a ball in a thread that is BLOCKED;
# another ball; a ball that any participant of this kind may take.
INPUT, MOVE, OFFERED = KINDS = ("input_required", "my_move", "offered")
UNREADABLE = "(cannot be read; see wc doctor)"


class WaitingThread(NamedTuple):
    """A thread that needs the viewer, by the name of a status file and the folder of
    its holder, which is empty if no file was read. ``rank`` is the index of its kind in
    ``KINDS``. ``is_question`` is true if it is a question's file: the oldest one to
    the viewer in the thread, which has ``more_questions``.

    Those that are sorted by ``thread[:2]`` are in the order of importance, then the
    longest waiting first.
    """

    rank: int
    name: str
    folder: str
    is_question: bool = False
    more_questions: int = 0

    @property
    def kind(self) -> str:
        """The kind, one of ``KINDS``."""
        return KINDS[self.rank]

    @property
    def ball(self) -> HeldBall:
        """The ball, or the question in place of one."""
        return HeldBall(self.folder, self.name)


class InboxItem(NamedTuple):
    """A thread that needs the viewer.

    ``topic`` is its name. ``by`` is who asks, or who passed the ball; empty if no one
    did. ``title`` is the question's, or the thread's. ``since_ms`` is since when it
    waits, ``None`` if unknown. ``question`` is the id of a question, otherwise empty;
    the thread has ``more_questions`` to the viewer. ``via`` is the branch by which the
    ball or the question came, if not with the others. ``move`` is ``land`` or
    ``approve`` if that is what the thread needs.
    """

    kind: str
    topic: str
    title: str
    status: str
    by: str = ""
    since_ms: int | None = None
    question: str = ""
    more_questions: int = 0
    via: str = ""
    move: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the item shape; the id of a question only if it is one, and the
        number of others only if there are any."""
        fields: dict[str, Any] = {
            "kind": self.kind,
            "topic": self.topic,
            "title": self.title,
            "status": self.status,
            "from": self.by,
            "since": None if self.since_ms is None else rfc3339(self.since_ms),
        }
        optional = {
            "question": self.question,
            "more_questions": self.more_questions,
            "via": self.via,
            "move": self.move,
        }
        return fields | {name: value for name, value in optional.items() if value}


def waiting_threads(reader: StoreReader, viewer: Viewer) -> list[WaitingThread]:
    """Returns what needs the viewer, in any order, each thread once: if it has a
    question to the viewer, that is what they need to know, whoever has the ball.

    If the status files were never written, the threads are read instead. Raises a
    WcError if they cannot be.
    """
    layout = reader.layout
    if not holders.holder_folders(layout):
        return _each_once([*_by_reading(reader, viewer)])
    own = holders.own_folders_of(viewer)
    waiting: list[WaitingThread] = []
    names = holders.held_names(layout, holders.folders_of(viewer))
    for folder, held in names.items():
        statuses = holders.thread_statuses(layout, folder, held)
        ranks = {
            status: _rank_of(status, is_own=folder in own) for status in {*statuses}
        }
        fields = (map(ranks.__getitem__, statuses), held, repeat(folder))
        defaults = map(repeat, WaitingThread._field_defaults.values())
        rows = zip(*fields, *defaults, strict=False)
        # There may be thousands, and calling the class for each takes three times as
        # long.
        waiting += map(tuple.__new__, repeat(WaitingThread), rows)
    questions = holders.asked_of(layout, viewer)
    landings = unlanded.own_landings(reader, viewer.holds).items()
    waiting += (_landing(topic, move) for topic, move in landings)
    return _each_once([*waiting, *map(_question_file, questions)])


def _each_once(waiting: list[WaitingThread]) -> list[WaitingThread]:
    """Returns each thread once: with its oldest question, if it has any."""
    questions: dict[str, WaitingThread] = {}
    for thread in sorted(thread for thread in waiting if thread.is_question):
        earlier = questions.setdefault(_thread_of(thread), thread)
        if earlier is not thread:
            count = earlier.more_questions + 1
            questions[_thread_of(thread)] = earlier._replace(more_questions=count)
    if not questions:
        return waiting
    balls = [thread for thread in waiting if _thread_of(thread) not in questions]
    return [*balls, *questions.values()]


def _thread_of(waiting: WaitingThread) -> str:
    """Returns the part of a status file's name that stands for the thread."""
    return waiting.name[ulid.LENGTH :]


def _rank_of(status: str, *, is_own: bool) -> int:
    """Returns the rank of a ball in a thread with this status."""
    if status == BLOCKED:
        return KINDS.index(INPUT)
    return KINDS.index(MOVE if is_own else OFFERED)


def _question_file(question: HeldBall) -> WaitingThread:
    rank = KINDS.index(INPUT)
    return WaitingThread(rank, question.name, question.folder, is_question=True)


def _landing(topic: str, move: NextMove) -> WaitingThread:
    name = files.question_name(topic, move.since)
    return WaitingThread(KINDS.index(MOVE), name, "")


def _by_reading(reader: StoreReader, viewer: Viewer) -> Iterator[WaitingThread]:
    """Yields the same from the threads."""
    for topic in reader.topics():
        try:
            state = reader.snapshot(topic).state
        except WcError:
            continue  # unknown whose it is; wc doctor names it
        for move in unlanded.own_moves(reader, viewer.holds, state):
            if move.kind not in {QUESTION, BALL}:
                yield _landing(topic, move)
            elif move.kind == QUESTION:
                name = files.question_name(topic, move.since)
                yield _question_file(HeldBall("", name))
            else:
                is_own = viewer.whose(move.participant) == MINE
                rank = _rank_of(state.status, is_own=is_own)
                yield WaitingThread(rank, files.file_name(state), "")


def read_item(
    reader: StoreReader, viewer: Viewer, waiting: WaitingThread
) -> InboxItem | None:
    """Returns a thread that needs the viewer as it is shown; ``None`` if it no longer
    needs them."""
    ball = waiting.ball
    since_ms = _moment(prefix(ball.since))
    try:
        snapshot = reader.snapshot(ball.topic)
    except NotFoundError:
        return None
    except WcError:
        return InboxItem(waiting.kind, ball.topic, UNREADABLE, "?", since_ms=since_ms)
    if snapshot.state.status == CLOSED:
        return _landing_item(reader, viewer, snapshot, since_ms)
    if waiting.is_question:
        item = _question_item(snapshot, viewer, waiting, since_ms)
        if item is not None:
            return item._replace(via=way(reader.layout, item.question))
    item = _ball_item(snapshot, viewer)
    if item is None:
        return None
    return item._replace(via=way(reader.layout, snapshot.state.since))


def _landing_item(
    reader: StoreReader, viewer: Viewer, snapshot: Snapshot, since_ms: int | None
) -> InboxItem | None:
    state = snapshot.state
    moves = unlanded.own_moves(reader, viewer.holds, state)
    if not moves:
        return None
    texts = (snapshot.name, state.title, state.status, moves[0].by)
    return InboxItem(MOVE, *texts, since_ms, move=moves[0].kind)


def _ball_item(snapshot: Snapshot, viewer: Viewer) -> InboxItem | None:
    state = snapshot.state
    since_ms = _moment(prefix(HeldBall("", files.file_name(state)).since))
    if not viewer.holds(state.ball):
        return None
    texts = (snapshot.name, state.title, state.status, _passed_by(state))
    rank = _rank_of(state.status, is_own=viewer.whose(state.ball) == MINE)
    return InboxItem(KINDS[rank], *texts, since_ms)


def _question_item(
    snapshot: Snapshot, viewer: Viewer, waiting: WaitingThread, since_ms: int | None
) -> InboxItem | None:
    state = snapshot.state
    question = _question(state, viewer, waiting.ball)
    if question is None:
        return None
    texts = (snapshot.name, question.title, state.status, question.asker)
    return InboxItem(INPUT, *texts, since_ms, question.id, waiting.more_questions)


def _moment(entry_id: str) -> int | None:
    """Returns the time of an entry's ULID, ``None`` if there is none."""
    is_known = entry_id not in {"", files.UNKNOWN_ID}
    return ulid.timestamp_ms(entry_id) if is_known else None


def _question(state: State, viewer: Viewer, ball: HeldBall) -> OpenQuestion | None:
    """Returns the open question of a status file."""
    for question in state.questions:
        if _ulid_of(question) == ball.since and viewer.holds(question.asked):
            return question
    return None


def _ulid_of(question: OpenQuestion) -> str:
    return prefix(question.id) or files.UNKNOWN_ID


def _passed_by(state: State) -> str:
    """Returns who passed the ball to its holder."""
    passes = reversed(state.passes)
    return next((move.by for move in passes if move.to == state.ball), "")


def fingerprint(layout: Layout, viewer: Viewer) -> tuple[int, ...]:
    """Returns numbers that change when `waiting_threads` may: the times of the folders
    with the viewer's status files, and of what waits to land."""
    folders = holders.folders_of(viewer)
    roots = (listings.root_of(layout), f"{layout.local}/status/asked")
    paths = [f"{root}/{folder}" for root in roots for folder in folders]
    return tuple(map(_changed_ns, (*paths, layout.unlanded)))


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0

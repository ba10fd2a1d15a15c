"""The inbox items of a participant in one store: questions to them, their balls, what
they have to land, and offered balls.

A thread is read when it is shown.
"""

from __future__ import annotations

from wc_core.attention.status.balls import (
    Balls,
    HeldBall,
    ball_name,
    folders_of,
    own_folders_of,
)
from wc_core.base import ulid
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.names import MINE
from wc_core.base.times import rfc3339
from wc_core.base.ulid import prefix
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.fields import UNKNOWN_ID, since_of
from wc_core.ledger.planning import unlanded
from wc_core.ledger.threads.model import BLOCKED, CLOSED
from wc_core.ledger.threads.ways import way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.ledger.threads.model import OpenQuestion, State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot
    from wc_core.people.identity.viewer import Viewer

# The kinds, most important first: a question, or a ball in a thread that is BLOCKED;
# another ball; a ball that any participant of this kind may take.
INPUT, MOVE, OFFERED = KINDS = ("input_required", "my_move", "offered")
UNREADABLE = "(cannot be read; see wc doctor)"


class WaitingThread(NamedTuple):
    """A thread that needs the viewer, by the ``name`` of its ball, or of its oldest
    question to the viewer if it ``is_question``; then it has ``more_questions``.
    ``rank`` is the index of its kind in ``KINDS``.

    Those that are sorted by ``thread[:2]`` are in the order of importance, then the
    longest waiting first.
    """

    rank: int
    name: str
    is_question: bool = False
    more_questions: int = 0

    @property
    def kind(self) -> str:
        """The kind, one of ``KINDS``."""
        return KINDS[self.rank]

    @property
    def ball(self) -> HeldBall:
        """The ball, or the question in place of one."""
        return HeldBall("", self.name)


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
    question to the viewer, that is what they need to know, whoever has the ball. Raises
    a WcError if the threads cannot be listed."""
    own, folders = own_folders_of(viewer), folders_of(viewer)
    balls = Balls(reader, viewer.directory)
    waiting = [
        WaitingThread(_rank_of(status, is_own=held.folder in own), held.name)
        for held, status in balls.with_status(folders)
    ]
    waiting += (
        WaitingThread(KINDS.index(INPUT), question.name, is_question=True)
        for question in balls.asked(folders)
    )
    waiting += (
        WaitingThread(KINDS.index(MOVE), ball_name(topic, move.since))
        for topic, move in unlanded.own_landings(reader, viewer.holds).items()
    )
    return _each_once(waiting)


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
    """Returns the part of a name that stands for the thread."""
    return waiting.name[ulid.LENGTH :]


def _rank_of(status: str, *, is_own: bool) -> int:
    """Returns the rank of a ball in a thread with this status."""
    if status == BLOCKED:
        return KINDS.index(INPUT)
    return KINDS.index(MOVE if is_own else OFFERED)


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
    since_ms = _moment(since_of(state))
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
    is_known = entry_id not in {"", UNKNOWN_ID}
    return ulid.timestamp_ms(entry_id) if is_known else None


def _question(state: State, viewer: Viewer, ball: HeldBall) -> OpenQuestion | None:
    """Returns the open question with this name."""
    for question in state.questions:
        if _ulid_of(question) == ball.since and viewer.holds(question.asked):
            return question
    return None


def _ulid_of(question: OpenQuestion) -> str:
    return prefix(question.id) or UNKNOWN_ID


def _passed_by(state: State) -> str:
    """Returns who passed the ball to its holder."""
    passes = reversed(state.passes)
    return next((move.by for move in passes if move.to == state.ball), "")

"""Which threads a line is about, by who has which balls: only those that it shows are
read."""

from __future__ import annotations

from wc_core.attention.status.balls import ball_name, balls_here, folder_of, name_of
from wc_core.attention.status.places import has_seat
from wc_core.base.errors import WcError
from wc_core.base.names import parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.nextmoves import QUESTION, NextMove, next_moves
from wc_core.ledger.threads.model import CLOSED, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from wc_core.attention.status.balls import Balls
    from wc_core.attention.status.places import Surroundings
    from wc_core.people.identity.viewer import Viewer


class StatusRow(NamedTuple):
    """A thread and the number of its entries that are NEW for the viewer; ``None``
    if unknown. ``waits`` are the names of the threads that it waits for. ``question``
    is the oldest one to the viewer."""

    state: State
    new: int | None = None
    waits: tuple[str, ...] = ()
    question: NextMove | None = None

    @property
    def order(self) -> tuple[bool, bytes]:
        """The sort key of threads that wait for the viewer: questions first, and of
        each kind the longest waiting one."""
        question = self.question
        name = ball_name(self.state.topic, question.since) if question else ""
        return question is None, (name or name_of(self.state)).encode()


class LineThreads(NamedTuple):
    """The threads that a line is about: those that wait for me here, in their
    ``order``, those of others here, latest first, and mine elsewhere. There are at
    least as many of each as the line shows; the counts are those of all. ``latest`` is
    the one of others that is shown alone."""

    mine: tuple[StatusRow, ...] = ()
    around: tuple[StatusRow, ...] = ()
    away: tuple[StatusRow, ...] = ()
    mine_count: int = 0
    around_count: int = 0
    away_count: int = 0
    latest: StatusRow | None = None


def threads_of(rows: Iterable[StatusRow], surroundings: Surroundings) -> LineThreads:
    """Returns those of all threads that a line is about."""
    directory = surroundings.directory
    folders = surroundings.own_folders()
    seats = {*surroundings.seat_keys()}
    my_rows: list[StatusRow] = []
    around: list[StatusRow] = []
    away: list[StatusRow] = []
    for row in sorted(rows, key=lambda row: name_of(row.state).encode()):
        if row.state.status == CLOSED:
            continue
        my_moves = [
            move
            for move in next_moves(row.state, row.waits)
            if folder_of(move.participant, directory) in folders
        ]
        questions = sorted(move for move in my_moves if move.kind == QUESTION)
        questions.sort(key=lambda move: ball_name("", move.since))
        own_row = row._replace(question=questions[0] if questions else None)
        at_seat = {directory.key(parse(move.participant)) for move in questions} & seats
        if surroundings.has(row.state) or (at_seat and not surroundings.pinned):
            (my_rows if my_moves else around).append(own_row)
        elif my_moves:
            away.append(own_row)
    my_rows.sort(key=lambda row: row.order)
    away.sort(key=lambda row: row.order)
    # Waiting threads are shown only if nothing else is here.
    latest = ([row for row in around if not row.waits] or around)[-1:]
    return LineThreads(
        mine=tuple(my_rows),
        around=tuple(around[::-1]),
        away=tuple(away),
        mine_count=len(my_rows),
        around_count=len(around),
        away_count=len(away),
        latest=latest[0] if latest else None,
    )


class LineSource(NamedTuple):
    """The balls of a store, as a viewer, or no one, sees them from a worktree, or from
    a folder without one."""

    balls: Balls
    viewer: Viewer | None
    surroundings: Surroundings

    def threads(self, count: int) -> LineThreads:
        """The threads of the line, at least ``count`` of each kind if there are."""
        balls, around = self.balls, self.surroundings
        own = around.own_folders()
        questions = balls.asked(own)
        moves = [*questions, *balls.held(own)]
        my_topics = dict.fromkeys(move.topic for move in moves if move.topic)
        here = balls_here(balls, around)
        local = {*here}
        if not around.pinned:
            local.update(q.topic for q in questions if has_seat(q.folder))
        mine = [topic for topic in my_topics if topic in local]
        away = [topic for topic in my_topics if topic not in local]
        others = [topic for topic in here if topic not in my_topics]
        others.sort(key=lambda topic: here[topic].name, reverse=True)
        active = [topic for topic in others if not balls.waits(topic)]
        groups = (mine, others, active[:1], away)
        read = {topic for topics in groups for topic in topics[:count]}
        shown = threads_of(filter(None, map(self.row, read)), around)
        return shown._replace(
            mine_count=_count(shown.mine, mine, read),
            around_count=_count(shown.around, others, read),
            away_count=_count(shown.away, away, read),
        )

    def row(self, topic: str) -> StatusRow | None:
        """The thread ``topic``; ``None`` if it cannot be read: errors don't belong in a
        prompt, `wc doctor` shows them."""
        reader = self.balls.reader
        try:
            state = reader.snapshot(topic).state
        except WcError:
            return None
        waits = self.balls.waits(topic)
        if self.viewer is None:
            return StatusRow(state, None, waits)
        cursor = reader.cursor(topic, self.viewer.key)
        return StatusRow(state, self.viewer.new_count(state, cursor), waits)

    def to_land(self) -> str:
        """How much the viewer has to land and to approve, in words."""
        if self.viewer is None:
            return ""
        moves = unlanded.own_landings(self.balls.reader, self.viewer.holds)
        return unlanded.counts_text(moves.values())


def _count(
    rows: Collection[StatusRow], topics: Iterable[str], read: Collection[str]
) -> int:
    """Return how many there are of a kind of threads: the rows of those that were read,
    and the topics of the others. None without a row to show."""
    return len(rows) and len(rows) + sum(topic not in read for topic in topics)

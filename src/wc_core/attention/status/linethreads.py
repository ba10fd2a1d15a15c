"""Which threads a line is about, from the names of the status files.

The names have holder, time and topic (`wc_core.attention.status.files`), so only the
threads that the line shows are read, however many there are. If one of them is not as
its file says, or there are no such files, all threads are read.
"""

from __future__ import annotations

import os

from wc_core.attention.status.files import (
    FREE_FOLDER,
    WAITING_FOLDER,
    file_name,
    holder_key,
    question_name,
)
from wc_core.attention.status.holders import HeldBall, names_at, seated_folders
from wc_core.attention.status.line import LineThreads, StatusRow, threads_of
from wc_core.attention.status.pins import pin_place, worktree_key
from wc_core.attention.status.places import MAIN, has_seat, is_branch
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import safe_name
from wc_core.base.names import parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import linkfiles, unlanded
from wc_core.ledger.planning.nextmoves import QUESTION, next_moves
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_core.attention.status.places import Surroundings
    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer


# A ball that moves from a folder that has not been listed yet to one that has is
# missed. It is not missed twice: a move takes longer than listing the folders.
_SCANS = 2


class LineSource(NamedTuple):
    """A store as a viewer, or no one, sees it from a worktree, or from a folder without
    one."""

    reader: StoreReader
    viewer: Viewer | None
    repository: Repository | None
    surroundings: Surroundings

    def row(self, topic: str) -> StatusRow | None:
        """The thread ``topic``; ``None`` if it cannot be read: errors don't belong in a
        prompt, `wc doctor` shows them."""
        try:
            state = self.reader.snapshot(topic).state
        except WcError:
            return None
        waits = linkfiles.waits_of(self.reader, state)
        if self.viewer is None:
            return StatusRow(state, None, waits)
        cursor = self.reader.cursor(topic, self.viewer.key)
        return StatusRow(state, self.viewer.new_count(state, cursor), waits)

    def threads(self, count: int) -> LineThreads:
        """The threads of the line, at least ``count`` of each kind if there are."""
        return self._by_files(count) or self._by_logs()

    def to_land(self) -> str:
        """How much the viewer has to land and to approve, in words."""
        if self.viewer is None:
            return ""
        moves = unlanded.own_landings(self.reader, self.viewer.holds)
        return unlanded.counts_text(moves.values())

    def _by_logs(self) -> LineThreads:
        rows = map(self.row, self.reader.topics())
        return threads_of(filter(None, rows), self.surroundings)

    def _by_files(self, count: int) -> LineThreads | None:
        """The same by the names of the status files; ``None`` if they are missing or
        wrong."""
        layout = self.reader.layout
        folders = (layout.local, f"{layout.local}/status")
        if any(os.path.islink(path) or not os.path.isdir(path) for path in folders):
            return None
        keys = _own_folders(self.surroundings)
        held: dict[str, HeldBall] = {}
        local_balls: dict[str, HeldBall] = {}
        question_balls: dict[str, HeldBall] = {}
        for _ in range(_SCANS):
            for key in keys:
                for name in names_at(layout, f"{layout.local}/status/holder/{key}"):
                    held[name] = HeldBall(key, name)
                for name in names_at(layout, f"{layout.local}/status/asked/{key}"):
                    question_balls[name] = HeldBall(key, name)
            local_balls |= {ball.name: ball for ball in self._balls_here()}
        for name in {*local_balls, *held} - _latest_names((*local_balls, *held)):
            local_balls.pop(name, None)
            held.pop(name, None)
        # Of each thread, its oldest question to the viewer, or else its ball.
        oldest = {
            question_balls[name].topic: question_balls[name]
            for name in sorted(question_balls, reverse=True)
        }
        local_topics = {ball.topic for ball in local_balls.values()}
        if not self.surroundings.pinned:
            seated = (q.topic for q in oldest.values() if has_seat(q.folder))
            local_topics.update(seated)
        balls_here = [b for b in local_balls.values() if b.topic not in oldest]
        my_balls = [ball for ball in balls_here if ball.folder in keys]
        around = [ball for ball in balls_here if ball.folder not in keys]
        away = [
            ball
            for name, ball in held.items()
            if name not in local_balls and ball.topic not in oldest
        ]
        for balls in (my_balls, around, away):
            balls.sort(key=lambda ball: os.fsencode(ball.name))
        questions = sorted(oldest.values(), key=lambda q: os.fsencode(q.name))
        asked_here = [q for q in questions if q.topic in local_topics]
        asked_away = [q for q in questions if q.topic not in local_topics]
        active = [ball for ball in around if ball.folder != WAITING_FOLDER]
        latest = (active or around)[-1:]
        try:
            return LineThreads(
                mine=self._first(asked_here, my_balls, count),
                around=self._rows(around[::-1][:count]) if count > 1 else (),
                away=self._first(asked_away, away, count),
                mine_count=len(asked_here) + len(my_balls),
                around_count=len(around),
                away_count=len(asked_away) + len(away),
                latest=next(iter(self._rows(latest)), None),
            )
        except LookupError:
            return None

    def _balls_here(self) -> Iterator[HeldBall]:
        """Yield the balls of the threads that are here."""
        layout, local = self.reader.layout, self.reader.layout.local
        places = self.surroundings.places
        if self.surroundings.pinned:
            places = (pin_place(worktree_key(self.repository)),)
        else:
            for key in seated_folders(layout, self.surroundings):
                for name in names_at(layout, f"{local}/status/holder/{key}"):
                    yield HeldBall(key, name)
            places = tuple(p for p in places if p == MAIN or is_branch(p))
        for place in places:
            folder = f"{local}/status/branch/{place}/.t"
            for holder in _names(layout, folder):
                for name in names_at(layout, f"{folder}/{holder}"):
                    yield HeldBall(holder, name)

    def _first(
        self, questions: Sequence[HeldBall], balls: Sequence[HeldBall], count: int
    ) -> tuple[StatusRow, ...]:
        """Return at most ``count`` threads, those with a question first. Raises
        LookupError as `_rows` does."""
        first = tuple(map(self._asked_row, questions[:count]))
        return first + self._rows(balls[: count - len(first)])

    def _asked_row(self, question: HeldBall) -> StatusRow:
        row = self.row(question.topic) if question.topic else None
        directory = self.surroundings.directory
        for move in next_moves(row.state, row.waits) if row is not None else ():
            folder = safe_name(directory.key(parse(move.participant)))
            name = question_name(row.state.topic, move.since) if row else ""
            is_it = (folder, name) == (question.folder, question.name)
            if row is not None and move.kind == QUESTION and is_it:
                return row._replace(question=move)
        raise LookupError(question.name)

    def _rows(self, balls: Sequence[HeldBall]) -> tuple[StatusRow, ...]:
        """Return the threads of these balls. Raises LookupError if one is not as the
        names say."""
        return tuple(map(self._row_of, balls))

    def _row_of(self, ball: HeldBall) -> StatusRow:
        row = self.row(ball.topic) if ball.topic else None
        if row is None or row.state.status == CLOSED:
            raise LookupError(ball.name)
        key = holder_key(row.state, self.surroundings.directory)
        folder = FREE_FOLDER if key is None else safe_name(key)
        folder = WAITING_FOLDER if row.waits else folder
        if (folder, file_name(row.state)) != (ball.folder, ball.name):
            raise LookupError(ball.name)
        return row


def _latest_names(names: Iterable[str]) -> set[str]:
    """Return the latest name of each thread. While a ball is on its way, its new holder
    has it before the old one has lost it."""
    by_topic: dict[str, str] = {}
    for name in sorted(names, key=os.fsencode):
        by_topic[HeldBall("", name).topic] = name
    return {*by_topic.values()}


def _own_folders(surroundings: Surroundings) -> tuple[str, ...]:
    if surroundings.me is None:
        return ()
    keys = surroundings.directory.match_keys(surroundings.me)
    return tuple(map(safe_name, keys))


def _names(layout: Layout, folder: str) -> list[str]:
    try:
        return names_in(folder, layout.root)
    except WcError:
        return []

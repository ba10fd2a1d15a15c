"""Which balls and questions have reached me, and which I already had.

A ball counts as arrived if the entry that passed it is later than everything I wrote
and I have not read it. So an answer that was faster than the waiting command is not
missed, and a ball that I left unattended does not count. A question counts if its
thread has NEW entries.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.attention.status.balls import FREE_FOLDER, folders_of
from wc_core.attention.status.newcounts import NewCounts
from wc_core.base import ulid
from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.attention.status.balls import Balls, HeldBall
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer

# In how many threads the viewer's latest entry is searched.
_MOST = 100


class Awaiting(NamedTuple):
    """What a waiter waits for: balls in ``topics`` (empty: in any thread) that are not
    among ``before``, their names. With ``new``, NEW entries count too; ``counts`` are
    those that were already NEW. With ``ready``, threads that the viewer can start count
    instead, including those that were there before."""

    viewer: Viewer
    topics: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    new: bool = False
    counts: Mapping[str, int] = MappingProxyType({})
    ready: bool = False

    def has(self, held: HeldBall) -> bool:
        """Whether a ball or question is waited for."""
        is_named = not self.topics or held.topic in self.topics
        return is_named and held.name not in self.before


class Arrival(NamedTuple):
    """A thread that was waited for. ``ball`` if the waiter has the next move,
    ``question`` if the waiter is asked something."""

    topic: str
    ball: bool = True
    question: bool = False


def awaiting(
    balls: Balls, viewer: Viewer, topics: Iterable[str], *, new: bool
) -> Awaiting:
    """Returns what counts as an arrival from now on. In named topics every ball
    counts."""
    named = frozenset(topics)
    before = frozenset[str]() if named else _before(balls, viewer)
    counts = _counts(balls, viewer, named) if new else {}
    return Awaiting(viewer, named, before, new, counts)


def arrivals(balls: Balls, awaited: Awaiting) -> list[Arrival]:
    """Returns what has arrived, longest held balls first."""
    if awaited.ready:
        return _ready(balls, awaited)
    arrived = [Arrival(held.topic) for held in arrived_balls(balls, awaited)]
    questions = dict.fromkeys(held.topic for held in new_questions(balls, awaited))
    arrived += [Arrival(topic, ball=False, question=True) for topic in questions]
    if arrived or not awaited.new:
        return arrived
    now = _counts(balls, awaited.viewer, awaited.topics)
    return [
        Arrival(topic, ball=False)
        for topic, count in now.items()
        if count > awaited.counts.get(topic, 0)
    ]


def arrived_balls(balls: Balls, awaited: Awaiting) -> list[HeldBall]:
    """Returns the balls that have arrived, longest held first."""
    return [*filter(awaited.has, balls.held(folders_of(awaited.viewer)))]


def new_questions(balls: Balls, awaited: Awaiting) -> list[HeldBall]:
    """Returns the questions that have arrived, oldest first; each has the question's
    entry in place of the ball's."""
    return [*filter(awaited.has, balls.asked(folders_of(awaited.viewer)))]


def _ready(balls: Balls, awaited: Awaiting) -> list[Arrival]:
    """Returns the threads that the viewer can start, the viewer's own first."""
    folders = folders_of(awaited.viewer)
    startable = [
        held
        for group in (folders, [FREE_FOLDER])
        for held, status in balls.with_status(group)
        if status != BLOCKED
    ]
    arrived = filter(awaited.has, (*balls.asked(folders), *startable))
    return [*map(Arrival, dict.fromkeys(held.topic for held in arrived))]


def are_closed(reader: StoreReader, awaited: Awaiting) -> bool:
    """Returns whether the waiter waits only for balls of named threads that are all
    closed, so that none of them can move."""
    if awaited.new or not awaited.topics:
        return False
    return all(_is_closed(reader, topic) for topic in awaited.topics)


def _is_closed(reader: StoreReader, topic: str) -> bool:
    try:
        return reader.snapshot(topic).state.status == CLOSED
    except WcError:
        return False


def _before(balls: Balls, viewer: Viewer) -> frozenset[str]:
    """Returns the balls that were there before: already read, or older than the
    viewer's latest entry; and the questions already read."""
    questions, own = (find(folders_of(viewer)) for find in (balls.asked, balls.held))
    wrote = _wrote_last(balls, viewer) if own else ""
    later = [held for held in own if held.since > wrote]
    statuses = balls.statuses([*questions, *later], viewer)
    news = {status.held.name for status in statuses if status.new}
    return frozenset(held.name for held in (*questions, *own)) - news


def _wrote_last(balls: Balls, viewer: Viewer) -> str:
    """Returns the ULID of the viewer's latest entry in the open threads that changed
    last; empty if there is none."""
    latest, counts = "", NewCounts(balls.reader, viewer)
    for fields in balls.changed_last(_MOST):
        if ulid.prefix(fields.last_id) <= latest:
            break
        if not counts.wrote_in(fields):
            continue
        try:
            entries = balls.reader.thread(fields.topic).entries
        except WcError:
            continue
        ids = (entry.id for entry in reversed(entries) if viewer.is_me(entry.agent))
        latest = max(latest, ulid.prefix(next(ids, "")))
    return latest


def _counts(balls: Balls, viewer: Viewer, topics: frozenset[str]) -> dict[str, int]:
    """Returns the number of NEW entries in the named threads, otherwise in those that
    the viewer takes part in or has the ball of."""
    own = folders_of(viewer)
    meant = (
        held
        for held in balls.held(balls.folders())
        if not topics or held.topic in topics
    )
    return {
        status.held.topic: status.new
        for status in balls.statuses(meant, viewer)
        if topics or status.takes_part or status.held.folder in own
    }

"""Which balls and questions have reached me, and which I already had.

A ball counts as arrived if the entry that passed it is later than everything I wrote
and I have not read it. So an answer that was faster than the waiting command is not
missed, and a ball that I left unattended does not count. A question counts if its
thread has NEW entries.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.attention.status import holders
from wc_core.attention.status.files import FREE_FOLDER
from wc_core.base import ulid
from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.nextmoves import askers, moves_for
from wc_core.ledger.planning.obstacles import own_obstacles
from wc_core.ledger.threads.model import CLOSED
from wc_core.reading.views.remarks import asked_question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wc_core.attention.status.holders import HeldBall
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer

# How many balls are searched for the viewer's latest entry: the viewer's own, and the
# last ones passed. Passing a ball is an entry by the one who passed it.
_MOST = 50


class Awaiting(NamedTuple):
    """What a waiter waits for: balls in ``topics`` (empty: in any thread) that are not
    among ``before``, the names of status files. With ``new``, NEW entries count too;
    ``counts`` are those that were already NEW. With ``ready``, threads that the viewer
    can start count instead, including those that were there before."""

    viewer: Viewer
    topics: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    new: bool = False
    counts: Mapping[str, int] = MappingProxyType({})
    ready: bool = False


class Arrival(NamedTuple):
    """A thread that was waited for. ``ball`` if the waiter has the next move,
    ``question`` if the waiter is asked something."""

    topic: str
    ball: bool = True
    question: bool = False


def awaiting(
    reader: StoreReader, viewer: Viewer, topics: Iterable[str], *, new: bool
) -> Awaiting:
    """Returns what counts as an arrival from now on. In named topics every ball
    counts."""
    named = frozenset(topics)
    before = frozenset[str]() if named else _before(reader, viewer)
    counts = _counts(reader, viewer, named) if new else {}
    return Awaiting(viewer, named, before, new, counts)


def arrivals(reader: StoreReader, awaited: Awaiting) -> list[Arrival]:
    """Returns what has arrived, longest held balls first."""
    if awaited.ready:
        return _ready(reader, awaited)
    arrived = [Arrival(held.topic) for held in arrived_balls(reader, awaited)]
    questions = dict.fromkeys(held.topic for held in new_questions(reader, awaited))
    arrived += [Arrival(topic, ball=False, question=True) for topic in questions]
    if arrived or not awaited.new:
        return arrived
    now = _counts(reader, awaited.viewer, awaited.topics)
    return [
        Arrival(topic, ball=False)
        for topic, count in now.items()
        if count > awaited.counts.get(topic, 0)
    ]


def arrived_balls(reader: StoreReader, awaited: Awaiting) -> list[HeldBall]:
    """Returns the balls that have arrived, longest held first."""
    viewer = awaited.viewer
    names = holders.held_names(reader.layout, holders.folders_of(viewer))
    return [
        held
        for held in holders.in_order(holders.without(names, awaited.before))
        if not awaited.topics or held.topic in awaited.topics
        if _is_held(reader, viewer, held)
    ]


def new_questions(reader: StoreReader, awaited: Awaiting) -> list[HeldBall]:
    """Returns the questions that have arrived, oldest first; each has the question's
    entry in place of the ball's."""
    return [
        held
        for held in holders.asked_of(reader.layout, awaited.viewer)
        if not awaited.topics or held.topic in awaited.topics
        if held.name not in awaited.before
        if asked_question(reader, awaited.viewer, held) is not None
    ]


def _ready(reader: StoreReader, awaited: Awaiting) -> list[Arrival]:
    """Returns the threads that the viewer can start, the viewer's own first. The
    folders of holders contain no waiting threads."""
    folders = holders.folders_of(awaited.viewer)
    own = holders.held_balls(reader.layout, folders)
    free = holders.held_balls(reader.layout, [FREE_FOLDER])
    questioned = holders.asked_of(reader.layout, awaited.viewer)
    topics = dict.fromkeys(held.topic for held in (*questioned, *own, *free))
    return [
        Arrival(topic)
        for topic in topics
        if not awaited.topics or topic in awaited.topics
        if _is_startable(reader, awaited.viewer, topic)
    ]


def _is_startable(reader: StoreReader, viewer: Viewer, topic: str) -> bool:
    try:
        state = reader.snapshot(topic).state
    except WcError:
        return False
    is_asked = bool(askers(moves_for(viewer.holds, state)))
    own = own_obstacles(state.status, state.ball, viewer.whose(state.ball))
    return is_asked or not own


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


def _is_held(reader: StoreReader, viewer: Viewer, held: HeldBall) -> bool:
    try:
        state = reader.snapshot(held.topic).state
    except WcError:
        return False  # removed just now, or unreadable
    return state.status != CLOSED and viewer.holds(state.ball)


def _before(reader: StoreReader, viewer: Viewer) -> frozenset[str]:
    """Returns the balls that were there before: already read, or older than the
    viewer's latest entry; and the questions already read."""
    read = (
        held.name
        for held in holders.asked_of(reader.layout, viewer)
        if not _has_news(reader, viewer, held.topic)
    )
    return _balls_before(reader, viewer).union(read)


def _has_news(reader: StoreReader, viewer: Viewer, topic: str) -> bool:
    try:
        state = reader.snapshot(topic).state
    except WcError:
        return False
    return bool(viewer.new_count(state, reader.cursor(topic, viewer.key)))


def _balls_before(reader: StoreReader, viewer: Viewer) -> frozenset[str]:
    layout = reader.layout
    names = holders.held_names(layout, holders.holder_folders(layout))
    folders = holders.folders_of(viewer)
    own = {folder: names[folder] for folder in folders if names.get(folder)}
    if not own:
        return frozenset()
    wrote = _wrote_last(reader, viewer, own, holders.latest_balls(names, _MOST))
    later = {
        folder: [name for name in items if name[: ulid.LENGTH] > wrote]
        for folder, items in own.items()
    }
    statuses = holders.viewer_statuses(layout, holders.in_order(later), viewer)
    news = {held.name for held, status in statuses if status is not None and status.new}
    return frozenset().union(*own.values()) - news


def _wrote_last(
    reader: StoreReader,
    viewer: Viewer,
    own: Mapping[str, Sequence[str]],
    passed: Iterable[HeldBall],
) -> str:
    """Returns the greatest id among the viewer's latest entries: in threads with their
    ``own`` balls, named by folder, and in those whose balls were ``passed`` last."""
    latest = ""
    for held in _taken_part_in(reader, viewer, holders.latest_balls(own, _MOST)):
        try:
            entries = reader.thread(held.topic).entries
        except WcError:
            continue
        ids = (entry.id for entry in reversed(entries) if viewer.is_me(entry.agent))
        latest = max(latest, ulid.prefix(next(ids, "")))
    of_others = (held for held in passed if held.folder not in own)
    for held in _taken_part_in(reader, viewer, of_others):
        if held.since <= latest:
            break
        if _is_passed_by(reader, viewer, held):
            return held.since
    return latest


def _taken_part_in(
    reader: StoreReader, viewer: Viewer, balls: Iterable[HeldBall]
) -> Iterator[HeldBall]:
    """Yields the balls whose status files do not rule out that the viewer wrote in
    their threads. A file takes a tenth of the time of a log."""
    for held, status in holders.viewer_statuses(reader.layout, balls, viewer):
        if status is None or status.may_list:
            yield held


def _is_passed_by(reader: StoreReader, viewer: Viewer, held: HeldBall) -> bool:
    """Returns whether the viewer passed this ball."""
    try:
        state = reader.snapshot(held.topic).state
    except WcError:
        return False
    if ulid.prefix(state.last_id) == held.since:
        return viewer.is_me(state.updated_by)
    return any(
        ball_pass.to == state.ball and viewer.is_me(ball_pass.by)
        for ball_pass in state.passes
    )


def _counts(
    reader: StoreReader, viewer: Viewer, topics: frozenset[str]
) -> dict[str, int]:
    """Returns the number of NEW entries in the named threads, otherwise in those that
    the viewer takes part in or has the ball of."""
    layout = reader.layout
    own = holders.folders_of(viewer)
    balls = holders.held_balls(layout, holders.holder_folders(layout))
    meant = (ball for ball in balls if not topics or ball.topic in topics)
    return {
        held.topic: status.new
        for held, status in holders.viewer_statuses(layout, meant, viewer)
        if status is not None and status.new is not None
        if topics or status.listed or held.folder in own
    }

"""Which of my balls have come to me, and which were there before.

A ball counts as come if the entry that passed it is later than anything that
I wrote and I have not read it: then an answer that was faster than whoever
waits for it is not missed, and a ball that I left lying is not taken for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wc_core import ulid
from wc_core.errors import WcError
from wc_core.status import holders
from wc_core.threads.model import CLOSED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.identity.viewer import Viewer
    from wc_core.status.holders import HeldBall
    from wc_core.threads.reader import StoreReader

# So many balls are looked at for what I wrote last: mine, and those that were
# passed last. Who passed one wrote the entry that says so.
_MOST = 50


class Awaiting(NamedTuple):
    """What somebody waits for: balls in ``topics`` (none: in any thread) that
    are not among ``before``, the names of files; with ``new`` entries too, of
    which ``counts`` were NEW already."""

    viewer: Viewer
    topics: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    new: bool = False
    counts: dict[str, int] = {}  # noqa: RUF012 - a value, never changed


class Arrival(NamedTuple):
    """A thread somebody waited for; ``ball`` says whether it is their move."""

    topic: str
    ball: bool = True


def awaiting(
    reader: StoreReader, viewer: Viewer, topics: Iterable[str], *, new: bool
) -> Awaiting:
    """What counts as an arrival from now on. Of named topics every ball does."""
    wanted = frozenset(topics)
    before = frozenset[str]() if wanted else _before(reader, viewer)
    counts = _counts(reader, viewer, wanted) if new else {}
    return Awaiting(viewer, wanted, before, new, counts)


def arrivals(reader: StoreReader, wanted: Awaiting) -> list[Arrival]:
    """What has come, the balls that have been there longest first."""
    layout, viewer = reader.layout, wanted.viewer
    found = []
    for held in holders.balls(layout, holders.folders_of(viewer)):
        fits = not wanted.topics or held.topic in wanted.topics
        if fits and held.name not in wanted.before and _is_held(reader, viewer, held):
            found.append(Arrival(held.topic))
    if found or not wanted.new:
        return found
    now = _counts(reader, viewer, wanted.topics)
    return [
        Arrival(topic, ball=False)
        for topic, count in now.items()
        if count > wanted.counts.get(topic, 0)
    ]


def are_closed(reader: StoreReader, wanted: Awaiting) -> bool:
    """Whether only balls of named threads are waited for, and all of these threads
    are closed: no ball of theirs moves any more."""
    if wanted.new or not wanted.topics:
        return False
    return all(_is_closed(reader, topic) for topic in wanted.topics)


def _is_closed(reader: StoreReader, topic: str) -> bool:
    try:
        return reader.snapshot(topic).state.status == CLOSED
    except WcError:
        return False


def _is_held(reader: StoreReader, viewer: Viewer, held: HeldBall) -> bool:
    try:
        state = reader.snapshot(held.topic).state
    except WcError:
        return False  # gone this moment, or nothing that could be shown
    return state.status != CLOSED and viewer.holds(state.ball)


def _before(reader: StoreReader, viewer: Viewer) -> frozenset[str]:
    """The balls that were there before: read already, or older than what one
    wrote last."""
    found = holders.balls(reader.layout, holders.folders_of(viewer))
    if not found:
        return frozenset()
    wrote = _wrote_last(reader, viewer, found)
    return frozenset(
        held.name
        for held in found
        if held.since <= wrote or not _is_news(reader, viewer, held)
    )


def _is_news(reader: StoreReader, viewer: Viewer, held: HeldBall) -> bool:
    shown = holders.show(reader.layout, held, viewer)
    return shown is not None and bool(shown.new)


def _wrote_last(reader: StoreReader, viewer: Viewer, mine: list[HeldBall]) -> str:
    """The greatest id among my last entries: in the threads whose balls are
    mine, and in those whose balls I passed to others."""
    last = ""
    for held in mine[-_MOST:]:
        try:
            entries = reader.thread(held.topic).entries
        except WcError:
            continue
        own = (one.id for one in reversed(entries) if viewer.is_me(one.agent))
        last = max(last, ulid.prefix(next(own, "")))
    layout = reader.layout
    every = holders.balls(layout, holders.holders(layout))
    for held in [one for one in every[-_MOST:] if one not in mine]:
        if held.since > last and _is_passed_by(reader, viewer, held):
            last = held.since
    return last


def _is_passed_by(reader: StoreReader, viewer: Viewer, held: HeldBall) -> bool:
    """Whether one put a ball where it is."""
    try:
        state = reader.snapshot(held.topic).state
    except WcError:
        return False
    if ulid.prefix(state.last_id) == held.since:
        return viewer.is_me(state.updated_by)
    return any(one.to == state.ball and viewer.is_me(one.by) for one in state.passes)


def _counts(
    reader: StoreReader, viewer: Viewer, topics: frozenset[str]
) -> dict[str, int]:
    """How many entries are NEW in the threads meant: those named, else those
    that one takes part in or holds the ball of."""
    layout = reader.layout
    own = holders.folders_of(viewer)
    every = holders.balls(layout, holders.holders(layout))
    meant = (one for one in every if not topics or one.topic in topics)
    return {
        held.topic: shown.new
        for held, shown in holders.shows(layout, meant, viewer)
        if shown is not None and shown.new is not None
        if topics or shown.listed or held.folder in own
    }

"""Whose balls may wake an agent: `[wake] from` of the person's preferences."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from wc_core.errors import WcError
from wc_core.names import fold, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.identity.viewer import Viewer
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader

KNOWN, ANYONE = "known", "anyone"
# Threads that are searched for an earlier exchange, the latest first.
_SEARCHED = 2000


def sender_of(state: State) -> str:
    """Returns who passed the ball to its holder; empty if nobody is known to have."""
    passes = (ball_pass for ball_pass in state.passes if ball_pass.to == state.ball)
    return next((ball_pass.by for ball_pass in passes), state.updated_by)


def is_known(reader: StoreReader, viewer: Viewer, sender: str, topic: str) -> bool:
    """Returns whether the viewer, or another agent of the same person, has exchanged a
    ball with ``sender`` before the ball of ``topic`` came.

    Agents of the same person know each other, and so does everybody who has passed
    them a ball that they answered, or got one from them.
    """
    if _is_same_person(viewer, sender):
        return True
    return any(
        _has_exchanged(state, viewer, sender)
        for state in islice(_states(reader, topic), _SEARCHED)
    )


def is_named(viewer: Viewer, sender: str, allowed: tuple[str, ...]) -> bool:
    """Returns whether one of the names of `[wake] from` means ``sender``."""
    name = parse(sender)
    return any(viewer.directory.matches(pattern, name) for pattern in allowed)


def _is_same_person(viewer: Viewer, name: str) -> bool:
    tag = fold(viewer.identity.name.tag)
    return viewer.is_me(name) or (tag != "" and fold(parse(name).tag) == tag)


def _has_exchanged(state: State, viewer: Viewer, sender: str) -> bool:
    """Returns whether the viewer's side passed a ball to ``sender``."""
    directory = viewer.directory
    return any(
        _is_same_person(viewer, ball_pass.by) and directory.same(ball_pass.to, sender)
        for ball_pass in state.passes
    )


def _states(reader: StoreReader, topic: str) -> Iterator[State]:
    """Yields the states of all threads, that of ``topic`` first."""
    topics = reader.topics()
    for name in (topic, *(name for name in topics if name != topic)):
        try:
            yield reader.snapshot(name).state
        except WcError:
            continue

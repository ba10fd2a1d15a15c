"""Chooses the balls for which a session is woken now, and when to check again."""

from __future__ import annotations

import math
import time
from contextlib import suppress

from wc_cli.agents.briefing import sessions
from wc_cli.agents.briefing.sessions import ASKED, Session
from wc_cli.ledger.store import durable
from wc_core.attention.status.balls import Balls, HeldBall, folders_of, name_of
from wc_core.attention.wake import records, senders, waiters
from wc_core.base import ulid
from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads.model import CLOSED
from wc_core.reading.views import arrivals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.context import Context
    from wc_core.attention.wake.waiters import Waiter
    from wc_core.ledger.configuration.preferences import Preferences
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer

_HOUR_MS = 3600_000
_STRANGER_MS = 60_000


class Arrived(NamedTuple):
    """A ball, or a question, for which an agent is woken."""

    held: HeldBall
    is_question: bool = False
    is_stranger: bool = False


class WakeChoice(NamedTuple):
    """What an agent is woken for, the longest held first; and in how many ms to check
    again if something has to wait (infinity: when something changes)."""

    arrived: tuple[Arrived, ...] = ()
    again_ms: float = math.inf


def choose(context: Context, waiter: Waiter, now_ms: int) -> WakeChoice:
    """Return what a session is woken for now.

    Nothing while `wc wake off` applies, or beyond `[wake] per_hour`; nothing that the
    session already knows or for which anyone was called before; nothing that has gone
    back and forth too often; and only what `senders.Waking` allows, from strangers at
    most once a minute.
    """
    from wc_core.ledger.configuration import preferences  # 1 ms, not while it sleeps

    reader = context.reader
    off_ms = waiters.off_until_ms(reader.layout) - now_ms
    if off_ms > 0:
        return WakeChoice(again_ms=off_ms)
    arrived = _arrived(context, reader, waiter)
    if not arrived:
        return WakeChoice()
    person = preferences.load(context.env)
    calls = records.calls_of(reader.layout, context.viewer.key, now_ms, _HOUR_MS)
    limit = person.wakes_per_hour
    if records.number_of_calls(calls) >= limit:
        first_ms = calls[0].at_ms if calls else now_ms
        return WakeChoice(again_ms=first_ms + _HOUR_MS - now_ms + 1)
    allowed = [*_allowed(context, reader, person, arrived)]
    stranger_ms = max((call.at_ms for call in calls if call.is_stranger), default=0)
    pause_ms = stranger_ms + _STRANGER_MS - now_ms
    now = [arrival for arrival in allowed if pause_ms <= 0 or not arrival.is_stranger]
    again_ms = pause_ms + 1 if len(now) < len(allowed) else math.inf
    return WakeChoice(tuple(now), again_ms)


def _arrived(context: Context, reader: StoreReader, waiter: Waiter) -> list[Arrived]:
    """Return what has arrived and nobody knows yet."""
    layout, viewer = reader.layout, context.viewer
    balls = Balls(reader, viewer.directory)
    context.note_unindexed(balls.freshness.unindexed)
    _release(balls)
    path = sessions.path_of(layout, waiter.client, waiter.session)
    session = sessions.load(layout, path) or Session()
    held_names = {held.name for held in balls.held(waiter.keys)}
    listed = held_names | {held.name for held in balls.asked(folders_of(viewer))}
    came = _came_since(waiter, held_names)
    announced = (
        session.known(listed) | session.reminded | session.reminded_of(held_names)
    )
    passed = (records.names(layout) & listed) | (announced - came)
    awaited = arrivals.awaiting(balls, viewer, (), new=False)
    awaited = awaited._replace(before=(awaited.before - came) | passed)
    questions = [
        held
        for held in arrivals.new_questions(balls, awaited)
        if f"{ASKED}{held.name}" not in passed
    ]
    names = {held.name for held in questions}
    arrived = [
        held
        for held in arrivals.arrived_balls(balls, awaited)
        if held.name not in names
    ]
    return [
        *(Arrived(held, is_question=True) for held in questions),
        *(Arrived(held) for held in arrived),
    ]


def _release(balls: Balls) -> None:
    """Let a ball whose thread waits for others wake someone again when it comes back.
    The record of the call gets another name: it still counts as one."""
    reader = balls.reader
    for name in records.names(reader.layout):
        topic = HeldBall("", name).topic
        if not balls.waits(topic):
            continue
        with suppress(WcError):
            if name_of(reader.snapshot(topic).state) == name:
                path = records.path_of(reader.layout, name)
                root = private_layout(reader.layout).root
                durable.move(path, f"{path}.{time.time_ns()}", root)


def _came_since(waiter: Waiter, names: set[str]) -> set[str]:
    """Return the balls that were passed before the agent's turn ended, but came later:
    from another machine, or because their threads no longer wait for something."""
    if waiter.held is None:
        return set()
    ended_ms = waiter.since_ns // 1_000_000
    return {
        name
        for name in names.difference(waiter.held)
        if ulid.timestamp_ms(name[: ulid.LENGTH]) <= ended_ms
    }


def _allowed(
    context: Context, reader: StoreReader, person: Preferences, arrived: list[Arrived]
) -> Iterator[Arrived]:
    """Yield what has arrived and may wake the agent, marked if the sender is a
    stranger."""
    viewer = context.viewer
    waking = senders.Waking(reader, viewer, person.wake_from)
    for arrival in arrived:
        try:
            thread = reader.thread(arrival.held.topic)
        except WcError:
            continue
        question = _question(thread.state, viewer, arrival)
        # A ball that goes back and forth without progress needs a person.
        bounces = thread.state.bounces >= context.settings.bounces
        if question is None or (bounces and not arrival.is_question):
            continue
        verdict = waking.verdict(thread, question)
        if verdict:
            yield arrival._replace(is_stranger=verdict == senders.STRANGER)


def _question(state: State, viewer: Viewer, arrival: Arrived) -> str | None:
    """Return the id of the question that has arrived, empty for a ball; ``None`` if the
    log has neither: whatever else says so can be pushed."""
    if state.status == CLOSED:
        return None
    if not arrival.is_question:
        return "" if viewer.holds(state.ball) else None
    questioned = (
        question.id
        for question in state.questions
        if ulid.prefix(question.id) == arrival.held.since
        if viewer.holds(question.asked)
    )
    return next(questioned, None)

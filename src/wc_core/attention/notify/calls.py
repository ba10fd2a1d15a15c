"""The events that call a person: balls they got, questions to them, and balls that go
back and forth between their agents.

Each call has a name, which is that of its record: a person is notified once for each.
A thread is read only to make a notice.
"""

from __future__ import annotations

from wc_core.attention.status.balls import folders_of
from wc_core.base import names, ulid
from wc_core.base.errors import WcError
from wc_core.base.layout import key_of, safe_name
from wc_core.base.text import one_line
from wc_core.base.times import rfc3339
from wc_core.base.values import NamedTuple
from wc_core.edits.review import outcomes
from wc_core.ledger.provenance import NOTIFY, Provenance, may
from wc_core.ledger.threads import model
from wc_core.ledger.threads.moves import bounces_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_core.attention.status.balls import Balls
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.settings import Settings
    from wc_core.people.identity.viewer import Viewer

# Why a person is notified. All but a ball have a high priority: an agent cannot go on.
BALL, QUESTION, BLOCKED, BOUNCES = "ball", "question", "blocked", "bounces"
SEVERAL = "several"
_HEADINGS = {
    BALL: "Your move: {}",
    QUESTION: "A question to you: {}",
    BLOCKED: "Blocked, your move: {}",
    BOUNCES: "Needs a person: {}",
    SEVERAL: "{} notifications from threads",
}
_WIDTH, _TEXT_WIDTH = 120, 400
_BOUNCES_PREFIX = "bounces."


class PersonCall(NamedTuple):
    """A call by the name of its record. ``since`` is the id of the entry that called;
    empty if none did."""

    name: str
    topic: str
    reason: str
    since: str = ""

    @property
    def at_ms(self) -> int:
        """When it called, in milliseconds since 1970; 0 if unknown."""
        return ulid.timestamp_ms(self.since) if ulid.prefix(self.since) else 0


def current_calls(balls: Balls, viewer: Viewer) -> list[PersonCall]:
    """The balls that are the person's, and the open questions to them."""
    folders = folders_of(viewer)
    return [
        *(
            PersonCall(held.name, held.topic, BALL, held.since)
            for held in balls.held(folders)
        ),
        *(
            PersonCall(f"asked.{held.name}", held.topic, QUESTION, held.since)
            for held in balls.asked(folders)
        ),
    ]


def bouncing_calls(
    balls: Balls, viewer: Viewer, settings: Settings, since_ns: int
) -> Iterator[PersonCall]:
    """The threads that go back and forth between agents of the person, and in which
    something happened after ``since_ns``."""
    for held in balls.changed(since_ns):
        name = f"{_BOUNCES_PREFIX}{safe_name(held.topic)}"
        if not held.is_free and is_bouncing(balls.reader, viewer, name, settings):
            yield PersonCall(name, held.topic, BOUNCES, held.since)


def is_bouncing(
    reader: StoreReader, viewer: Viewer, record: str, settings: Settings
) -> bool:
    """Whether a record is of a ball that still goes back and forth, or of a review
    whose changes are requested again and again, between two agents, one of them the
    person's."""
    if not record.startswith(_BOUNCES_PREFIX):
        return False
    try:
        state = reader.snapshot(key_of(record.removeprefix(_BOUNCES_PREFIX))).state
    except WcError:
        return False
    if state.status == model.CLOSED:
        return False
    if state.bounces >= settings.bounces:
        pair = state.passes[-1].by, state.passes[-1].to
    elif outcomes.has_too_many_rounds(state, settings):
        pair = state.review.by, state.review.of
    else:
        return False
    parsed = [names.parse(name) for name in pair]
    person = names.fold(viewer.identity.name.agent)
    return any(names.fold(name.tag) == person for name in parsed) and all(
        name.tag or viewer.directory.is_agent(name) for name in parsed
    )


def event_of(
    reader: StoreReader, viewer: Viewer, call: PersonCall, settings: Settings
) -> dict[str, Any] | None:
    """What the person is told (`event`); ``None`` if there is nothing to do, if they
    did it themselves, or if they have read it."""
    try:
        snapshot = reader.snapshot(call.topic)
        state, reason = snapshot.state, call.reason
        is_news = reason == BOUNCES or _is_news(reader, viewer, call, state)
    except WcError:
        return None  # removed just now, or unreadable: wc doctor reports it
    text = None
    if state.status == model.CLOSED or not is_news:
        pass
    elif reason == BOUNCES:
        is_ball = state.bounces >= settings.bounces
        text = bounces_text(state) if is_ball else outcomes.rounds_text(state)
        text = text.partition(";")[0]
    elif reason == QUESTION:
        for question in state.questions:
            is_it = ulid.prefix(question.id) == ulid.prefix(call.since)
            text = question.title if is_it and viewer.holds(question.asked) else text
    elif viewer.holds(state.ball):
        text = state.title
        reason = BLOCKED if state.status == model.BLOCKED else BALL
    return None if text is None else event(reason, snapshot.name, text, call.at_ms)


def event(
    reason: str, topic: str, text: str, at_ms: int, count: int = 1
) -> dict[str, Any]:
    """What a person's command is told: as JSON, and each field in a variable. The title
    has no text of the thread."""
    heading = _HEADINGS[reason].format(count if reason == SEVERAL else topic)
    return {
        "event": reason,
        "priority": "default" if reason == BALL else "high",
        "topic": one_line(topic, _WIDTH),
        "count": count,
        "title": one_line(heading, _WIDTH),
        "text": one_line(text, _TEXT_WIDTH),
        "at": rfc3339(at_ms),
    }


def _is_news(
    reader: StoreReader, viewer: Viewer, call: PersonCall, state: State
) -> bool:
    """Whether an entry called that the person has not read, and did not write here:
    under their name, anyone can write elsewhere."""
    cursor = reader.cursor(state.topic, viewer.key)
    is_new = viewer.new_count(state, cursor) > 0
    thread = reader.thread(state.topic)
    for position, entry in enumerate(thread.entries):
        if ulid.prefix(entry.id) == call.since:
            is_own = viewer.is_me(entry.agent)
            # Their own entries are never NEW.
            is_unread = position >= cursor.entry_count if is_own else is_new
            origin = Provenance(reader.layout).of(thread, entry.id)
            return is_unread and may(NOTIFY, origin, lambda: False, is_own=is_own)
    return is_new

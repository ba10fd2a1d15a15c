"""The events that call a person: balls they got, questions to them, and balls that go
back and forth between their agents.

Each call has a name, which is that of its record: a person is notified once for each.
Finding the names takes a listing of folders; a thread is read only to make a notice.
"""

from __future__ import annotations

from wc_core.attention.notify.messages import BALL, BLOCKED, BOUNCES, QUESTION, Notice
from wc_core.attention.status import holders
from wc_core.base import names, ulid
from wc_core.base.errors import WcError
from wc_core.base.layout import key_of, safe_name
from wc_core.base.values import NamedTuple
from wc_core.edits.review import outcomes
from wc_core.ledger.provenance import NOTIFY, Provenance, may
from wc_core.ledger.threads import model
from wc_core.ledger.threads.moves import bounces_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.settings import Settings
    from wc_core.people.identity.viewer import Viewer

ASKED_PREFIX, BOUNCES_PREFIX = "asked.", "bounces."


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


def current_calls(reader: StoreReader, viewer: Viewer) -> list[PersonCall]:
    """The balls that are the person's, and the open questions to them."""
    layout = reader.layout
    balls = holders.held_balls(layout, holders.folders_of(viewer))
    return [
        *(PersonCall(held.name, held.topic, BALL, held.since) for held in balls),
        *(
            PersonCall(f"{ASKED_PREFIX}{held.name}", held.topic, QUESTION, held.since)
            for held in holders.asked_of(layout, viewer)
        ),
    ]


def bouncing_calls(
    reader: StoreReader, viewer: Viewer, settings: Settings, since_ns: int
) -> Iterator[PersonCall]:
    """The threads that go back and forth between agents of the person (`is_bouncing`),
    and in which something happened after ``since_ns``."""
    for held in holders.changed_balls(reader.layout, since_ns):
        if not held.is_free and is_bouncing(reader, viewer, held.topic, settings):
            name = f"{BOUNCES_PREFIX}{safe_name(held.topic)}"
            yield PersonCall(name, held.topic, BOUNCES, held.since)


def is_bouncing(
    reader: StoreReader, viewer: Viewer, topic: str, settings: Settings
) -> bool:
    """Whether the ball of a thread went back and forth so often, or changes were
    requested so often, between two agents, one of them the person's."""
    try:
        state = reader.snapshot(topic).state
    except WcError:
        return False
    pair = [names.parse(name) for name in _pair(state, settings)]
    person = names.fold(viewer.identity.name.agent)
    is_theirs = any(names.fold(name.tag) == person for name in pair)
    return is_theirs and all(
        name.tag or viewer.directory.is_agent(name) for name in pair
    )


def _pair(state: State, settings: Settings) -> tuple[str, ...]:
    """The two between whom a thread goes back and forth; empty if it does not."""
    if state.status == model.CLOSED:
        return ()
    if state.bounces >= settings.bounces:
        return state.passes[-1].by, state.passes[-1].to
    if outcomes.has_too_many_rounds(state, settings):
        return state.review.by, state.review.of
    return ()


def topic_of_bounces(record: str) -> str:
    """The thread of a record for a ball that went back and forth; empty for others."""
    if not record.startswith(BOUNCES_PREFIX):
        return ""
    return key_of(record.removeprefix(BOUNCES_PREFIX))


def notice_of(
    reader: StoreReader, viewer: Viewer, call: PersonCall, settings: Settings
) -> Notice | None:
    """The notification for the person; ``None`` if there is nothing to do, if they did
    it themselves, or if they have read it."""
    try:
        snapshot = reader.snapshot(call.topic)
        state = snapshot.state
        if state.status == model.CLOSED:
            return None
        if call.reason == BOUNCES:
            return Notice(BOUNCES, "", snapshot.name, _bounces_text(state, settings))
        is_news = _is_news(reader, viewer, call, state)
    except WcError:
        return None  # removed just now, or unreadable: wc doctor reports it
    reason, text = call.reason, _question(viewer, call, state)
    if reason == BALL:
        reason = BLOCKED if state.status == model.BLOCKED else BALL
        text = state.title if viewer.holds(state.ball) else None
    if text is None or not is_news:
        return None
    return Notice(reason, "", snapshot.name, text, at_ms=call.at_ms)


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
            return is_unread and may(NOTIFY, origin, _is_never_named, is_own=is_own)
    return is_new


def _is_never_named() -> bool:
    return False


def _question(viewer: Viewer, call: PersonCall, state: State) -> str | None:
    """The title of the question; ``None`` if it was answered."""
    for question in state.questions:
        if ulid.prefix(question.id) == ulid.prefix(call.since):
            return question.title if viewer.holds(question.asked) else None
    return None


def _bounces_text(state: State, settings: Settings) -> str:
    is_ball = state.bounces >= settings.bounces
    text = bounces_text(state) if is_ball else outcomes.rounds_text(state)
    return text.partition(";")[0]

"""The columns of `cache` with what lists show of a thread."""

from __future__ import annotations

from wc_core.base import ulid
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.gates import Gate
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.model import (
    NO_REVIEW,
    Item,
    Link,
    OpenQuestion,
    Review,
    State,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.ledger.threads.snapshot import Snapshot

# The time of a ball whose log has no usable id.
UNKNOWN_ID = "0" * ulid.LENGTH
_COUNT_END = ":"
_BETWEEN = "\x1f"


class ThreadFields(NamedTuple):
    """What lists show of a thread.

    ``ball`` is None where it is free. ``new`` has the participants, each after the
    number of entries that are new for them. ``more`` is a JSON object with the fields
    that only few threads have; empty for most. ``planned`` says whether it has links to
    other threads or gates, ``asked`` whether it has questions without an answer.
    ``since`` is the ULID of the entry that gave the ball to its holder.
    """

    topic: str
    last_id: str
    status: str
    ball: str | None
    title: str
    updated_at: str
    updated_by: str
    branch: str
    entry_count: int
    new: str
    more: str
    planned: bool
    asked: bool
    since: str


COLUMNS = ", ".join(ThreadFields._fields)


def fields_of(snapshot: Snapshot) -> ThreadFields:
    """Returns the fields of a thread."""
    state = snapshot.state
    new = _BETWEEN.join(
        f"{item.new}{_COUNT_END}{item.name}" for item in state.participants
    )
    extra = _more(snapshot)
    return ThreadFields(
        state.topic,
        state.last_id,
        state.status,
        state.ball,
        state.title,
        state.updated_at,
        state.updated_by,
        state.branch,
        state.entry_count,
        new,
        dumps(extra) if extra else "",
        bool(state.links or state.gates),
        bool(state.questions),
        since_of(state),
    )


def since_of(state: State) -> str:
    """Returns the ULID of the entry that gave the ball to its holder. Without one, that
    of the last entry; else zeros, which sort as the longest waiting."""
    return ulid.prefix(state.since) or ulid.prefix(state.last_id) or UNKNOWN_ID


def state_of(fields: ThreadFields) -> State:
    """Returns the part of a thread's state that its fields have."""
    extra: dict[str, Any] = json.loads(fields.more) if fields.more else {}
    return State(
        fields.topic,
        fields.title,
        fields.status,
        fields.ball,
        fields.since,
        fields.entry_count,
        fields.last_id,
        updated_at=fields.updated_at,
        updated_by=fields.updated_by,
        branch=fields.branch,
        names=tuple(extra.get("names", ())),
        tags=tuple(extra.get("tags", ())),
        links=tuple(Link(*item) for item in extra.get("links", ())),
        questions=tuple(OpenQuestion(*item) for item in extra.get("questions", ())),
        items=tuple(Item(*item) for item in extra.get("items", ())),
        gates=tuple(Gate(*item) for item in extra.get("gates", ())),
        review=Review(*extra["review"]) if "review" in extra else NO_REVIEW,
        landing=Landing(*extra["landing"]) if "landing" in extra else NO_LANDING,
    )


def _more(snapshot: Snapshot) -> dict[str, Any]:
    """The content of ``more``."""
    state = snapshot.state
    fields = {
        "forked": state.forked,
        "damaged": any(damage.lost for damage in snapshot.damage),
        "names": state.names,
        "tags": snapshot.tags,
        "links": state.links,
        "questions": state.questions,
        "items": state.items,
        "gates": state.gates,
        "review": state.review if state.review != NO_REVIEW else (),
        "landing": state.landing if state.landing != NO_LANDING else (),
    }
    return {name: value for name, value in fields.items() if value}


def new_counts(column: str) -> dict[str, int]:
    """Returns, from ``new``, the number of entries that are new for each name."""
    parts = (part.partition(_COUNT_END) for part in column.split(_BETWEEN))
    return {name: int(number) for number, _, name in parts if number}


def can_have(snapshot: Snapshot) -> bool:
    """Returns whether the fields can contain everything about a thread."""
    participants = snapshot.state.participants
    return not any(_BETWEEN in item.name for item in participants)

"""The columns of `cache` with what lists show of a thread."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.landings import NO_LANDING
from wc_core.ledger.threads.model import NO_REVIEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from wc_core.ledger.threads.snapshot import Snapshot

_COUNT_END = ":"
_BETWEEN = "\x1f"


class ThreadFields(NamedTuple):
    """What lists show of a thread.

    ``ball`` is None where it is free. ``new`` has the participants, each after the
    number of entries that are new for them. ``more`` is a JSON object with the fields
    that only few threads have; empty for most. ``planned`` says whether it has links to
    other threads or gates, ``asked`` whether it has questions without an answer.
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


COLUMNS = ", ".join(ThreadFields._fields)


def fields_of(snapshot: Snapshot) -> ThreadFields:
    """Returns the fields of a thread."""
    state = snapshot.state
    new = _BETWEEN.join(
        f"{item.new}{_COUNT_END}{item.name}" for item in state.participants
    )
    more = _more(snapshot)
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
        dumps(more) if more else "",
        bool(state.links or state.gates),
        bool(state.questions),
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


def least_new(column: str, is_me: Callable[[str], bool]) -> int | None:
    """Returns, from ``new``, the least number of entries that are new for a name that
    ``is_me``; ``None`` if there is none."""
    parts = (part.partition(_COUNT_END) for part in column.split(_BETWEEN))
    counts = (int(number) for number, _, name in parts if number and is_me(name))
    return min(counts, default=None)


def can_have(snapshot: Snapshot) -> bool:
    """Returns whether the fields can contain everything about a thread."""
    participants = snapshot.state.participants
    return not any(_BETWEEN in item.name for item in participants)

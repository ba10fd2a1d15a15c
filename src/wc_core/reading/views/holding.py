"""Since when a thread's holder has had its ball, from the thread's state alone."""

from __future__ import annotations

from wc_core.base import times, ulid
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.model import State

STALE_MS = 2 * 24 * 3600 * 1000


def since_ms(state: State, now_ms: int) -> int | None:
    """Returns since when the holder has the ball, in milliseconds since 1970.

    If no entry passed it (an older tool's thread), since the last entry at the latest.
    If a wrong clock says that it was passed before the thread began, since then.
    ``None`` if unknown.
    """
    moment = moment_of(state.since or state.last_id, state.updated_at)
    begun = moment_of(state.first_id, state.created_at)
    if moment is None or begun is None or times.is_ahead(begun, now_ms):
        return moment
    return begun if times.is_ahead(begun, moment) else moment


def is_stale(state: State, now_ms: int, longer_ms: int = STALE_MS) -> bool:
    """Returns whether the ball of an open thread has been held for more than
    ``longer_ms``."""
    if state.status == CLOSED or state.ball is None:
        return False
    since = since_ms(state, now_ms)
    return since is not None and now_ms - since > longer_ms


def moment_of(entry_id: str, at: str) -> int | None:
    """Returns when an entry was written, in milliseconds since 1970: from its id,
    otherwise from its timestamp; ``None`` if neither has a time."""
    own = ulid.prefix(entry_id)
    return ulid.timestamp_ms(own) if own else times.milliseconds(at)

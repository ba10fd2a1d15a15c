"""Records of a session's turns, written by hooks and used to wake it."""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.attention.wake import records, waiters
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import safe_name
from wc_core.base.lean.contextlib import suppress
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.attention.wake.waiters import Waiter
    from wc_core.base.layout import Layout

# The records show what happened to a ball; `[wake] per_hour` needs the last hour's.
_LASTS_MS = 30 * 24 * 3600_000


def save(layout: Layout, waiter: Waiter) -> None:
    """Save a session that can be woken. Raises StorageError."""
    private = private_layout(layout)
    durable.make_in_private_folder(private.waiters, private.root)
    path = waiters.path_of(layout, waiter.name)
    durable.replace(path, waiter.to_bytes(), private.root)


def remove(layout: Layout, name: str) -> None:
    """Remove a session by the name of its file. Raises StorageError."""
    path = waiters.path_of(layout, name)
    if os.path.lexists(path):
        durable.remove(path, private_layout(layout).root)


def note_turn(
    layout: Layout, client: str, session: str, now_ms: int
) -> tuple[str, ...]:
    """Record that a session's agent is working: nobody waits for its balls now, and
    whatever it was called for has woken it. Returns the names of those balls. Does
    nothing for a session that cannot be woken."""
    name = safe_name(f"{client}:{session}")
    if not os.path.exists(waiters.path_of(layout, name)):
        return ()
    waiter = waiters.load(layout, name)
    if waiter is None or not (waiter.token or waiter.called):
        return ()
    ball_names = []
    with suppress(WcError, OSError):
        for ball in waiter.called:
            record = records.load(layout, ball)
            # A process killed before its call has woken nobody.
            if record is None or not record.is_called or record.session != session:
                continue
            ball_names.append(ball)
            if not record.turn_ms:
                path = records.path_of(layout, ball)
                data = record._replace(turn_ms=now_ms).to_bytes()
                durable.replace(path, data, private_layout(layout).root)
        save(layout, waiter._replace(token="", called=()))
    return tuple(ball_names)


def sweep(layout: Layout, current: Waiter, now_ms: int) -> None:
    """Remove the files of sessions whose clients have ended, those of earlier sessions
    in the ``current`` session's client, and old records."""
    with suppress(WcError, OSError):
        for waiter in waiters.sessions(layout):
            if not waiter.is_running or waiter.was_left_for(current):
                remove(layout, waiter.name)
                remove(waiters.early(layout.root), waiter.name)
    with suppress(WcError, OSError):
        private = private_layout(layout)
        for name in names_in(private.wakes, private.root):
            record = records.load(layout, name)
            if record is not None and now_ms - record.at_ms > _LASTS_MS:
                durable.remove(records.path_of(layout, name), private.root)

"""Appends to the log of a store, and merges the logs of other clones into it."""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable, locks
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base.errors import InvalidInputError
from wc_core.base.lean import contextlib, json
from wc_core.base.ulid import successor
from wc_core.edits.activitylog import reading, record
from wc_core.edits.activitylog.record import Announcement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.layout import Layout
    from wc_core.people.activity.presence import Note

_SECONDS = 2.0
_CLONE_BYTES, _ULID_BYTES = 8, 10


def announce(layout: Layout, note: Note, now_ms: int) -> Announcement:
    """Append a note to the log, with the name of its worktree. Raises
    LockTimeoutError, StorageError, InvalidInputError for a line that is too long."""
    with _changing(layout):
        data = reading.log_bytes(layout)
        clone = reading.clone_id(layout) or _new_clone(layout)
        previous = max(record.lines(data), default="")
        random = int.from_bytes(os.urandom(_ULID_BYTES))
        announcement = Announcement(successor(previous, now_ms, random), clone, note)
        line = record.encode(announcement)
        if len(line) > record.MAX_LINE_BYTES:
            raise InvalidInputError(
                "Scope, intent and text are too long together.",
                f"Name fewer paths, or a folder; all have {record.MAX_LINE_BYTES} "
                "bytes.",
            )
        if data:
            durable.append(layout.activity_log, line, layout.root, line.rstrip())
        else:
            durable.create(layout.activity_log, line, layout.root)
    return announcement


def take_in(layout: Layout, fetched_log: bytes, now_ms: int) -> bytes:
    """Merge a remote's log into the store's, and record the time of the fetch. Returns
    the log. Raises LockTimeoutError, StorageError."""
    with _changing(layout):
        log = reading.log_bytes(layout)
        merged = record.union((log, fetched_log), now_ms)
        if merged != log:
            durable.create(layout.activity_log, merged, layout.root)
        fetched = f"{json.dumps({'at_ms': now_ms})}\n".encode()
        LocalFiles(layout).write("activity/fetched.json", fetched)
    return merged


@contextlib.contextmanager
def _changing(layout: Layout) -> Iterator[None]:
    """Hold the log's lock during a block."""
    folder = os.path.dirname(layout.activity_log)
    durable.make_folder(folder, layout.root, flush=False)
    with locks.locked(layout.activity_lock, "wc note", _SECONDS, layout.root):
        yield


def _new_clone(layout: Layout) -> str:
    clone = os.urandom(_CLONE_BYTES).hex()
    LocalFiles(layout).write("activity/clone", f"{clone}\n".encode())
    return clone

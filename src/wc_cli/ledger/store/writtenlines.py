"""Records which lines of logs were written here, see `wc_core.ledger.threads.written`.

A record is one append, not flushed: after a power cut, an entry without it counts as
one that came with the branch, which only has to be said again.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import topic_of
from wc_core.base.lean import contextlib
from wc_core.base.times import milliseconds
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.written import PERSON, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import StoreReader

# How long the records of a thread stay after it was closed or landed.
_KEPT_MS = 30 * 24 * 3600 * 1000
_PAUSE_MS = 24 * 3600 * 1000
# The file in their folder whose time is that of the last pruning.
_PRUNED = "=pruned"


def can_cause(entry: Entry) -> bool:
    """Return whether an entry can cause something: it passes a ball, changes the
    status, names the branch or the thread, has an outcome, asks, corrects, or removes
    what the thread waits for."""
    is_move = entry.ball is not None or bool(entry.status)
    names = entry.thread_branch or entry.new_topic
    words = entry.outcome or entry.asks or entry.supersedes
    return is_move or entry.may_release or bool(names or words)


def record(layout: Layout, topic: str, line: bytes, *, by_person: bool) -> bool:
    """Record a line that is about to be written. Returns whether that was possible."""
    private = private_layout(layout)
    word = f" {PERSON}" if by_person else ""
    row = f"{digest_of(line)}{word}\n".encode()
    path = private.written(topic)
    try:
        durable.make_private_folder(private.root)
        durable.make_folder(os.path.dirname(path), private.root, flush=False)
        durable.touch(path, private.root)
    except WcError:
        return False
    return durable.append_unflushed(path, row, private.root)


def prune_if_due(reader: StoreReader, now_ms: int) -> None:
    """Prune the records of a store, at most once a day. A convenience."""
    private = private_layout(reader.layout)
    stamp = f"{os.path.dirname(private.written('any'))}/{_PRUNED}"
    if not os.path.isdir(os.path.dirname(stamp)):
        return
    with contextlib.suppress(WcError, OSError):
        if os.path.lexists(stamp):
            passed_ms = now_ms - os.lstat(stamp).st_mtime * 1000
            # A stamp of the future is from before a clock was set back.
            if 0 <= passed_ms < _PAUSE_MS:
                return
            durable.remove(stamp, private.root)
        durable.touch(stamp, private.root)
        prune(reader, now_ms)


def prune(reader: StoreReader, now_ms: int) -> None:
    """Remove the records of threads that were closed or landed 30 days ago or earlier,
    and of those that are gone."""
    private = private_layout(reader.layout)
    folder = os.path.dirname(private.written("any"))
    for name in names_in(folder, private.root):
        if name == _PRUNED:
            continue
        path, topic = f"{folder}/{name}", topic_of(name)
        with contextlib.suppress(WcError, OSError):
            if os.stat(path).st_mtime * 1000 > now_ms - _KEPT_MS:
                continue
            state = reader.snapshot(topic).state if reader.has(topic) else None
            is_over = state is None or state.status == CLOSED or state.landing.commit
            last_ms = 0 if state is None else milliseconds(state.updated_at) or 0
            if is_over and last_ms <= now_ms - _KEPT_MS:
                durable.remove(path, private.root)

"""Keeps the cache up to date after writes."""

from __future__ import annotations

import time

from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.layout import file_name
from wc_core.base.lean import contextlib
from wc_core.ledger.index import keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from wc_core.base.layout import Layout


def note_settled(layout: Layout, topic: str) -> None:
    """Record that a thread is about to lose its marker, and is not in the cache as it
    is. Raises StorageError."""
    durable.make_folder(layout.traces, layout.root, flush=False)
    durable.touch(f"{layout.traces}/{file_name(topic)}", layout.root)


def update(root: str) -> set[str]:
    """Bring the cache up to date, as far as that is possible now; errors are ignored.
    Returns the threads that it lacked."""
    # A few builds of Python lack SQLite.
    with contextlib.suppress(WcError, OSError, ImportError):
        from wc_cli.ledger.index import cachefile  # 4 ms (SQLite), not for every write

        return cachefile.refresh(root)
    return set()


def update_when_settled(root: str, topics: Collection[str]) -> set[str]:
    """Like `update`, after these threads were written: waits until a later change would
    show in their keys."""
    if not topics:
        return set()
    time.sleep(keys.TICK_SECONDS)
    return update(root)

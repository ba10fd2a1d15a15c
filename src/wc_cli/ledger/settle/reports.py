"""Which process is settling a store, and the report of what failed.

`wc_cli.ledger.store.pending` reads the report.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.store import durable, lockowners, locks
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.ledger.threads.jsontext import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout


def settler_at_work(layout: Layout) -> str:
    """The process that is settling the store, in words; empty if none is."""
    with contextlib.suppress(WcError):
        handle = locks.try_acquire(layout.git_lock, layout.root)
        if handle is None:
            return f"{lockowners.current_holder(layout.git_lock)} is settling it"
        os.close(handle)
    return ""


def write_report(layout: Layout, problems: Mapping[str, str]) -> None:
    """Write the problems by thread, for receipts, doctor and health. Without problems,
    remove the previous report."""
    if not problems:
        with contextlib.suppress(WcError):  # a folder in its place is a problem anyway
            durable.remove(layout.settling, layout.root)
        return
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    problem = next(iter(problems.values()))
    fields = {"at": now, "problem": problem, "threads": problems}
    data = f"{dumps(fields)}\n".encode()
    try:
        durable.replace_if_changed(layout.settling, data, layout.root)
    except WcError:
        # A full disk still has room for an empty file, which `pending.last_trouble`
        # reads as a problem, like anything else in its place.
        with contextlib.suppress(WcError):
            durable.touch(layout.settling, layout.root)

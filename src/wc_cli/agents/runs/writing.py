"""Writes what becomes of runs: their records, and entries in their threads."""

from __future__ import annotations

import os

from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable
from wc_cli.run.entries import receipts
from wc_core.attention.runs import records
from wc_core.attention.runs.records import STOPPED, RunRecord
from wc_core.base import processes
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.store.lockedthread import Receipt
    from wc_cli.run.context import Context
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.proposals import Draft


def save(layout: Layout, record: RunRecord) -> None:
    """Write the record of a thread's latest run. Raises StorageError."""
    root = made_folder(layout).root
    durable.replace(records.path_of(layout, record.topic), record.to_bytes(), root)


def made_folder(layout: Layout, name: str = "") -> Layout:
    """Make the folder of what belongs to runs, or the one of that name in it. Returns
    the private layout. Raises StorageError."""
    private = private_layout(layout)
    durable.make_private_folder(private.root)
    folder = f"{private.runs}/{name}".rstrip("/")
    durable.make_folder(folder, private.root, flush=False)
    return private


def save_stopped(
    layout: Layout, record: RunRecord, earlier: RunRecord | None = None
) -> None:
    """Record that a run did not start; its worktree may have been made. An ``earlier``
    run of its thread is the latest again: it may have a session. Raises
    StorageError."""
    path = record.made_worktree if os.path.isdir(record.made_worktree) else ""
    latest = earlier or record._replace(state=STOPPED, ended_ms=now_ms())
    save(layout, latest._replace(made_worktree=path))


def owned(record: RunRecord) -> RunRecord:
    """Return a record as that of a run that this process watches."""
    pid = os.getpid()
    return record._replace(runner=pid, runner_begin=processes.started(pid) or 0)


def write_entry(at: Context, draft: Draft) -> Receipt:
    """Write an entry. Returns its receipt. Raises what a write raises."""
    receipt = at.writer(renews=False).write(draft, at.source)
    return receipts.settle_after_write(at, receipt)

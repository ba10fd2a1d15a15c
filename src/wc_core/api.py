"""The Python API for reading: the names that docs/api.md promises to keep.

Other modules of the packages may be renamed or split at any time. Programs that use
wc import from here and, to write, from `wc_cli.posting`. No module of the packages
imports this one.
"""

from __future__ import annotations

from wc_core.base.errors import (
    CancelledError,
    ClaimedError,
    ConflictError,
    CorruptError,
    Damage,
    FindingsError,
    InvalidInputError,
    LockTimeoutError,
    NotFoundError,
    NotYetError,
    OfflineError,
    PullError,
    PushError,
    ReadOnlyError,
    StopError,
    StorageError,
    SwitchTaskError,
    WaitTimeoutError,
    WcError,
)
from wc_core.ledger.git.discovery import Place, find
from wc_core.ledger.threads.model import Ball, Entry, State
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.reader import StoreReader, Thread
from wc_core.ledger.threads.snapshot import Snapshot
from wc_core.people.identity.resolve import Asked

__all__ = [
    "Asked",
    "Ball",
    "CancelledError",
    "ClaimedError",
    "ConflictError",
    "CorruptError",
    "Damage",
    "Draft",
    "Entry",
    "FindingsError",
    "InvalidInputError",
    "LockTimeoutError",
    "NotFoundError",
    "NotYetError",
    "OfflineError",
    "Place",
    "PullError",
    "PushError",
    "ReadOnlyError",
    "Snapshot",
    "State",
    "StopError",
    "StorageError",
    "StoreReader",
    "SwitchTaskError",
    "Thread",
    "WaitTimeoutError",
    "WcError",
    "find",
]

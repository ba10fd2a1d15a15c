"""Keeps the index: all of it, or what belongs to a few threads."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from wc_cli.index import overviewfile
from wc_cli.store import locks
from wc_core.errors import LockTimeoutError, WcError
from wc_core.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Iterable

_PATIENCE_SECONDS = 5.0


def rebuild(root: str) -> None:
    """Makes the index what it has to be, whatever it is. Raises WcError."""
    with _locked(StoreReader(root)):
        rebuild_locked(root)


def rebuild_locked(root: str) -> None:
    """Like `rebuild`, for a caller that has the lock of the index."""
    overviewfile.rebuild(StoreReader(root))


def update(root: str, topics: Iterable[str]) -> None:
    """Brings what the index has of these threads up to date, as far as that can be
    done now; errors are ignored."""
    reader = StoreReader(root)
    with contextlib.suppress(WcError), _locked(reader):
        overviewfile.update(reader, topics)


def _locked(reader: StoreReader) -> contextlib.AbstractContextManager[None]:
    layout = reader.layout
    return locks.locked(
        layout.index_lock, "indexing", _PATIENCE_SECONDS, layout.root
    )
